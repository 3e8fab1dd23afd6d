// Beside the map: why a pod goes or stays, or what steering takes.
import { circleFigure } from './circle.js';
import { code, count, el, short } from './dom.js';
import { FATE_WORDS } from './map.js';
import { RULES } from './rules.js';

/** What happens to a pod, and how likely, if that is contested and known. */
export function fate(verdict, odds) {
    return el('span', { class: 'fate', 'data-fate': verdict }, FATE_WORDS[verdict], odds === undefined ? null : `: ${percent(odds)}`);
}

/** As the command line writes it: contested pods never have 0 or 100 %. */
function percent(odds) {
    if (odds < 0.005) return '<1 %';
    return odds < 0.995 ? `${(odds * 100).toFixed(0)} %` : '>99 %';
}

/** One pod beside the pod that it is compared with, or among three that contradict each other. */
export function explanation({ pod, other, circle }) {
    return [
        el('p', { class: 'who' }, fate(pod.verdict, pod.odds), el('strong', {}, pod.name)),
        el('p', {}, `${pod.why[0].toUpperCase()}${pod.why.slice(1)}.`),
        circle ? circleFigure(circle) : comparison(pod, other),
    ];
}

function comparison(pod, other) {
    const decider = RULES.findIndex(({ rule }) => rule === pod.rule);
    const rows = RULES.map(({ label, value }, index) => {
        const decides = index === decider;
        return el('tr', { class: decides ? 'decides' : decider >= 0 && index > decider ? 'later' : null },
            el('th', { scope: 'row' }, label, decides ? el('span', { class: 'visually-hidden' }, ' (decides)') : null),
            el('td', {}, `${value(pod)}`),
            other ? el('td', {}, `${value(other)}`) : null);
    });
    return el('table', { class: 'rules' },
        el('caption', {}, decider >= 0 ? 'The rules from first to last. The marked one decides.' : 'The rules from first to last.'),
        el('thead', {}, el('tr', {}, el('td'), el('th', { scope: 'col' }, short(pod.name)),
            other ? el('th', { scope: 'col' }, short(other.name)) : null)),
        el('tbody', {}, rows));
}

export function nothingWanted() {
    return el('p', { class: 'soft' }, 'Click the pods you want gone. Then this shows deletion costs that make Kubernetes take '
        + 'exactly these pods, the commands to copy, and what is in the way.');
}

/** The plan of a scale-down. */
export function plan(plan) {
    const costs = ({ write, costOwner, deletionCost }) =>
        (write === null ? '–' : [`${costOwner === null ? 'none' : deletionCost} → `, el('strong', {}, `${write}`)]);
    const rows = plan.pods.filter((pod) => pod.wanted || pod.write !== null).map((pod) =>
        el('tr', {}, el('th', { scope: 'row' }, short(pod.name)), el('td', {}, fate(pod.byItself, pod.odds)),
            el('td', {}, fate(pod.wanted ? 'delete' : 'keep')), el('td', { class: 'number' }, costs(pod))));
    const heads = ['Pod', 'By itself', 'Steered', 'Cost'].map((head) => el('th', { scope: 'col' }, head));
    return [
        el('p', { class: 'big' }, `${count(plan.writes, 'deletion cost')} to write`),
        el('p', { class: 'soft' }, plan.writes === 0 ? 'Kubernetes takes exactly these pods by itself.'
            : 'With these writes, each of these pods costs less than all others.'),
        el('table', { class: 'plan' }, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows)),
        ...plan.notes.map((note) => el('p', { class: 'soft' }, `Note: ${note.text}`)),
        el('h3', {}, 'Do it, and check it'),
        el('p', { class: 'soft' }, 'One command writes the costs, waits until Kubernetes has seen them, scales, and compares what went.'),
        code(plan.drop),
        el('details', {}, el('summary', {}, 'With kubectl alone'),
            el('p', { class: 'soft' }, 'Wait a moment between the costs and the count: Kubernetes learns of them in different ways.'),
            code(plan.commands.join('\n'))),
    ];
}
