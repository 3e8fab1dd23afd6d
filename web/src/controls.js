// What is above the map: the sliders, the switches, and how many pods go. Shows the state and changes nothing.
import { $, el } from './dom.js';
import { duration } from './moments.js';
import { GATES, command, now } from './state.js';

/** The letter of a set, which the numbers of its pods end with. */
export const letter = (set) => 'abcdefghijklmnopqrstuvwxyz'[set] ?? '';

/** How many pods certainly go, are contested, and certainly stay, in all sets. */
export const totals = ({ fates }) => fates.reduce((sum, set) => sum.map((number, fate) => number + set[fate]), [0, 0, 0]);

export function showControls(state, { moments, pods }, head) {
    showCount(state, pods.length);
    showMoment(state, moments);
    showTotals(head);
    showSets(state, head.sets ?? []);
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
    const [gone, contested, kept] = totals(head);
    const tally = (fate, number, text) => el('span', { class: 'tally', 'data-fate': fate }, el('b', {}, `${number}`), ` ${text}`);
    $('summary').replaceChildren(
        tally('delete', gone, gone === 1 ? 'certainly goes' : 'certainly go'),
        tally('contested', contested > 0 ? `${head.quota} of ${contested}` : '0', 'contested'),
        tally('keep', kept, kept === 1 ? 'certainly stays' : 'certainly stay'));
}

/** What a Deployment's sync does to its sets. Nobody need be told that its only set gets the count. */
function showSets({ replicas }, sets) {
    $('sets').hidden = sets.length === 0 || (sets.length === 1 && sets[0].to === replicas);
    $('sets').replaceChildren(...sets.map(({ replicaSet, from, to, why }, index) => el('li', {},
        el('b', {}, sets.length > 1 ? `${letter(index)} ` : ''), `${replicaSet ?? 'a new ReplicaSet'}: ${from} → ${to}`,
        el('span', { class: 'soft' }, `, ${why}`))));
}
