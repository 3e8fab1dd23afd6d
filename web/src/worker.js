// Holds the dump and decides, so that the page itself never waits. Knows WebAssembly, and nothing of the page.
import { Dump, initSync } from 'podrank_web';

let dump;
const times = (pod) => [pod.readyTime, pod.creationTime].filter(Boolean).map((time) => Date.parse(time));

const calls = {
    start: (module) => void initSync({ module }),
    /** Reads a dump in place of the one before. If it cannot be read, that one stays. */
    read(bytes) {
        const next = new Dump(bytes);
        dump?.free();
        dump = next;
        return { workloads: JSON.parse(dump.workloads()), zones: JSON.parse(dump.zones()) };
    },
    /** The pods of a workload, the latest time at which anything happened to one, and the time of the decision. */
    pods(options) {
        const rows = JSON.parse(dump.rows(options, 0, 1e9));
        const newest = rows.reduce((newest, pod) => Math.max(newest, ...times(pod)), -Infinity);
        return { pods: JSON.parse(dump.pods(options)), newest: Number.isFinite(newest) ? newest : null, now: dump.moment(options) };
    },
    decide(options) {
        const decision = dump.decide(options);
        const answer = { head: JSON.parse(decision.head), order: decision.order };
        decision.free();
        return answer;
    },
    explain: (options, uid) => JSON.parse(dump.explain(options, uid)),
    rows: (options, from, to) => JSON.parse(dump.rows(options, from, to)),
    preview: (options) => dump.preview(options),
    contested: (all) => all.map((options) => dump.contested(options)),
    steer: (options, names, ahead) => JSON.parse(dump.steer(options, names, ahead)),
};

onmessage = ({ data: { id, call, given } }) => {
    try {
        postMessage({ id, answer: calls[call](...given) });
    } catch (error) {
        // The module's own errors are texts. Any other one is a defect of it.
        postMessage({ id, error: typeof error === 'string' ? JSON.parse(error) : { message: String(error) } });
    }
};
