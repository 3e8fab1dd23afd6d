// Asks the worker of one dump. Each question is a promise. A dump that is left ends with its worker, whatever it was doing.
import { $ } from './dom.js';

const source = URL.createObjectURL(new Blob([$('worker').textContent], { type: 'text/javascript' }));
const packed = new Blob([Uint8Array.from(atob($('module').textContent), (byte) => byte.charCodeAt(0))]);
/** Compiled once, for all workers. */
const module = new Response(packed.stream().pipeThrough(new DecompressionStream('gzip'))).arrayBuffer().then(WebAssembly.compile);

export class Engine {
    #asked = new Map();
    #next = 0;
    #isEnded = false;

    /** Calls `onread` with the share of a file that was read. */
    constructor(onread = () => {}) {
        this.worker = new Worker(source);
        this.worker.onmessage = ({ data: { id, share, answer, error } }) => {
            if (share !== undefined) return onread(share);
            const asked = this.#asked.get(id);
            this.#asked.delete(id);
            return error ? asked?.reject(Object.assign(new Error(error.message), error)) : asked?.resolve(answer);
        };
        this.started = module.then((module) => this.#post('start', module));
    }

    async ask(call, ...given) {
        await this.started;
        return this.#post(call, ...given);
    }

    /** Answers earlier and later questions with `undefined`. Otherwise, a caller would never get an answer. */
    end() {
        this.worker.terminate();
        this.#isEnded = true;
        for (const { resolve } of this.#asked.values()) resolve(undefined);
        this.#asked.clear();
    }

    #post(call, ...given) {
        if (this.#isEnded) return undefined;
        return new Promise((resolve, reject) => {
            const id = this.#next++;
            this.#asked.set(id, { resolve, reject });
            this.worker.postMessage({ id, call, given });
        });
    }
}

/** Runs one call at a time. Of calls that come during another, only the last one counts. */
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

/** Runs a call once nothing has asked for it for a while. */
export function rested(call, wait = 150) {
    let resting;
    return () => {
        clearTimeout(resting);
        resting = setTimeout(call, wait);
    };
}
