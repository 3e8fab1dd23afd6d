// The page: loads a dump, asks for decisions, and shows them. The state changes here alone.
import { showAnswer } from './answer.js';
import { opening, present, readCount } from './count.js';
import { $, copied, copy, count, el, said, write } from './dom.js';
import { Engine, latest, rested } from './engine.js';
import { told } from './fates.js';
import { List } from './list.js';
import { MOST_EACH, PodMap } from './map.js';
import { Moments } from './moments.js';
import { showOverview } from './overview.js';
import { explanation, noPlan, nothingWanted, plan } from './panel.js';
import { picture, png } from './picture.js';
import { GATES, countOf, fresh, fromLink, isChoosing, isSteered, label, link, now, options, wrongLink } from './state.js';
import { size } from './words.js';

/** The number of samples behind the slider of the time, and how many a request has. */
const [SAMPLES, AT_ONCE] = [120, 20];
/** With more pods, nothing but the answer follows a slider while it moves. */
const MOST_AT_ONCE = 500;

const examples = JSON.parse($('examples').textContent);
const map = new PodMap($('map'), (pod) => dump && picked(pod));

/** The dump on the page: its engine, name, workloads, zones, present count and times. `null` while the first one loads. */
let dump = null;
let state = fresh();
/** The state that all parts of the page show: the question, the decision and the verdicts. `null` beside an error. */
let shown = null;
const table = new List((pod) => dump && picked(pod), () => list());

/** Asks about the dump on the page. `undefined` if another one has replaced it, because the answers for that one follow. */
async function ask(...question) {
    const asked = dump;
    if (!asked) return undefined;
    try {
        const answer = await asked.engine.ask(...question);
        return dump === asked ? answer : undefined;
    } catch (error) {
        if (dump === asked) throw error;
        return undefined;
    }
}

/* Loading. */

let loading = null;

/**
 * Shows a dump, or returns what is wrong. `name` is what errors call it. `modified` is when its file was written, if it is one.
 */
async function load(name, file, chosen = {}, { example = null, modified } = {}) {
    loading?.end();
    const engine = new Engine((share) => file.size > 4e6 && tell(`Reading ${size(file.size)}… ${Math.round(100 * share)} %`));
    loading = engine;
    if (file.size > 4e6) tell(`Reading ${size(file.size)}…`);
    const started = performance.now();
    let read;
    try {
        read = await engine.ask('read', file);
    } catch (error) {
        engine.end();
        return loading === engine && fail(`${name}: ${error.message}`);
    } finally {
        if (loading === engine) tell('');
    }
    if (loading !== engine) return undefined;
    $('paste').close();
    const named = chosen.workload && { short: chosen.workload, namespace: chosen.namespace, kind: KINDS[chosen.workload.split('/')[0]] };
    const first = read.workloads.find(({ short, namespace }) => short === chosen.workload && namespace === chosen.namespace)
        // A workload without pods is not listed, but an answer can be about one.
        ?? named ?? read.workloads[0];
    if (!first) return engine.end(), fail(`${name}: no workload in it has pods`);
    const next = { ...read, engine, name, example, zones: read.zones, started };
    return choose(next, { ...fresh(), dumped: chosen.now === undefined ? { modified, clock: Date.now() } : null, isSnapshot: true, ...chosen, workload: first });
}

const KINDS = { deploy: 'Deployment', rs: 'ReplicaSet', rc: 'ReplicationController', sts: 'StatefulSet', ds: 'DaemonSet', job: 'Job' };

let choices = 0;
/** Shows the workload that is chosen in a dump. */
async function choose(next, chosen) {
    const choice = ++choices;
    tell('Deciding…', 200);
    let scene;
    try {
        scene = await next.engine.ask('scene', options({ ...chosen, replicas: null }));
    } catch (error) {
        if (choice !== choices) return;
        tell('');
        const accept = () => choose(next, { ...chosen, partial: true });
        fail(`${next.name}: ${error.message}`, { next, chosen, remedy: error.remedy === 'partial' && ['Decide all the same', accept] });
        return;
    }
    // Somebody was quicker, and chose something else.
    if (choice !== choices || !scene) return;
    const wrong = wrongFor(chosen, scene);
    if (wrong) {
        tell('');
        fail(wrong.message, { next, chosen, remedy: wrong.later && ['Decide at that time', () => choose(next, { ...chosen, ...wrong.later })] });
        return;
    }
    complain('');
    hold(next);
    [state, shown] = [chosen, null];
    const newest = Date.parse(scene.newest ?? scene.now);
    if (state.dumped) [state.now, state.nowText] = [Date.parse(scene.now), scene.now];
    // Ages begin at the latest change, so nobody chooses an earlier time.
    else if (!state.isTimeGiven && state.now < newest + 1000) [state.now, state.nowText] = [newest + 1000, null];
    dump.moments = new Moments(newest, Math.max(state.now, state.dumped?.clock ?? 0));
    [dump.present, dump.count] = [present(scene), scene.count ?? scene.active];
    if (countOf(state.workload) && state.replicas === null) [state.replicas, state.isGuess] = [opening(scene), scene.desired === null || scene.desired >= dump.present];
    showSources();
    const isLarge = scene.active > MOST_EACH;
    if (isLarge) $('overview').before($('list'));
    else $('overview').after($('list'));
    $('list').open = isLarge;
    table.reset();
    if (!dump.example) history.replaceState(null, '', location.pathname + location.search);
    $('strip').replaceChildren();
    await decide();
    resample();
}

/** The error in a link's question about a workload, with a time that would be late enough. `null` if there is none. */
function wrongFor(chosen, { newest }) {
    const { workload, replicas, isTimeGiven } = chosen;
    if (Number.isInteger(replicas) && !countOf(workload)) return wrongLink(`replicas=${replicas}, but ${workload.short} has no count`);
    const later = { now: Date.parse(newest), nowText: newest };
    if (!isTimeGiven || newest === null || chosen.now >= later.now) return null;
    return Object.assign(wrongLink(`now=${now(chosen)} is before the latest change of its pods, at ${newest}`), { later });
}

/** Keeps a dump, and ends the one before. */
function hold(next) {
    if (dump && dump.engine !== next?.engine) dump.engine.end();
    [dump, loading] = [next, null];
}

/** The workloads of the dump, if there is one, and the examples. */
function showSources() {
    const { workloads = [], example = null, name: title } = dump ?? {};
    const chosen = state.workload;
    const own = (!chosen || workloads.includes(chosen) ? workloads : [chosen, ...workloads]).map((workload) =>
        el('option', { value: workloads.indexOf(workload), selected: workload === chosen },
            workload.namespace === 'default' ? workload.short : `${workload.short} in ${workload.namespace}`));
    const others = Object.entries(examples).filter(([name]) => name !== example || !chosen).map(([name, { title }]) => el('option', { value: name }, title));
    $('workload').replaceChildren(...[
        chosen ? null : el('option', { value: '', selected: true, disabled: true }, 'Choose one'),
        own.length > 0 ? el('optgroup', { label: example ? `Example: ${examples[example].title}` : title }, own) : null,
        el('optgroup', { label: example ? 'Other examples' : 'Examples' }, others),
    ].filter(Boolean));
    write($('source'), !dump ? '' : example ? 'This is an example.' : `These are the pods of ${title}. They don't leave this page.`);
    write($('about'), example ? examples[example].about : '');
    $('workloads').hidden = workloads.length < 2;
    write($('workloads-title'), `All ${workloads.length} workloads: the pod that is deleted first in each`);
    if ($('workloads').open) overview();
}

/** Says what takes its time, if it takes longer. */
let telling;
function tell(text, after = 0) {
    clearTimeout(telling);
    const show = () => write($('working'), text);
    if (after > 0) telling = setTimeout(show, after);
    else show();
}

/** Says what is wrong, in the dialog if it is open, and returns it. Without a text, nothing is. */
function complain(text) {
    const inDialog = $('paste').open;
    for (const [place, isHere] of [[$('paste-error'), inDialog], [$('error'), !inDialog]]) {
        write(place, isHere ? text : '');
        place.hidden = !place.textContent;
    }
    return text;
}

/** Says what is wrong in place of an answer: one beside it would be taken for the answer to what was asked. */
function refuse(text) {
    shown = null;
    refusals++;
    clearTimeout(drawing);
    $('answer').hidden = $('copies').hidden = true;
    document.title = 'podrank: which pods are deleted?';
    delete document.documentElement.dataset.decided;
    return complain(text);
}

/** Says why a dump or its workload cannot be shown, and keeps the present one. `next` is a dump that may have other workloads. */
function fail(text, { next = null, chosen = fresh(), remedy = null } = {}) {
    if ($('paste').open) return complain(text);
    refuse(text);
    hold(next);
    // What is still on its way is not waited for any more.
    choices++;
    state = { ...chosen, workload: null };
    $('count-field').hidden = true;
    showSources();
    if (remedy) $('error').append(' ', el('button', { type: 'button', class: 'quiet', onclick: remedy[1] }, remedy[0]));
    return text;
}

/** What `load` takes to show an example. A link to it may choose more. */
function ofExample(name, hash = '') {
    const { replicas, now, text } = examples[name];
    return [`The example ${name}`, new Blob([text]), fromLink(hash, { replicas, now: Date.parse(now), nowText: now }), { example: name }];
}

const showExample = (name) => load(...ofExample(name));

const loadText = (text) => load('the pasted text', new Blob([text]));
const loadFile = async (file) => file && load(file.name, file, { file: file.name }, { modified: file.lastModified });

/** What `load` takes to show the example that the end of a link names. */
function ofLink(hash) {
    const name = new URLSearchParams(hash.slice(1)).get('example');
    if (name === null) throw wrongLink('it has no “example=”');
    if (!Object.hasOwn(examples, name)) throw wrongLink(`there is no example “${name}”`);
    return ofExample(name, hash);
}

/** Shows what the end of a link says. False if it says nothing. */
async function showLink(hash) {
    if (!hash.includes('=')) return false;
    let given;
    try {
        given = ofLink(hash);
    } catch ({ message }) {
        fail(message);
        return true;
    }
    await load(...given);
    return true;
}

/* Deciding. */

/** The pods as the map has them. In a rollout, each is of a new or of an old ReplicaSet. */
function faces({ pods, groups }) {
    const own = groups.filter(({ active }) => active > 0);
    const of = own.length < 2 ? [] : own.flatMap(({ active, isNew, replicaSet }) => Array(active).fill({ age: isNew ? 'new' : 'old', set: replicaSet }));
    return pods.map(([name, node, fate, probability], index) => ({ name, label: label(state.workload, name), node, fate, probability, ...of[index] }));
}

/** How often an error took the place of an answer. */
let refusals = 0;

const decide = latest(async () => {
    tell('Deciding…', 50);
    const asked = options(state);
    const [wanted, before] = [isChoosing(state) ? [...state.wanted] : [], refusals];
    let answer;
    let made = null;
    try {
        answer = await ask('decide', asked);
        if (answer && wanted.length > 0) made = await ask('steer', asked, wanted).catch((error) => ({ error }));
    } catch (error) {
        return refuse(error.message);
    } finally {
        tell('');
    }
    if (!answer || refusals !== before) return undefined;
    complain('');
    show(answer, made, asked, wanted);
    if (answer.probabilitiesFollow && !made?.answer) withProbabilities();
    return undefined;
});

/** Shows a decision, or in its place the one with the plan for the selected pods. */
function show(decided, made, asked, wanted) {
    const answer = made?.answer ?? decided;
    const pods = faces(answer);
    shown = { asked, answer, made, pods, wanted: made?.answer ? wanted : [] };
    document.documentElement.dataset.order = state.order;
    $('count').removeAttribute('aria-invalid');
    showAnswer(state, answer, pods, dump, made);
    $('answer').hidden = $('copies').hidden = false;
    if (!pods.some(({ name }) => name === state.pod)) state.pod = atTheCut(pods);
    if (dump.example) history.replaceState(null, '', link(dump.example, state));
    $('copy-link').hidden = !dump.example;
    const details = () => {
        map.show(pods, dump.zones, isChoosing(state) ? { wanted: state.wanted } : { picked: state.pod });
        panel();
        announce();
        document.documentElement.dataset.drawn = asked;
    };
    // Thousands of pods: the answer first, then the list, then the map.
    if ($('list').open) list();
    if (pods.length > MOST_AT_ONCE) later(details);
    else details();
    document.documentElement.dataset.decided = asked;
    if (dump.started) [document.documentElement.dataset.took, dump.started] = [Math.round(performance.now() - dump.started), null];
}

let drawing;
function later(call) {
    clearTimeout(drawing);
    drawing = setTimeout(call, 60);
}

/** The probabilities of many pods take a while, so they follow when nothing moves. */
const withProbabilities = rested(async () => {
    const text = options(state);
    if (!shown || shown.wanted.length > 0) return;
    const answer = await ask('decide', options(state, { probabilities: true }));
    if (answer && shown && shown.wanted.length === 0 && text === options(state)) show(answer, shown.made, text, []);
}, 300);

/** The pod at the boundary: the first possible one, or otherwise the last that is deleted. */
const atTheCut = (pods) => (pods.find(({ fate }) => fate === 'possible') ?? pods.findLast(({ fate }) => fate === 'deleted') ?? pods[0])?.name;

const panel = latest(async () => {
    if (!shown) return;
    write($('panel-title'), isChoosing(state) ? 'What you choose' : state.pod ? `Why ${label(state.workload, state.pod)}?` : '');
    const shows = isChoosing(state) ? steering(shown) : await why();
    if (shows) $('panel').replaceChildren(...shows.filter(Boolean));
});

async function why() {
    if (!state.pod) return [];
    const told = await ask('explain', shown.asked, state.pod);
    return told && shown && explanation(told, shown.pods.find(({ name }) => name === told.pod.name)?.probability);
}

function steering({ made, answer }) {
    const chosen = state.wanted.size;
    if (!made) return nothingWanted(follows() ? null : answer.activePods - state.replicas);
    const only = dump.present - chosen;
    // The controller of a rollout shares the count among its sets.
    const isAlone = chosen === 0 || only < 0 || only === state.replicas || answer.groups.length > 1;
    const alone = isAlone ? null : el('button', { type: 'button', onclick: () => setCount(only) }, `Delete only ${chosen === 1 ? 'this one' : `these ${chosen}`}: scale to ${only}`);
    return made.error ? noPlan(made.error, alone) : plan(made, chosen, alone);
}

/** Whether the count follows what is chosen: nobody asked for it, and no rollout shares it among sets. */
const follows = () => state.isGuess && shown.answer.groups.length < 2;

/** The whole list as a table, like the command line's. */
const list = latest(async () => {
    if (!shown) return;
    const { asked, pods, wanted } = shown;
    const { places, rest } = table.places(pods);
    const rows = await ask('rows', asked, places, wanted);
    if (!rows || shown?.pods !== pods) return;
    table.show(rows, places.map((place) => pods[place]), rest, isChoosing(state) ? state.wanted : new Set([state.pod]));
});

/** The other workloads of the dump. */
const overview = latest(async () => {
    const rows = await ask('overview', options({ ...state, replicas: null }));
    if (!rows) return;
    showOverview(rows, state.workload, (short, namespace) => turnTo(dump.workloads.find((one) => one.short === short && one.namespace === namespace)));
});

/** Tells screen readers, once a slider rests. */
const announce = rested(() => write($('live'), shown?.answer.headline ?? ''), 400);

/** Shows at which moments chance decides, behind the slider. */
const sample = latest(async () => {
    const isOff = !dump || !shown || !$('settings').open || shown.pods.length > MOST_AT_ONCE || state.order === 'total' || !isSteered(state.workload);
    $('strip').replaceChildren();
    $('strip-key').hidden = isOff;
    if (isOff) return;
    const { moments } = dump;
    const question = () => options(state, { now: undefined });
    const asked = question();
    for (let start = 0; start < SAMPLES; start += AT_ONCE) {
        const at = (index) => new Date(moments.at((start + index) / (SAMPLES - 1)));
        const numbers = await ask('possible', Array.from({ length: AT_ONCE }, (_, index) => options({ ...state, dumped: null }, { now: at(index) })));
        // If another question is asked by now, that one is sampled next.
        if (!numbers || asked !== question()) return;
        $('strip').append(...numbers.map((number) => el('i', { class: number > 0 ? 'open' : null })));
    }
});
const resample = rested(sample);

/** Shows another workload of the dump, at the same time. */
function turnTo(workload) {
    const { file, now, nowText, dumped, isSnapshot, order, gates } = state;
    const kept = isSteered(workload) ? { order, gates } : {};
    return choose(dump, { ...fresh(), file, now, nowText, dumped, isSnapshot, ...kept, workload });
}

/* What the user does. */

/** Listens to a control of what is shown, which has no meaning while something else is loaded. */
const on = (element, event, act) => element.addEventListener(event, ({ target }) => dump && act(target));

/** Decides again after a change of anything but the time. */
function changed() {
    resample();
    decide();
}

function picked(pod) {
    if (!shown) return undefined;
    if (!isChoosing(state)) {
        state.pod = pod;
        map.show(shown.pods, dump.zones, { picked: pod });
        if ($('list').open) list();
        return panel().then(() => $('panel-title').scrollIntoView({ block: 'nearest' }));
    }
    if (!state.wanted.delete(pod)) state.wanted.add(pod);
    if (follows()) state.replicas = Math.max(dump.present - Math.max(state.wanted.size, 1), 0);
    return decide();
}

function setCount(replicas) {
    if (shown && replicas === state.replicas) return;
    // What the count changes is at the cut.
    [state.replicas, state.isGuess, state.pod] = [replicas, false, null];
    changed();
}

/** Reads what was typed, which may be no count. */
function typed({ value, validity }) {
    const { count, error } = readCount(validity.badInput ? '?' : value);
    if (error) refuse(error), $('count').setAttribute('aria-invalid', true);
    else setCount(count);
}

on($('slider'), 'input', ({ value }) => setCount(Number(value)));
on($('count'), 'input', typed);
on($('count'), 'blur', (field) => shown && (field.value = state.replicas));
on($('moment'), 'input', ({ value }) => {
    [state.nowText, state.dumped, state.isSnapshot] = [null, null, false];
    state.now = dump.moments.fromStep(value);
    // A change of the time affects the pods at the boundary.
    state.pod = null;
    decide();
});
for (const radio of document.querySelectorAll('[name=order]')) {
    on(radio, 'change', () => {
        state.order = radio.value;
        if (state.order !== 'total') delete state.gates.PreferForScaleDown;
        changed();
    });
}
for (const box of document.querySelectorAll('[data-gate]')) {
    on(box, 'change', () => {
        if (box.checked === GATES[box.dataset.gate]) delete state.gates[box.dataset.gate];
        else state.gates[box.dataset.gate] = box.checked;
        changed();
    });
}
// The count does not change, and the earlier choice is there again afterwards.
on($('choose'), 'click', () => {
    state.steering = !state.steering;
    decide();
});
$('workload').addEventListener('change', ({ target: { value } }) => {
    if (Object.hasOwn(examples, value)) return showExample(value);
    return turnTo(dump.workloads[value]);
});
on($('list'), 'toggle', ({ open }) => open && list());
on($('workloads'), 'toggle', ({ open }) => open && overview());
on($('settings'), 'toggle', sample);
$('own').addEventListener('click', () => {
    $('paste-error').hidden = true;
    $('paste').showModal();
});
$('read').addEventListener('click', () => loadText($('text').value));
// Anywhere but in another field. A dump that went through the text area first would take it long.
addEventListener('paste', (event) => {
    if (event.target.matches('input')) return;
    event.preventDefault();
    loadText(event.clipboardData.getData('text'));
});
$('file').addEventListener('change', async ({ target }) => {
    await loadFile(target.files[0]);
    target.value = '';
});
$('close-paste').addEventListener('click', () => $('paste').close());
addEventListener('dragover', (event) => {
    event.preventDefault();
    document.documentElement.classList.add('dropping');
});
// Without a related target, the pointer leaves the window.
addEventListener('dragleave', (event) => event.relatedTarget ?? document.documentElement.classList.remove('dropping'));
addEventListener('drop', (event) => {
    event.preventDefault();
    document.documentElement.classList.remove('dropping');
    loadFile(event.dataTransfer.files[0]);
});
// Not location.hash: an answer that arrives before this event has put the link of its own example there.
addEventListener('hashchange', ({ newURL }) => showLink(new URL(newURL).hash));

/* Copies. */

const base = () => location.href.split('#')[0];

on($('copy-command'), 'click', () => copy($('copy-command'), () => $('command').textContent));
on($('copy-markdown'), 'click', () => copy($('copy-markdown'), () => ask('markdown', shown.asked, shown.wanted)));
on($('copy-link'), 'click', () => copy($('copy-link'), () => base() + link(dump.example, state)));
on($('copy-picture'), 'click', async () => {
    const { answer, pods } = shown;
    const bytes = await png(picture(answer.headline, told(pods, { ...answer, order: state.order }), pods, dump.zones, state.order));
    const isCopied = await copied({ 'image/png': bytes });
    if (!isCopied) {
        const file = el('a', { href: URL.createObjectURL(bytes), download: `podrank-${state.workload.short.replace('/', '-')}.png` });
        file.click();
        URL.revokeObjectURL(file.href);
    }
    said($('copy-picture'), isCopied ? 'copied' : 'saved');
});

/** For tests, which have no other way to the module. */
globalThis.podrank = { ask: (...question) => dump.engine.ask(...question), read: async (text) => {
    const engine = new Engine();
    await engine.ask('read', new Blob([text]));
    return engine;
} };

showLink(location.hash).then((isShown) => isShown || showExample('rollout'));
