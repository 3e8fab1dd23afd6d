// The count: what a user types into its box, and what a dump opens at. Knows no elements.

/** The greatest count that Kubernetes takes. */
export const MOST = 2 ** 31 - 1;

/** Reads what is typed: `{ count }`, or what is wrong as `{ error }`. */
export function readCount(text) {
    if (text === '') return { error: 'The count is empty: type a whole number, 0 or more' };
    const count = Number(text);
    if (/^\d+$/.test(text) && count <= MOST) return { count };
    return { error: `The count cannot be “${text}”: type a whole number from 0 to ${MOST}` };
}

/** The pods that a count can fall from. A workload may have more pods than its count for a while, or fewer. */
export const present = ({ active, count }) => Math.min(count ?? active, active);

/** What a dump opens at: the count that its autoscaler wants if that is lower than the present one, and otherwise one less. */
export function opening(scene) {
    const from = present(scene);
    return scene.desired !== null && scene.desired < from ? scene.desired : Math.max(from - 1, 0);
}
