// Says why: one pod beside the pod that it is compared with, or three pods in a circle. And what steering takes.
import { FATE_WORDS } from './map.js';
import { code, count, el, short, svg } from './dom.js';

const age = (time, age) => (age === null ? 'unset' : age);
const yes = (is) => (is ? 'yes' : 'no');

/** What the rules compare, in their order. */
const RULES = [
    ['unassigned', 'On a node', (pod) => pod.node ?? 'no', 'not on a node'],
    ['phase', 'Phase', (pod) => pod.phase, 'earlier phase'],
    ['not-ready', 'Ready', (pod) => yes(pod.ready), 'not ready'],
    ['deletion-cost', 'Deletion cost', (pod) => pod.deletionCost, 'lower deletion cost'],
    ['rank', 'Related pods on its node', (pod) => pod.rank, 'more pods on its node'],
    ['ready-time', 'Ready for', (pod) => age(pod.readyTime, pod.readyAge), 'ready for less time'],
    ['restarts', 'Restarts', (pod) => pod.restarts, 'more restarts'],
    ['sidecar-restarts', 'Sidecar restarts', (pod) => pod.sidecarRestarts, 'more sidecar restarts'],
    ['creation-time', 'Age', (pod) => age(pod.creationTime, pod.age), 'younger'],
    ['uid', 'UID', (pod) => `${pod.uid.slice(0, 8)}…`, 'smaller UID'],
];
const ruleName = (rule) => RULES.find(([name]) => name === rule)?.[3] ?? rule;

export function fate(verdict) {
    return el('span', { class: 'fate', 'data-fate': verdict }, FATE_WORDS[verdict]);
}

export function explanation({ pod, other, circle }, pick) {
    return [
        el('p', { class: 'who' }, fate(pod.verdict), el('strong', {}, pod.name)),
        el('p', {}, pod.why[0].toUpperCase() + pod.why.slice(1) + '.'),
        circle ? theCircle(circle, pick) : comparison(pod, other),
    ];
}

function comparison(pod, other) {
    const decider = RULES.findIndex(([rule]) => rule === pod.rule);
    const rows = RULES.map(([rule, label, value], index) =>
        el('tr', { class: index === decider ? 'decides' : other && decider >= 0 && index > decider ? 'later' : null },
            el('th', { scope: 'row' }, label, index === decider ? el('span', { class: 'visually-hidden' }, ' (decides)') : null),
            el('td', {}, `${value(pod)}`),
            other ? el('td', {}, `${value(other)}`) : null));
    return el('table', { class: 'rules' },
        el('caption', {}, other ? 'Kubernetes compares these from top to bottom. The marked row decides.'
            : 'What Kubernetes would compare, from top to bottom.'),
        el('thead', {}, el('tr', {}, el('td'), el('th', { scope: 'col' }, short(pod.name)),
            other ? el('th', { scope: 'col' }, short(other.name)) : null)),
        el('tbody', {}, rows));
}

/** Three pods, and an arrow from each to the one that it goes before. */
function theCircle(circle, pick) {
    const [centre, radius, size] = [[180, 158], 104, 36];
    const points = circle.map((_, index) => {
        const angle = -Math.PI / 2 + (index * 2 * Math.PI) / 3;
        return [centre[0] + radius * Math.cos(angle), centre[1] + radius * Math.sin(angle)];
    });
    const arcs = circle.map((arrow, index) => {
        // Along the circle, from the rim of one pod to that of the next.
        const gap = (size + 9) / radius;
        const start = -Math.PI / 2 + (index * 2 * Math.PI) / 3;
        const at = (angle) => `${centre[0] + radius * Math.cos(angle)} ${centre[1] + radius * Math.sin(angle)}`;
        const middle = start + Math.PI / 3;
        const label = [centre[0] + (radius + 16) * Math.cos(middle), centre[1] + (radius + 16) * Math.sin(middle)];
        const anchor = index === 0 ? 'start' : index === 2 ? 'end' : 'middle';
        return [
            svg('path', {
                d: `M ${at(start + gap)} A ${radius} ${radius} 0 0 1 ${at(start + (2 * Math.PI) / 3 - gap)}`,
                class: 'arrow', 'marker-end': 'url(#arrowhead)',
            }),
            svg('text', { x: label[0], y: label[1] + (index === 1 ? 8 : -12), 'text-anchor': anchor, class: 'reason' },
                ...lines(ruleName(arrow.rule)).map((line, number) =>
                    svg('tspan', { x: label[0], dy: number === 0 ? 0 : 15 }, line))),
        ];
    });
    const pods = circle.map(({ name, uid }, index) =>
        svg('g', { class: 'in-circle', onclick: () => pick(uid) },
            svg('circle', { cx: points[index][0], cy: points[index][1], r: size }),
            svg('text', { x: points[index][0], y: points[index][1] + 5, 'text-anchor': 'middle' }, short(name))));
    const told = circle.map(({ name, why }, index) =>
        el('li', {}, el('strong', {}, short(name)), ' goes before ', el('strong', {}, short(circle[(index + 1) % 3].name)),
            el('br'), el('span', { class: 'soft' }, why)));
    const marker = svg('marker', { id: 'arrowhead', viewBox: '0 0 10 10', refX: 7, refY: 5, markerWidth: 7, markerHeight: 7, orient: 'auto-start-reverse' },
        svg('path', { d: 'M 0 0 L 10 5 L 0 10 z', class: 'head' }));
    return el('figure', { class: 'circle' },
        svg('svg', { viewBox: '0 0 360 306', role: 'img', 'aria-label': 'Three pods in a circle. Each goes before the next, as the list below says.' },
            svg('defs', {}, marker), arcs.flat(), pods),
        el('figcaption', {},
            el('p', {}, el('strong', {}, 'Each goes before the next, so none is first.'),
                ' Kubernetes sorts these pods all the same. Which of them go depends on the order in which it happens to list them.'),
            el('ol', {}, told)));
}

function lines(text) {
    const words = text.split(' ');
    const middle = Math.ceil(words.length / 2);
    return words.length < 2 ? [text] : [words.slice(0, middle).join(' '), words.slice(middle).join(' ')];
}

/** A plan of a scale-down. */
export function plan(plan) {
    const write = (pod) => (pod.write === null ? null : [pod.deletionCost === 0 && pod.costOwner === null ? '–' : `${pod.deletionCost}`, ' → ', el('strong', {}, `${pod.write}`)]);
    const rows = plan.pods.filter((pod) => pod.wanted || pod.write !== null).map((pod) =>
        el('tr', {}, el('th', { scope: 'row' }, short(pod.name)), el('td', {}, fate(pod.byItself)),
            el('td', {}, fate(pod.wanted ? 'delete' : 'keep')), el('td', { class: 'number' }, write(pod) ?? '–')));
    return [
        el('p', { class: 'big' }, `${count(plan.writes, 'deletion cost')} to write`),
        el('p', { class: 'soft' }, plan.writes === 0 ? 'Kubernetes takes exactly these pods by itself.'
            : 'No smaller number of writes makes Kubernetes take exactly these pods.'),
        el('table', { class: 'plan' },
            el('thead', {}, el('tr', {}, ['Pod', 'By itself', 'Steered', 'Cost'].map((head) => el('th', { scope: 'col' }, head)))),
            el('tbody', {}, rows)),
        plan.blocked.map((ahead) => el('p', { class: 'blocked' }, `${ahead.name} goes before ${ahead.before}: ${ahead.why}`)),
        el('h3', {}, 'Do it, and check it'),
        el('p', { class: 'soft' }, 'One command writes the costs, waits until Kubernetes has seen them, scales, and compares what went.'),
        code(plan.drop),
        el('details', {}, el('summary', {}, 'With kubectl alone'),
            el('p', { class: 'soft' }, 'Wait a moment between the costs and the count: Kubernetes learns of them by different ways.'),
            code(plan.commands.join('\n'))),
    ];
}
