// Holds one dump and decides about it, so that the page itself never waits. Knows WebAssembly, and nothing of the page.
import { Dump, initSync } from 'podrank_web';

/** How many bytes of a file are read at a time. */
const CHUNK = 4 << 20;

let dump;

/** A file, piece by piece, as the module reads it. Says how much it has read. */
class Chunks {
    constructor(file) {
        [this.file, this.at] = [file, 0];
    }

    next() {
        if (this.at >= this.file.size) return undefined;
        const part = this.file.slice(this.at, this.at + CHUNK);
        this.at += CHUNK;
        postMessage({ share: Math.min(this.at / this.file.size, 1) });
        return new Uint8Array(new FileReaderSync().readAsArrayBuffer(part));
    }
}

const calls = {
    start: (module) => void initSync({ module }),
    read(file) {
        dump = new Dump(new Chunks(file));
        return { workloads: JSON.parse(dump.workloads()), zones: JSON.parse(dump.zones()) };
    },
    overview: (options) => JSON.parse(dump.overview(options)),
    scene: (options) => JSON.parse(dump.scene(options)),
    decide: (options) => JSON.parse(dump.decide(options)),
    explain: (options, pod) => JSON.parse(dump.explain(options, pod)),
    rows: (options, places, wanted) => JSON.parse(dump.rows(options, places, wanted)),
    possible: (all) => all.map((options) => dump.possible(options)),
    steer: (options, names) => JSON.parse(dump.steer(options, names)),
    // As texts, which others read.
    preview: (options) => dump.preview(options),
    markdown: (options, wanted) => dump.markdown(options, wanted),
};

onmessage = ({ data: { id, call, given } }) => {
    try {
        postMessage({ id, answer: calls[call](...given) });
    } catch (error) {
        // The module's own errors are texts. Any other one is a defect of it.
        postMessage({ id, error: typeof error === 'string' ? JSON.parse(error) : { message: String(error) } });
    }
};
