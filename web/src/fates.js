// The verdicts of pods: their names, how many pods have each, and where these pods are. Knows no elements.

/** In the order of the answer. */
export const FATES = ['deleted', 'possible', 'waiting', 'kept'];

/** How many pods have each fate. */
export function tally(pods) {
    const numbers = { deleted: 0, possible: 0, waiting: 0, kept: 0 };
    for (const { fate } of pods) numbers[fate]++;
    return numbers;
}

/**
 * What a key says: how many pods have each fate. A fate that no pod has is left out. Kubernetes does not follow podrank's order, so nothing
 * is certain about it.
 */
export function told(pods, { deletions, order }) {
    const numbers = tally(pods);
    const certain = order === 'total' ? '' : ' for certain';
    return [
        ['deleted', numbers.deleted, `${numbers.deleted} deleted${certain}`],
        ['possible', numbers.possible, byChance(deletions, numbers.deleted, numbers.possible)],
        ['waiting', numbers.waiting, `${numbers.waiting} waiting`],
        ['kept', numbers.kept, `${numbers.kept} kept`],
    ].filter(([, number]) => number > 0).map(([fate, , text]) => [fate, text]);
}

/** How many possible pods are deleted, as the command line says it. */
function byChance({ min, max }, certain, possible) {
    const [least, most] = [min - certain, max - certain];
    if (least === 0 && most === possible) return `up to ${most}${certain > 0 ? ' more' : ''}`;
    return `${least === most ? most : least === 0 ? `up to ${most}` : `${least} to ${most}`} of ${possible} by chance`;
}

/** How many pods of a node or zone are deleted: `4 of 4 deleted`. */
export function share(pods) {
    const { deleted, possible } = tally(pods);
    if (deleted === 0 && possible > 0) return `${possible} of ${pods.length} possible`;
    return `${deleted} of ${pods.length} deleted${possible > 0 ? `, ${possible} possible` : ''}`;
}

/** The pods by zone and node: `[{ title, pods, nodes: [{ name, pods }] }]`. */
export function places(pods, zones) {
    const nodes = grouped(pods, (pod) => pod.node ?? '');
    const all = [...nodes].map(([name, pods]) => ({ name, pods, zone: name === '' ? '\uffff' : (zones[name] ?? '') }));
    const byZone = grouped(all.sort((a, b) => (a.name < b.name ? -1 : 1)), (node) => node.zone);
    const title = (zone) => (zone === '\uffff' ? 'Not on a node' : zone || (byZone.size > 1 ? 'Zone unknown' : 'Nodes'));
    return [...byZone].sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([zone, nodes]) => ({ title: title(zone), nodes, pods: nodes.flatMap((node) => node.pods) }));
}

function grouped(all, key) {
    const groups = new Map();
    for (const one of all) {
        const group = groups.get(key(one));
        if (group) group.push(one);
        else groups.set(key(one), [one]);
    }
    return groups;
}
