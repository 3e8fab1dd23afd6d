// Three pods about which the rules contradict each other: a drawing, and the same in words. Each pod goes before the next, and
// the last before the first, which is a circle. Or one of these three pairs ties, although the third pod goes between the two.
import { el, short, svg } from './dom.js';
import { goesBy, is } from './rules.js';

const [WIDTH, HEIGHT] = [360, 300];
const [X, Y] = [WIDTH / 2, 152];
const RADIUS = 104;
const POD = 36;
/** Where the first pod is: at the top. */
const TOP = -Math.PI / 2;
const THIRD = (2 * Math.PI) / 3;

const at = (angle, radius = RADIUS) => [X + radius * Math.cos(angle), Y + radius * Math.sin(angle)];

const ties = ({ rule }) => rule === null;

export function circleFigure(pods) {
    const hasTie = pods.some(ties);
    const told = pods.map((arrow, index) => {
        const next = pods[(index + 1) % 3];
        const why = arrow.why.replaceAll(next.name, short(next.name));
        return el('li', {}, el('strong', {}, short(arrow.name)), ties(arrow) ? ' ties with ' : ' goes before ',
            el('strong', {}, short(next.name)), el('br'), el('span', { class: 'soft' }, `${arrow.equal}: ${why}`));
    });
    const head = hasTie ? 'Two of them tie, yet the third goes between them.' : 'Each goes before the next, so none is first.';
    return el('figure', { class: hasTie ? 'between' : 'circle' }, drawing(pods, hasTie),
        el('figcaption', {},
            el('p', {}, el('strong', {}, head), ` ${hasTie ? causeOfBetween(pods) : cause(pods)}`),
            el('ol', {}, told)));
}

/** An arrow from each pod to the one that it goes before, and a line without a head between two that tie. */
function drawing(circle, hasTie) {
    const head = svg('marker', { id: 'arrowhead', viewBox: '0 0 10 10', refX: 7, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto' },
        svg('path', { d: 'M 0 0 L 10 5 L 0 10 z', class: 'head' }));
    // From the rim of one pod to that of the next.
    const gap = (POD + 9) / RADIUS;
    const arcs = circle.map((pod, index) => {
        const start = TOP + index * THIRD;
        const [from, to] = [at(start + gap), at(start + THIRD - gap)];
        const end = ties(pod) ? { class: 'tie' } : { class: 'arrow', 'marker-end': 'url(#arrowhead)' };
        return svg('path', { d: `M ${from} A ${RADIUS} ${RADIUS} 0 0 1 ${to}`, ...end });
    });
    const pods = circle.map(({ name }, index) => {
        const [x, y] = at(TOP + index * THIRD);
        return svg('g', {}, svg('circle', { cx: x, cy: y, r: POD }), text(x, y, [short(name)]));
    });
    return svg('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': `Three pods${hasTie ? '' : ' in a circle'}, as told below.` },
        svg('defs', {}, head), arcs, circle.map(reason), pods, text(X, Y, hasTie ? ['no line', 'fits'] : ['none is', 'first'], { class: 'centre' }));
}

/** What decides, outside of the middle of an arrow. */
function reason({ rule }, index) {
    const [x, y] = at(TOP + (index + 0.5) * THIRD, RADIUS + 16);
    const [anchor, lift] = [['start', -12], ['middle', 6], ['end', -12]][index];
    const words = (rule === null ? 'tie' : is(rule)).split(' ');
    const lines = words.length === 1 ? words : [words.slice(0, -1).join(' '), words.at(-1)];
    return text(x, y + lift, index === 1 ? [lines.join(' ')] : lines, { class: 'reason', 'text-anchor': anchor });
}

/** Lines of text around a height. */
function text(x, y, lines, attributes = {}) {
    const first = y + 5 - (lines.length - 1) * 8;
    return svg('text', { 'text-anchor': 'middle', ...attributes },
        lines.map((line, index) => svg('tspan', { x, y: first + index * 16 }, line)));
}

/** A circle needs two answers to the same question: without the UID, or with the UID alone, there is none. */
function cause(circle) {
    const { rule } = circle.find((arrow) => arrow.rule !== 'uid');
    return `Pods that became ready at about the same time go by ${goesBy('uid')}, but pods that became ready at exactly the same time go `
        + `by ${goesBy(rule)}. Here, the two contradict each other. Kubernetes sorts the pods anyway, so which of them go depends on the `
        + 'order in which it happens to list them.';
}

/** Without the UID, the third pod would not go between them. */
function causeOfBetween(pods) {
    const tie = pods.findIndex(ties);
    const [a, b, third] = [pods[(tie + 1) % 3], pods[tie], pods[(tie + 2) % 3]].map(({ name }) => short(name));
    return `${a} goes before ${third}, and ${third} before ${b}, by ${goesBy('uid')}, because their times differ but are in one age `
        + `bucket. The times of ${a} and ${b} are equal, so nothing decides between these two. Kubernetes sorts the pods anyway, so which of them `
        + 'go depends on the order in which it happens to list them.';
}
