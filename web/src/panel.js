// Beside the map: why a pod goes or stays, or what it takes that others go.
import { code, count, el, short } from './dom.js';
import { RULES } from './rules.js';
import { capital } from './words.js';

/** What happens to a pod, and with which probability, if that is known. */
const fate = (verdict, probability) => el('span', { class: 'fate', 'data-fate': verdict }, verdict, probability ? `: ${probability}` : null);

/** The pod's name in a sentence, as far as it tells it from the others. */
const brief = (sentence, names) => names.reduce((text, name) => text.replaceAll(name, short(name)), sentence);

/** One pod beside the pod that its reason compares it with. `probability` is that of its deletion. */
export function explanation({ pod, other, isDirect }, probability) {
    const table = isDirect ? null : comparison(pod, other);
    return [
        el('p', { class: 'who' }, fate(pod.verdict, probability), el('span', { class: 'name' }, pod.name)),
        el('p', { class: 'because' }, `${capital(brief(pod.reason.text, other ? [other.name] : []), [pod.name, other?.name])}.`),
        table,
    ].filter(Boolean);
}

function comparison(pod, other) {
    const decider = RULES.findIndex(({ rule }) => rule === pod.reason.rule);
    const rows = RULES.map(({ label, value }, index) => {
        const decides = index === decider;
        return el('tr', { class: decides ? 'decides' : decider >= 0 && index > decider ? 'later' : null },
            el('th', { scope: 'row' }, label, decides ? el('span', { class: 'visually-hidden' }, ' (decides)') : null),
            el('td', {}, `${value(pod)}`),
            other ? el('td', {}, `${value(other)}`) : null);
    });
    const both = other ? ` between ${short(pod.name)} and ${short(other.name)}` : '';
    return el('table', { class: 'rules' },
        el('caption', {}, 'The rules from first to last.', decider >= 0 ? ` The marked one decides${both}.` : null),
        el('thead', {}, el('tr', {}, el('td'), el('th', { scope: 'col' }, short(pod.name)),
            other ? el('th', { scope: 'col' }, short(other.name)) : null)),
        el('tbody', {}, rows));
}

/** `most` is how many go at the count, or `null` if the count follows what is chosen. */
export const nothingWanted = (most) => [el('p', {}, most === null
    ? 'Click the pods to delete. The replica count follows your selection.'
    : `Click the pods to delete, up to ${most} at this replica count. Kubernetes chooses the rest.`)];

/** Why there is no plan: what happened, and why. The remedies are those of the command line. */
export const noPlan = ({ message, what = message, why = [] }, alone) => [el('p', { class: 'blocked', role: 'alert' }, [`${what}.`, ...why].join(' ')), alone];

/** The plan of a scale-down for the pods that were chosen. `alone` is what lets only these go, if more do. */
export function plan(plan, chosen, alone) {
    const costs = ({ newCost, costOwner, deletionCost }) =>
        (newCost === null ? '–' : [`${costOwner === null ? 'none' : deletionCost} → `, el('strong', {}, `${newCost}`)]);
    const rows = plan.pods.map((pod) =>
        el('tr', {}, el('th', { scope: 'row' }, short(pod.name)), el('td', {}, pod.default),
            el('td', {}, pod.selected ? 'deleted' : 'kept'), el('td', { class: 'number' }, costs(pod))));
    const heads = ['Pod', 'Default', 'Plan', 'Cost'].map((head) => el('th', { scope: 'col' }, head));
    const others = plan.deletions - chosen;
    return [
        el('p', { class: 'big' }, plan.newCosts === 0 ? 'No deletion cost to write' : `${count(plan.newCosts, 'deletion cost')} to write`),
        plan.newCosts === 0 ? el('p', { class: 'soft' }, 'Kubernetes deletes these pods without a plan.') : null,
        others > 0 ? el('p', { class: 'soft' }, `${plan.deletions} pods are deleted at this replica count: ${chosen === 1 ? 'the one' : `the ${chosen}`} that you selected and ${others} more. `
            + 'With the costs, exactly these are deleted.') : null,
        others > 0 ? alone : null,
        ...plan.notes.filter(({ text }) => !plan.answer.notes.some((note) => note.text === text)).map((note) => el('p', { class: 'soft' }, note.text)),
        el('p', { class: 'soft' }, 'One command writes the costs, waits until Kubernetes has seen them, scales, and compares which pods were deleted:'),
        code(plan.scale),
        el('details', {}, el('summary', {}, 'The pods and their costs'),
            el('table', { class: 'plan' }, el('thead', {}, el('tr', {}, heads)), el('tbody', {}, rows))),
        plan.newCosts === 0 ? null : byHand(plan),
    ].filter(Boolean);
}

/** The race that the one command ends, for those who have only kubectl. */
const byHand = ({ costs, count: scale, newCosts }) => el('details', {}, el('summary', {}, 'With kubectl alone'),
    el('p', { class: 'soft' }, `First ${newCosts === 1 ? 'the cost' : 'the costs'}:`),
    code(costs.join('\n')),
    el('p', { class: 'soft' }, 'Then, as a separate command, the replica count:'),
    code(scale),
    el('p', { class: 'soft' }, `kubectl cannot tell whether the controller has seen the ${newCosts === 1 ? 'cost' : 'costs'}. If the replica count reaches it first, it deletes other pods, and `
        + 'nothing restores them. The command above waits for that.'));
