// Beside the map: why a pod goes or stays, or what it takes that others go.
import { circleFigure } from './circle.js';
import { code, count, el, short } from './dom.js';
import { FATE_WORDS } from './fates.js';
import { RULES } from './rules.js';

/** What happens to a pod, and how likely, if that is contested and known. */
const fate = (verdict, odds) => el('span', { class: 'fate', 'data-fate': verdict }, FATE_WORDS[verdict], odds ? `: ${odds}` : null);

/** The pod's name in a sentence, as far as it tells it from the others. */
const brief = (sentence, names) => names.reduce((text, name) => text.replaceAll(name, short(name)), sentence);

const capital = (text) => text[0].toUpperCase() + text.slice(1);

/** One pod beside the pod that it is compared with, or among three that contradict each other. `odds` is how likely it goes. */
export function explanation({ pod, other, circle, isDirect }, odds) {
    const table = circle ? circleFigure(circle) : isDirect ? null : comparison(pod, other);
    return [
        el('p', { class: 'who' }, fate(pod.verdict, odds), el('span', { class: 'name' }, pod.name)),
        el('p', { class: 'because' }, `${capital(brief(pod.why, other ? [other.name] : []))}.`),
        table,
    ].filter(Boolean);
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

export const nothingWanted = (most) =>
    [el('p', {}, `Click the pods that should go: up to ${most} at this count. Kubernetes chooses the others.`)];

/** The plan of a scale-down. */
export function plan(plan) {
    const costs = ({ write, costOwner, deletionCost }) =>
        (write === null ? '–' : [`${costOwner === null ? 'none' : deletionCost} → `, el('strong', {}, `${write}`)]);
    const rows = plan.pods.map((pod) =>
        el('tr', {}, el('th', { scope: 'row' }, short(pod.name)), el('td', {}, FATE_WORDS[pod.byItself]),
            el('td', {}, FATE_WORDS[pod.wanted ? 'delete' : 'keep']), el('td', { class: 'number' }, costs(pod))));
    const heads = ['Pod', 'By itself', 'Now', 'Cost'].map((head) => el('th', { scope: 'col' }, head));
    return [
        el('p', { class: 'big' }, plan.writes === 0 ? 'No deletion cost to write' : `${count(plan.writes, 'deletion cost')} to write`),
        plan.writes === 0 ? el('p', { class: 'soft' }, 'Kubernetes takes these pods by itself.') : null,
        ...plan.notes.map((note) => el('p', { class: 'soft' }, note.text)),
        el('p', { class: 'soft' }, 'One command writes the costs, waits until Kubernetes has seen them, scales, and compares what went:'),
        code(plan.scale),
        el('details', {}, el('summary', {}, 'The pods and their costs'),
            el('table', { class: 'plan' }, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows))),
        el('details', {}, el('summary', {}, 'With kubectl alone'),
            el('p', { class: 'soft' }, 'Wait a moment between the costs and the count: Kubernetes learns of them in different ways.'),
            code(plan.commands.join('\n'))),
    ].filter(Boolean);
}
