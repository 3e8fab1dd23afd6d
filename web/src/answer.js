// The answer in words: what is asked, how many pods go, and what else a reader should know. Shows the state and changes nothing.
import { $, el, visible, write } from './dom.js';
import { told } from './fates.js';
import { duration } from './moments.js';
import { GATES, command, countOf, isChoosing, isSteered, now } from './state.js';

const readable = (time) => time.replace('T', ' ').replace(/\.\d+Z$/, 'Z');

/**
 * The answer may be the one once the costs of a plan are written: `made`. Then its commands write them. `count` is the present count, and
 * there may be other numbers of pods for a while.
 */
export function showAnswer(state, answer, pods, { moments, count }, made) {
    showCount(state, count);
    const { headline } = answer;
    write($('headline'), made?.error ? `There is no plan for what you selected. Without a plan: ${headline}` : headline);
    document.title = visible(`${headline} · podrank`);
    $('key').replaceChildren(...told(pods, { ...answer, order: state.order }).map(([fate, text]) =>
        el('span', { 'data-fate': fate }, el('i', { class: 'mark', 'data-fate': fate, 'aria-hidden': 'true' }), ` ${text}`)));
    write($('rest'), follows(answer) ?? '');
    $('rest').hidden = $('rest').textContent === '';
    showMoment(state, moments);
    for (const radio of document.querySelectorAll('[name=order]')) {
        [radio.checked, radio.disabled] = [radio.value === state.order, !isSteered(state.workload)];
    }
    for (const box of document.querySelectorAll('[data-gate]')) {
        box.checked = state.gates[box.dataset.gate] ?? GATES[box.dataset.gate];
        box.disabled = !isSteered(state.workload) || (box.dataset.gate === 'PreferForScaleDown' && state.order !== 'total');
    }
    $('notes').replaceChildren(...sizes(answer), ...answer.notes.map(({ level, text }) => el('li', { class: level }, text)));
    $('notes').hidden = $('notes').childElementCount === 0;
    write($('command'), made?.scale ?? command(state));
    $('choose').hidden = !isSteered(state.workload) || answer.activePods === 0 || state.order === 'total';
    write($('choose'), isChoosing(state) ? '← Leave it to Kubernetes' : 'Select other pods →');
    $('choose').setAttribute('aria-pressed', state.steering);
}

/** What follows, in a sentence. Of a count that grows, that is nothing: pods that do not exist yet are not available, either. */
const follows = ({ waitsFor, follows, size, activePods }) => (size.replicas > activePods && !waitsFor ? null : follows);

/** The count that is asked for, beside the present one. */
function showCount(state, present) {
    const name = countOf(state.workload);
    $('count-field').hidden = name === null;
    write($('count-name'), name ?? '');
    write($('present'), present);
    for (const field of [$('count'), $('slider')]) {
        field.max = present;
        // Somebody who types has not finished yet.
        if (field !== document.activeElement || field.type === 'range') field.value = state.replicas ?? '';
    }
    $('slider').style.setProperty('--part', `${(100 * (state.replicas ?? 0)) / Math.max(1, present)}%`);
}

function showMoment(state, moments) {
    const age = duration(moments.age(state.now));
    write($('snapshot'), `${state.dumped || state.isSnapshot ? 'snapshot' : 'at'} ${readable(now(state))}`);
    if (document.activeElement !== $('moment')) $('moment').value = moments.toStep(state.now);
    write($('moment-text'), `${now(state)}, ${age} after the latest change`);
    $('moment').setAttribute('aria-valuetext', $('moment-text').textContent);
}

/** How a Deployment's syncs scale its sets. It says nothing if the only set gets the Deployment's count. */
function sizes({ groups, steps, size }) {
    const way = ({ replicaSet, from }) => [from, ...steps.flatMap((step) => step.replicaSets)
        .filter((set) => set.replicaSet === replicaSet).map((set) => set.to)];
    if (groups.length === 0 || (groups.length === 1 && steps.length < 2 && groups[0].to === size.replicas)) return [];
    const age = ({ replicaSet, isNew }) => (groups.length < 2 || replicaSet === null ? '' : isNew ? ' (new)' : ' (old)');
    // The reason is that of the first sync.
    const why = (set) => (set.text === null ? 'a later sync creates it' : set.from === set.to && way(set).length > 1 ? 'a later sync changes it' : set.text);
    return groups.map((set) => el('li', { class: 'set' }, `${set.replicaSet ?? 'a new ReplicaSet'}${age(set)}: `, el('b', {}, way(set).join(' → ')), `, ${why(set)}`));
}
