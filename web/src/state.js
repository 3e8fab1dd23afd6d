// The user's choices, the options that ask for them, and the parameters of a link that hold them. Knows no elements.
import { MOST, readCount } from './count.js';

/** The feature gates that can be changed, and whether Kubernetes has them on. */
export const GATES = { PodDeletionCost: true, LogarithmicScaleDown: true, PreferForScaleDown: false };

/**
 * `file` is the name of the dump's file, if it has one. `isGuess` is whether nobody asked for the count, so that it may follow the pods that the user chooses.
 * `isTimeGiven` is whether a link asks for the time.
 */
export const fresh = () => ({
    workload: null, file: null, replicas: null, isGuess: false, now: null, nowText: null, isTimeGiven: false, dumped: null, order: 'kubernetes', gates: {}, partial: false,
    pod: null, steering: false, wanted: new Set(),
});

/** What the count of a workload is called. A DaemonSet has none: its nodes decide. */
const COUNTS = { DaemonSet: null, Job: 'parallelism' };
export const countOf = (workload) => (workload && Object.hasOwn(COUNTS, workload.kind) ? COUNTS[workload.kind] : 'replicas');

/** Whether deletion costs can steer it. Other kinds have rules of their own. */
export const isSteered = (workload) => ['Deployment', 'ReplicaSet', 'ReplicationController'].includes(workload?.kind);

/** Whether the user chooses the pods. Kubernetes does not follow podrank's order, so there is nothing to choose in it. */
export const isChoosing = (state) => state.steering && state.order !== 'total';

/** What a pod is called where there is little room. All pods of a set begin alike, but what tells those of a StatefulSet apart is one digit. */
export const label = (workload, name) => (isSteered(workload) ? name.slice(name.lastIndexOf('-') + 1) : name);

/** The time of the decision, as the command line takes it. It may be exact to the nanosecond. */
export const now = (state) => state.nowText ?? new Date(state.now).toISOString().replace('.000Z', 'Z');

/** When the module is to decide: at the time of the dump, by what is known of it, until the user chooses another one. */
const moment = (state) => {
    const iso = (time) => (time === undefined ? undefined : new Date(time).toISOString());
    return state.dumped ? { modified: iso(state.dumped.modified), clock: iso(state.dumped.clock) } : { now: now(state) };
};

/** The options of a decision, as the module takes them. */
export function options(state, changes = {}) {
    const count = countOf(state.workload);
    return JSON.stringify({
        namespace: state.workload?.namespace,
        workload: state.workload?.short,
        ...(count && state.replicas !== null ? { [count]: state.replicas } : {}),
        ...moment(state),
        order: state.order,
        featureGates: state.gates,
        partial: state.partial,
        ...changes,
    });
}

/** A word as a shell takes it. */
const quoted = (word) => (/^[\w./:@%+=,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The preview at a terminal. */
export function command(state) {
    const gates = Object.entries(state.gates).map(([name, value]) => `${name}=${value}`);
    const count = countOf(state.workload);
    return [
        `kubectl podrank ${state.workload.short} ${count ? `--${count} ${state.replicas}` : '--rollout'}`,
        state.workload.namespace === 'default' ? '' : `--namespace ${state.workload.namespace}`,
        `--now ${now(state)}`,
        state.order === 'total' ? '--order total' : '',
        gates.length > 0 ? `--feature-gates ${gates.join(',')}` : '',
        state.partial ? '--partial' : '',
        `-f ${quoted(state.file ?? 'dump.json')}`,
    ].filter(Boolean).join(' ');
}

/** The end of a link: the name of an example, and what is chosen. */
export function link(example, state) {
    const chosen = new URLSearchParams(state.replicas === null ? {} : { replicas: state.replicas });
    chosen.set('now', now(state));
    if (state.order !== 'kubernetes') chosen.set('order', state.order);
    for (const [gate, value] of Object.entries(state.gates)) chosen.set(gate, value);
    if (state.steering) chosen.set('steer', [...state.wanted].join(','));
    return `#example=${example}&${chosen}`;
}

/** A time as `now` writes it. */
const isTime = (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(text) && !Number.isNaN(Date.parse(text));

/** What each parameter of a link chooses in a state, or what is wrong with its value. */
const PARAMETERS = {
    // What the link is about.
    example: () => ({}),
    replicas(text) {
        const { count } = readCount(text);
        return count === undefined ? `is not a whole number from 0 to ${MOST}` : { replicas: count };
    },
    now: (text) => (isTime(text) ? { now: Date.parse(text), nowText: text, isTimeGiven: true } : 'is not a time such as 2026-03-10T12:00:00Z'),
    order: (text) => (['total', 'kubernetes'].includes(text) ? { order: text } : 'is neither kubernetes nor total'),
    steer: (text) => ({ steering: true, wanted: new Set(text.split(',').filter(Boolean)) }),
    ...Object.fromEntries(Object.entries(GATES).map(([gate, isOn]) => [gate, (text, { gates: { [gate]: _, ...others } }) => {
        if (!['true', 'false'].includes(text)) return 'is neither true nor false';
        return { gates: text === String(isOn) ? others : { ...others, [gate]: !isOn } };
    }])),
};

export const wrongLink = (what) => new Error(`The link is wrong: ${what}`);

/** Reads the choices in a link. Missing ones are as in `given`. Throws an error that names an invalid one. */
export function fromLink(hash, given) {
    let state = { ...given, gates: { ...given.gates } };
    for (const [name, text] of new URLSearchParams(hash.slice(1))) {
        if (!Object.hasOwn(PARAMETERS, name)) throw wrongLink(`this page does not know “${name}”`);
        const chosen = PARAMETERS[name](text, state);
        if (typeof chosen === 'string') throw wrongLink(`${name}=${text} ${chosen}`);
        state = { ...state, ...chosen };
    }
    if (state.gates.PreferForScaleDown && state.order !== 'total') throw wrongLink('PreferForScaleDown=true needs order=total');
    if (Number.isNaN(state.now)) throw wrongLink('it names no time');
    return state;
}
