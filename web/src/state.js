// What is chosen, the options that ask for it, and the link that holds it. Knows no elements.

/** The feature gates that can be changed, and whether Kubernetes has them on. */
export const GATES = { PodDeletionCost: true, LogarithmicScaleDown: true, PreferForScaleDown: false };

export const fresh = () => ({
    workload: null, replicas: null, now: null, nowText: null, dumped: null, order: 'kubernetes', gates: {}, burstReplicas: null, partial: false,
    uid: null, steering: false, wanted: new Set(), ahead: false, step: null,
});

/** The time of the decision, as the command line takes it. It may be exact to the nanosecond. */
export const now = (state) => state.nowText ?? new Date(state.now).toISOString().replace('.000Z', 'Z');

/** When the module is to decide: at the time of the dump, by what is known of it, until the user chooses another one. */
const moment = (state) => {
    const iso = (time) => (time === undefined ? undefined : new Date(time).toISOString());
    return state.dumped ? { modified: iso(state.dumped.modified), clock: iso(state.dumped.clock) } : { now: now(state) };
};

/** The options of a decision, as the module takes them. */
export function options(state, changes = {}) {
    return JSON.stringify({
        namespace: state.workload?.namespace,
        workload: state.workload?.short,
        replicas: state.replicas ?? undefined,
        ...moment(state),
        order: state.order,
        featureGates: state.gates,
        burstReplicas: state.burstReplicas ?? undefined,
        partial: state.partial,
        ...changes,
    });
}

/** The same at a terminal. */
export function command(state) {
    const gates = Object.entries(state.gates).map(([name, value]) => `${name}=${value}`);
    return [
        `kubectl podrank ${state.workload.short} --replicas ${state.replicas}`,
        state.workload.namespace === 'default' ? '' : `--namespace ${state.workload.namespace}`,
        `--now ${now(state)}`,
        state.order === 'total' ? '--order total' : '',
        gates.length > 0 ? `--feature-gates ${gates.join(',')}` : '',
        state.burstReplicas ? `--burst-replicas ${state.burstReplicas}` : '',
        state.partial ? '--partial' : '',
        '-f dump.json',
    ].filter(Boolean).join(' ');
}

/** The state of an example, as the end of a link. */
export function link(name, state) {
    const link = new URLSearchParams({ example: name, replicas: state.replicas, now: now(state) });
    if (state.order !== 'kubernetes') link.set('order', state.order);
    for (const [gate, value] of Object.entries(state.gates)) link.set(gate, value);
    if (state.steering) link.set('steer', [...state.wanted].join(','));
    return `#${link}`;
}

/** Reads a link. What is missing or invalid in it is as the example has it. `null` if it names no example. */
export function fromLink(hash, examples) {
    const link = new URLSearchParams(hash.slice(1));
    const name = link.get('example');
    if (!Object.hasOwn(examples, name)) return null;
    const replicas = Number.parseInt(link.get('replicas'), 10);
    const time = Date.parse(link.get('now'));
    const order = link.get('order') === 'total' ? 'total' : 'kubernetes';
    const gates = {};
    for (const [gate, isOn] of Object.entries(GATES)) {
        if (link.get(gate) === String(!isOn) && (gate !== 'PreferForScaleDown' || order === 'total')) gates[gate] = !isOn;
    }
    return {
        name,
        state: {
            replicas: replicas >= 0 ? replicas : examples[name].replicas,
            now: Number.isNaN(time) ? Date.parse(examples[name].now) : time,
            order, gates, steering: link.has('steer'),
            wanted: new Set((link.get('steer') ?? '').split(',').filter(Boolean)),
        },
    };
}
