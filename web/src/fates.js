// The verdicts of pods: their names, how many pods have each, and where these pods are. Knows no elements.

/** In the order of the answer. */
export const FATES = ['delete', 'contested', 'blocked', 'later', 'keep'];
/** As in the first column of the command line's table. */
export const GOES = { delete: 'deleted', contested: 'possible', blocked: 'waiting', later: 'waiting', keep: 'kept' };
/** Of one pod. */
export const FATE_WORDS = { delete: 'deleted', contested: 'possible', blocked: 'waiting', later: 'waiting for new pods', keep: 'kept' };

/** How many pods have each fate. */
export function tally(pods) {
    const numbers = { delete: 0, contested: 0, blocked: 0, later: 0, keep: 0 };
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
        ['delete', numbers.delete, `${numbers.delete} deleted${certain}`],
        ['contested', numbers.contested, byChance(deletions, numbers.delete, numbers.contested)],
        ['blocked', numbers.blocked, `${numbers.blocked} waiting`],
        ['later', numbers.later, `${numbers.later} waiting for new pods`],
        ['keep', numbers.keep, `${numbers.keep} kept`],
    ].filter(([, number]) => number > 0).map(([fate, , text]) => [fate, text]);
}

/** How many possible pods are deleted, as the command line says it. */
function byChance({ min, max }, certain, contested) {
    const [least, most] = [min - certain, max - certain];
    if (least === 0 && most === contested) return `up to ${most}${certain > 0 ? ' more' : ''}`;
    return `${least === most ? most : least === 0 ? `up to ${most}` : `${least} to ${most}`} of ${contested} by chance`;
}

/** How many pods of a node or zone are deleted: `4 of 4 deleted`. */
export function share(pods) {
    const { delete: go, contested } = tally(pods);
    if (go === 0 && contested > 0) return `${contested} of ${pods.length} possible`;
    return `${go} of ${pods.length} deleted${contested > 0 ? `, ${contested} possible` : ''}`;
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
