// What the rules compare, in their order, and how the page calls it.

const age = (time, age) => (time === null ? 'unset' : age);
const yes = (is) => (is ? 'yes' : 'no');

/** Of each rule: its name, its label, the value of a pod, what makes a pod go first, and what pods go by. */
export const RULES = [
    { rule: 'unassigned', label: 'On a node', value: (pod) => pod.node ?? 'no', is: 'not on a node' },
    { rule: 'phase', label: 'Phase', value: (pod) => pod.phase, is: 'earlier phase' },
    { rule: 'not-ready', label: 'Ready', value: (pod) => yes(pod.ready), is: 'not ready' },
    { rule: 'deletion-cost', label: 'Deletion cost', value: (pod) => pod.deletionCost, is: 'lower deletion cost' },
    { rule: 'rank', label: 'Related pods on its node', value: (pod) => pod.rank, is: 'more pods on its node' },
    { rule: 'ready-time', label: 'Ready for', value: (pod) => age(pod.readyTime, pod.readyAge), is: 'ready for less time' },
    { rule: 'restarts', label: 'Restarts', value: (pod) => pod.restarts, is: 'more restarts', by: 'restarts' },
    { rule: 'sidecar-restarts', label: 'Sidecar restarts', value: (pod) => pod.sidecarRestarts, is: 'more sidecar restarts', by: 'restarts of sidecars' },
    { rule: 'creation-time', label: 'Age', value: (pod) => age(pod.creationTime, pod.age), is: 'younger', by: 'age' },
    { rule: 'uid', label: 'UID', value: (pod) => `${pod.uid.slice(0, 8)}…`, is: 'smaller UID', by: 'UID' },
];
const named = (rule) => RULES.find((known) => known.rule === rule);
export const is = (rule) => named(rule)?.is ?? rule;
export const goesBy = (rule) => named(rule)?.by ?? rule;
