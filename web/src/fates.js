// The verdicts of pods: their names, how many pods have each, and where these pods are. Knows no elements.

/** In the order in which they are told. */
export const FATES = ['delete', 'contested', 'blocked', 'later', 'keep'];
/** As in the first column of the command line's table. */
export const GOES = { delete: 'yes', contested: 'maybe', blocked: 'waits', later: 'later', keep: 'no' };
/** Of one pod. */
export const FATE_WORDS = { delete: 'goes', contested: 'may go', blocked: 'waits', later: 'goes when the rollout goes on', keep: 'stays' };

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
    const certain = order === 'total' ? (numbers.delete === 1 ? 'goes' : 'go') : 'certainly';
    return [
        ['delete', numbers.delete, `${numbers.delete} ${certain}`],
        ['contested', numbers.contested, byChance(deletions, numbers.delete, numbers.contested)],
        ['blocked', numbers.blocked, `${numbers.blocked} ${numbers.blocked === 1 ? 'waits' : 'wait'}`],
        ['later', numbers.later, `${numbers.later} when the rollout goes on`],
        ['keep', numbers.keep, numbers.keep === pods.length ? (pods.length === 1 ? 'it stays' : `all ${numbers.keep} stay`) : `the other ${numbers.keep} ${numbers.keep === 1 ? 'stays' : 'stay'}`],
    ].filter(([, number]) => number > 0).map(([fate, , text]) => [fate, text]);
}

/** How many contested pods go, as the command line says it. */
function byChance({ min, max }, certain, contested) {
    const [least, most] = [min - certain, max - certain];
    if (least === 0 && most === contested) return `${most} ${certain > 0 ? 'more ' : ''}may go`;
    return `${least === most ? most : least === 0 ? `up to ${most}` : `${least} to ${most}`} of ${contested} by chance`;
}

/** How many pods of a node or zone go: `4 of 4 go`. */
export function share(pods) {
    const { delete: go, contested } = tally(pods);
    if (go === 0 && contested > 0) return `${contested} of ${pods.length} may go`;
    return `${go} of ${pods.length} ${go === 1 ? 'goes' : 'go'}${contested > 0 ? `, ${contested} may` : ''}`;
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
