// What is above the map: the sliders, the switches, and how many pods go. Shows the state and changes nothing.
import { $, el } from './dom.js';
import { duration } from './moments.js';
import { GATES, command, now } from './state.js';

/** The letter of a set, which the numbers of its pods end with. */
export const letter = (set) => 'abcdefghijklmnopqrstuvwxyz'[set] ?? '';

/** How many pods certainly go, are contested, go later, and certainly stay, in all sets. */
export const totals = ({ fates }) => fates.reduce((sum, set) => sum.map((number, fate) => number + set[fate]), [0, 0, 0, 0]);

export function showControls(state, { moments, pods }, head) {
    showCount(state, pods.length);
    showMoment(state, moments);
    showTotals(head);
    showSets(state, head);
    for (const radio of document.querySelectorAll('[name=order]')) radio.checked = radio.value === state.order;
    for (const box of document.querySelectorAll('[data-gate]')) {
        box.checked = state.gates[box.dataset.gate] ?? GATES[box.dataset.gate];
        if (box.dataset.gate === 'PreferForScaleDown') box.disabled = state.order !== 'total';
    }
    for (const mode of ['look', 'steer']) $(mode).setAttribute('aria-pressed', (mode === 'steer') === state.steering);
    document.documentElement.classList.toggle('steering', state.steering);
    $('hint').textContent = state.steering
        ? 'Click the pods that should go. Colours show what Kubernetes does by itself.' : 'Click a pod to see why.';
    $('notes').replaceChildren(...head.notes.map((note) => el('li', {}, note.text)));
    $('notes').hidden = head.notes.length === 0;
    $('command').textContent = command(state);
}

function showCount({ replicas, steering }, most) {
    $('replicas').value = replicas;
    $('replicas').style.setProperty('--part', `${(100 * replicas) / Math.max(1, most)}%`);
    // Whoever types has not finished yet.
    if (document.activeElement !== $('replicas-number')) $('replicas-number').value = replicas;
    for (const id of ['replicas', 'replicas-number']) $(id).disabled = steering;
}

function showMoment(state, moments) {
    const age = duration(moments.age(state.now));
    if (document.activeElement !== $('moment')) $('moment').value = moments.toStep(state.now);
    $('moment-age').textContent = age;
    $('moment-text').textContent = `${now(state)}, ${age} after the latest change`;
    $('moment').setAttribute('aria-valuetext', $('moment-text').textContent);
}

function showTotals(head) {
    const [gone, contested, later, kept] = totals(head);
    const tally = (fate, number, text) => el('span', { class: 'tally', 'data-fate': fate }, el('b', {}, `${number}`), ` ${text}`);
    $('summary').replaceChildren(
        tally('delete', gone, gone === 1 ? 'certainly goes' : 'certainly go'),
        tally('contested', contested > 0 ? `${head.quota} of ${contested}` : '0', 'contested'),
        later > 0 ? tally('later', later, later === 1 ? 'goes when the rollout goes on' : 'go when the rollout goes on') : '',
        tally('keep', kept, kept === 1 ? 'certainly stays' : 'certainly stay'));
}

/** After how many of its syncs a Deployment is shown: all, unless the user chooses otherwise. */
export const shownStep = ({ step }, { steps = [] }) => Math.min(step ?? steps.length, steps.length);

/** How many pods of each set have gone by then. */
export const goneBy = (state, { sets = [], steps = [] }) => sets.map(({ replicaSet }) => {
    const own = steps.slice(0, shownStep(state, { steps })).flatMap((step) => step.sets).filter((set) => set.replicaSet === replicaSet);
    return own.reduce((sum, set) => sum + set.delete, 0);
});

/** What a Deployment's syncs do to its sets, and what then follows. Nobody need be told that its only set gets the count. */
function showSets(state, { sets = [], steps = [], rest }) {
    const at = shownStep(state, { steps });
    const sizes = ({ replicaSet, from }) => [from, ...steps.slice(0, at).flatMap((step) => step.sets)
        .filter((set) => set.replicaSet === replicaSet).map((set) => set.to)].join(' → ');
    // Those that a later sync creates, too.
    const created = (rest?.sets ?? []).filter((set) => set.replicaSet === null && !sets.some((other) => other.replicaSet === null));
    const all = [...sets, ...created.map(() => ({ replicaSet: null, from: 0, why: 'a later sync creates it' }))];
    $('sets').hidden = all.length === 0 || (all.length === 1 && steps.length < 2 && sets[0].to === state.replicas);
    $('sets').replaceChildren(...all.map((set, index) => el('li', {},
        el('b', {}, all.length > 1 ? `${letter(index)} ` : ''), `${set.replicaSet ?? 'a new ReplicaSet'}: ${sizes(set)}`,
        el('span', { class: 'soft' }, `, ${set.why}`))));
    $('way').hidden = steps.length < 2;
    [$('step').max, $('step').value] = [steps.length, at];
    $('step-text').textContent = at === 0 ? 'before the first' : at < steps.length ? `after ${at} of ${steps.length}` : `after all ${steps.length}`;
    $('step').setAttribute('aria-valuetext', $('step-text').textContent);
    $('rest').textContent = rest?.text ?? '';
    $('rest').hidden = !rest?.text;
}
