// Asks the worker. Each question is a promise.

export class Engine {
    #asked = new Map();
    #next = 0;

    constructor(source, module) {
        const url = URL.createObjectURL(new Blob([source], { type: 'text/javascript' }));
        this.worker = new Worker(url);
        this.worker.onmessage = ({ data: { id, answer, error } }) => {
            const { resolve, reject } = this.#asked.get(id);
            this.#asked.delete(id);
            error ? reject(Object.assign(new Error(error.message), { remedy: error.remedy })) : resolve(answer);
        };
        this.ask('start', module);
    }

    ask(call, ...given) {
        return new Promise((resolve, reject) => {
            const id = this.#next++;
            this.#asked.set(id, { resolve, reject });
            this.worker.postMessage({ id, call, given });
        });
    }
}

/** Runs one call at a time. Of those that come meanwhile, only the last one counts. */
export function latest(call) {
    let running = false;
    let waiting = null;
    return async function run(...given) {
        if (running) {
            waiting = given;
            return;
        }
        running = true;
        try {
            await call(...given);
        } finally {
            running = false;
            if (waiting) {
                const next = waiting;
                waiting = null;
                run(...next);
            }
        }
    };
}
