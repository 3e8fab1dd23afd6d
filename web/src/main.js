// The page: loads a dump, asks for decisions, and shows them. The state changes here alone.
import { goneBy, showControls, totals } from './controls.js';
import { $, copy, count, el } from './dom.js';
import { Engine, latest } from './engine.js';
import { PodMap } from './map.js';
import { Moments } from './moments.js';
import { explanation, fate, nothingWanted, plan } from './panel.js';
import { fresh, fromLink, GATES, link, options } from './state.js';

/** The number of samples behind the slider of the moment, and how many are asked for at once. */
const [SAMPLES, AT_ONCE] = [120, 20];
/** With more pods, nothing but the map and the numbers follows a slider while it moves. */
const MOST_AT_ONCE = 500;
const MOST_ROWS = 100;
const ALL_ROWS = 1e9;

const embedded = (id) => JSON.parse($(id).textContent);
const examples = embedded('examples');
const bytes = (text) => new TextEncoder().encode(text);
const engine = new Engine($('worker').textContent, Uint8Array.from(atob($('module').textContent), (byte) => byte.charCodeAt(0)));
const map = new PodMap($('map'), (pod) => dump && picked(pod));

/** The name of the example that is shown, or `null` for the user's own pods. */
let example = null;
let state = fresh();
/** What is shown: the workloads, the pods of one, the zones of their nodes, the moments to choose from. `null` while it loads. */
let dump = null;
/** The decision. */
let shown = null;

/** Asks about the dump that is shown. `undefined` if another one has replaced it meanwhile, because its answers follow. */
async function ask(...question) {
    const asked = dump;
    if (!asked) return undefined;
    try {
        const answer = await engine.ask(...question);
        return dump === asked ? answer : undefined;
    } catch (error) {
        if (dump === asked) throw error;
        return undefined;
    }
}

/* Loading. */

/** Shows a dump. `name` is what errors call it. `modified` is when its file was written, if it is one. */
async function load(name, text, chosen = {}, itsExample = null, modified = undefined) {
    let read;
    try {
        read = await engine.ask('read', text);
    } catch (error) {
        return complain(`${name}: ${error.message}`);
    }
    $('paste').close();
    example = itsExample;
    for (const tab of document.querySelectorAll('[data-example]')) {
        tab.setAttribute('aria-pressed', tab.dataset.example === example);
    }
    $('own').setAttribute('aria-pressed', example === null);
    $('share').hidden = example === null;
    $('about').textContent = example ? examples[example].about : `${name}. It stays in this page: nothing is sent anywhere.`;
    if (!example) history.replaceState(null, '', location.pathname + location.search);
    const workload = read.workloads.find(({ short, namespace }) => short === chosen.workload && namespace === chosen.namespace);
    // A workload without pods is not listed, but an answer can be about one.
    const named = chosen.workload && { short: chosen.workload, namespace: chosen.namespace };
    const first = workload ?? named ?? read.workloads[0];
    if (!first) {
        dump = null;
        return complain(`${name}: no workload in it has pods`, { isFatal: true });
    }
    await choose(read, { ...fresh(), dumped: chosen.now === undefined ? { modified, clock: Date.now() } : null, ...chosen, workload: first });
}

let choices = 0;
/** Shows the workload that is chosen in a dump. */
async function choose(read, chosen) {
    const choice = ++choices;
    [dump, state] = [null, chosen];
    $('workload').replaceChildren(...read.workloads.map((other, index) =>
        el('option', { value: index, selected: other === chosen.workload ? '' : null }, `${other.short} in ${other.namespace}`)));
    $('workload-field').hidden = read.workloads.length < 2;
    const answer = await engine.ask('pods', options(state, { replicas: 0 })).catch((error) => ({ error }));
    // Somebody was quicker, and chose something else.
    if (choice !== choices) return;
    if (answer.error) {
        const accept = () => choose(read, { ...chosen, partial: true });
        const remedy = answer.error.remedy === 'partial' && ['Decide all the same', accept];
        return complain(answer.error.message, { isFatal: true, remedy });
    }
    complain('');
    if (state.dumped) [state.now, state.nowText] = [Date.parse(answer.now), answer.now];
    const newest = answer.newest ?? state.now;
    // Ages begin at the latest change, so nobody chooses a moment before it.
    if (!state.dumped) state.now = Math.max(state.now, newest + 1000);
    dump = { ...read, pods: answer.pods, moments: new Moments(newest, state.now) };
    const most = dump.pods.length;
    state.replicas = state.steering ? most - state.wanted.size : Math.min(state.replicas ?? Math.ceil(most / 2), most);
    $('replicas').max = $('replicas-number').max = most;
    map.show(dump.pods, dump.zones);
    $('answer').hidden = false;
    await decide();
    sample();
}

/** Says what is wrong, in the dialog if it is open. Without a text, nothing is. */
function complain(text, { isFatal = false, remedy = null } = {}) {
    const inDialog = $('paste').open;
    for (const [place, isHere] of [[$('paste-error'), inDialog], [$('error'), !inDialog]]) {
        place.textContent = isHere ? text : '';
        place.hidden = !place.textContent;
    }
    if (remedy) $('error').append(' ', el('button', { type: 'button', class: 'quiet', onclick: remedy[1] }, remedy[0]));
    if (isFatal) $('answer').hidden = true;
}

const showExample = (name, chosen = { replicas: examples[name].replicas, now: Date.parse(examples[name].now) }) =>
    load(`The example ${name}`, bytes(examples[name].text), chosen, name);

const loadText = (text) => load('the pasted text', bytes(text));
const loadFile = async (file) => file && load(file.name, new Uint8Array(await file.arrayBuffer()), {}, null, file.lastModified);

/* Deciding. */

const decide = latest(async () => {
    const slow = setTimeout(() => ($('working').hidden = false), 50);
    const asked = options(state);
    let answer;
    try {
        answer = await ask('decide', asked);
    } catch (error) {
        return complain(error.message);
    } finally {
        clearTimeout(slow);
        $('working').hidden = true;
    }
    if (!answer) return;
    complain('');
    shown = answer;
    map.update(shown.order, shown.head.fates, shown.head.odds);
    showStep();
    if (!dump.pods.some((pod) => pod.uid === state.uid)) state.uid = atTheCut();
    map.mark(state.uid, state.wanted);
    if (example) history.replaceState(null, '', link(example, state));
    atRest(panel);
    announce();
    if ($('list').open) await list();
    document.documentElement.dataset.decided = asked;
});

/** What is shown of the decision depends on the step. */
function showStep() {
    map.fade(shown.order, shown.head.fates, goneBy(state, shown.head));
    showControls(state, dump, shown.head);
}

/** The pod that says most: the first contested one, or else the last that goes. */
function atTheCut() {
    let at = 0;
    for (const [gone, contested, later, kept] of shown.head.fates) {
        if (contested > 0) return dump.pods[shown.order[at + gone]].uid;
        at += gone + contested + later + kept;
    }
    const [gone] = shown.head.fates[0] ?? [0];
    return dump.pods[shown.order[Math.max(gone - 1, 0)]]?.uid;
}

/** Tells at once; but with thousands of pods, only when no slider moves. */
let resting;
function atRest(tell) {
    clearTimeout(resting);
    if (dump.pods.length > MOST_AT_ONCE) resting = setTimeout(tell, 150);
    else tell();
}

const panel = latest(async () => {
    $('panel-title').textContent = state.steering ? 'Steer' : 'Why?';
    const shows = state.steering ? await steering() : await why();
    if (shows) $('panel').replaceChildren(...shows);
});

async function why() {
    const told = state.uid && (await ask('explain', options(state), state.uid));
    return told && explanation(told);
}

async function steering() {
    if (state.wanted.size === 0) return [nothingWanted()];
    try {
        const made = await ask('steer', options(state, { replicas: undefined }), [...state.wanted], state.ahead);
        if (!made) return null;
        // Pods that are in the way go as well.
        if (made.replicas !== state.replicas) {
            state.replicas = made.replicas;
            decide();
        }
        return plan(made);
    } catch (error) {
        const take = () => {
            state.ahead = true;
            panel();
        };
        return [el('p', { class: 'blocked', role: 'alert' }, error.message),
            error.remedy === 'ahead' ? el('button', { type: 'button', class: 'primary', onclick: take }, 'Take what is in the way, too') : ''];
    }
}

/** The whole list as a table, like the command line's. */
async function list() {
    const rows = await ask('rows', options(state), 0, $('list').dataset.all ? ALL_ROWS : MOST_ROWS);
    if (!rows) return;
    const cells = (pod) => [`${pod.position}`, fate(pod.verdict, pod.odds), pod.name, pod.node ?? 'none', `${pod.rank}`, pod.age ?? 'unset', pod.rule ?? '–', pod.why];
    const cell = (value, column) => (column === 2 ? el('th', { scope: 'row' }, value) : el('td', {}, value));
    $('rows').replaceChildren(...rows.map((pod) => el('tr', {}, cells(pod).map(cell))));
    $('more').hidden = rows.length === dump.pods.length;
}

/** Tells screen readers, once a slider rests. */
let announced;
function announce() {
    clearTimeout(announced);
    const [gone, contested, later, kept] = totals(shown.head);
    announced = setTimeout(() => {
        const onward = later > 0 ? `${later} go when the rollout goes on, ` : '';
        $('live').textContent = `At ${count(state.replicas, 'replica')}, ${count(gone, 'pod')} certainly go, ${shown.head.quota} of ${contested} contested pods go, ${onward}${kept} certainly stay.`;
    }, 400);
}

/** Shows at which moments pods are contested, behind the slider. */
const sample = latest(async () => {
    if (!dump) return;
    const isOff = dump.pods.length > MOST_AT_ONCE || state.order === 'total';
    $('strip').replaceChildren();
    $('strip-key').hidden = isOff;
    if (isOff) return;
    const { moments } = dump;
    const question = () => options(state, { now: undefined });
    const asked = question();
    for (let start = 0; start < SAMPLES; start += AT_ONCE) {
        const at = (index) => new Date(moments.at((start + index) / (SAMPLES - 1)));
        const numbers = await ask('contested', Array.from({ length: AT_ONCE }, (_, index) => options(state, { now: at(index) })));
        // If another question is asked by now, that one is sampled next.
        if (!numbers || asked !== question()) return;
        $('strip').append(...numbers.map((number) => el('i', { class: number > 0 ? 'open' : null })));
    }
});

let resampling;
function resample() {
    clearTimeout(resampling);
    resampling = setTimeout(sample, 150);
}

/* What the user does. */

/** Listens to a control of what is shown, which has no meaning while something else is loaded. */
const on = (element, event, act) => element.addEventListener(event, ({ target }) => dump && act(target));

/** Decides anew after a change of anything but the moment. */
function changed() {
    resample();
    decide();
}

function picked(pod) {
    document.documentElement.classList.add('asked');
    if (!state.steering) {
        state.uid = pod.uid;
        return decide();
    }
    if (!state.wanted.delete(pod.name)) state.wanted.add(pod.name);
    state.ahead = false;
    // As many go as were clicked.
    state.replicas = dump.pods.length - state.wanted.size;
    changed();
}

function setReplicas(value) {
    const replicas = Math.min(Math.max(Math.round(Number(value) || 0), 0), dump.pods.length);
    if (replicas === state.replicas) return;
    [state.replicas, state.step] = [replicas, null];
    changed();
}

on($('replicas'), 'input', ({ value }) => setReplicas(value));
on($('replicas-number'), 'input', ({ value }) => value !== '' && setReplicas(value));
on($('replicas-number'), 'blur', (field) => (field.value = state.replicas));
on($('step'), 'input', ({ value }) => {
    state.step = Number(value);
    showStep();
});
on($('moment'), 'input', ({ value }) => {
    [state.nowText, state.dumped] = [null, null];
    state.now = dump.moments.fromStep(value);
    // What the moment changes is at the cut.
    state.uid = null;
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
for (const mode of ['look', 'steer']) {
    on($(mode), 'click', () => {
        if (state.steering === (mode === 'steer')) return;
        state.steering = mode === 'steer';
        state.wanted = new Set();
        state.replicas = state.steering ? dump.pods.length : Math.ceil(dump.pods.length / 2);
        changed();
    });
}
on($('workload'), 'change', ({ value }) => {
    const { now, nowText, dumped, order, gates } = state;
    choose(dump, { ...fresh(), now, nowText, dumped, order, gates, workload: dump.workloads[value] });
});
on($('list'), 'toggle', ({ open }) => open && list());
on($('more'), 'click', () => {
    $('list').dataset.all = 'yes';
    list();
});
for (const tab of document.querySelectorAll('[data-example]')) tab.addEventListener('click', () => showExample(tab.dataset.example));
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
$('copy-command').addEventListener('click', copy(() => $('command').textContent));
$('share').addEventListener('click', copy(() => location.href));
$('close-panel').addEventListener('click', () => document.documentElement.classList.remove('asked'));
$('theme').addEventListener('click', () => {
    const { dataset } = document.documentElement;
    const now = dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light');
    dataset.theme = now === 'dark' ? 'light' : 'dark';
});
const showLink = (link) => showExample(link.name, link.state);
addEventListener('hashchange', () => {
    const link = fromLink(location.hash, examples);
    if (link) showLink(link);
});

/** For tests, which have no other way to the module. */
globalThis.podrank = engine;

const given = embedded('given');
const linked = fromLink(location.hash, examples);
if (given) {
    const { now, featureGates, ...others } = given.options;
    $('own').textContent = given.title;
    load(given.title, bytes(JSON.stringify(given.dump)), { ...others, now: Date.parse(now), nowText: now, gates: featureGates });
} else if (linked) {
    showLink(linked);
} else {
    showExample('circle');
}
