// The page: loads a dump, asks for decisions, and shows them. The state changes here alone.
import { row, showAnswer } from './answer.js';
import { $, copied, copy, count, el, said, short } from './dom.js';
import { Engine, latest, rested } from './engine.js';
import { told } from './fates.js';
import { MOST_EACH, PodMap } from './map.js';
import { Moments } from './moments.js';
import { explanation, nothingWanted, plan } from './panel.js';
import { picture, png } from './picture.js';
import { pack, size, unpack } from './share.js';
import { GATES, countOf, fresh, fromLink, isSteered, link, options } from './state.js';

/** The number of samples behind the slider of the moment, and how many are asked for at once. */
const [SAMPLES, AT_ONCE] = [120, 20];
/** With more pods, nothing but the answer follows a slider while it moves. */
const MOST_AT_ONCE = 500;
const MOST_ROWS = 10;
/** The most characters that can be relied on to arrive. */
const MOST_IN_LINK = 65_536;

const examples = JSON.parse($('examples').textContent);
const map = new PodMap($('map'), (pod) => dump && picked(pod));

/** What is shown: the engine that holds it, its name, its workloads, its zones, the moments to choose from. `null` while the first one loads. */
let dump = null;
let state = fresh();
/** The decision, what becomes of each pod, and the plan in its place if the user chooses. */
let shown = null;

/** Asks about the dump that is shown. `undefined` if another one has replaced it meanwhile, because its answers follow. */
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
 * Shows a dump, or returns what is wrong. `name` is what errors call it. `modified` is when its file was written, if it is one. `link` is how a link names it: that of
 * a user's own pods is in no link until they copy one.
 */
async function load(name, file, chosen = {}, { example = null, link = null, modified } = {}) {
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
        return loading === engine && complain(`${name}: ${error.message}`);
    } finally {
        if (loading === engine) tell('');
    }
    if (loading !== engine) return undefined;
    $('paste').close();
    const named = chosen.workload && { short: chosen.workload, namespace: chosen.namespace, kind: KINDS[chosen.workload.split('/')[0]] };
    const first = read.workloads.find(({ short, namespace }) => short === chosen.workload && namespace === chosen.namespace)
        // A workload without pods is not listed, but an answer can be about one.
        ?? named ?? read.workloads[0];
    if (!first) return engine.end(), complain(`${name}: no workload in it has pods`);
    const next = { ...read, engine, name, example, link, zones: read.zones, started };
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
        scene = await next.engine.ask('scene', options({ ...chosen, replicas: chosen.replicas ?? 0 }));
    } catch (error) {
        if (choice !== choices) return;
        tell('');
        const accept = () => choose(next, { ...chosen, partial: true });
        complain(`${next.name}: ${error.message}`, error.remedy === 'partial' && ['Decide all the same', accept]);
        return;
    }
    // Somebody was quicker, and chose something else.
    if (choice !== choices || !scene) return;
    complain('');
    if (dump && dump.engine !== next.engine) dump.engine.end();
    [dump, state, loading] = [next, chosen, null];
    if (state.dumped) [state.now, state.nowText] = [Date.parse(scene.now), scene.now];
    const newest = scene.newest ? Date.parse(scene.newest) : state.now;
    // Ages begin at the latest change, so nobody chooses a moment before it.
    if (!state.dumped && state.now < newest + 1000) [state.now, state.nowText] = [newest + 1000, null];
    dump.moments = new Moments(newest, state.now);
    const most = scene.active;
    state.replicas = countOf(state.workload) ? Math.min(state.replicas ?? Math.ceil(most / 2), most) : null;
    showSources();
    if (most > MOST_EACH) $('overview').before($('list'));
    else $('overview').after($('list'));
    $('list').open = most > MOST_EACH;
    delete $('list').dataset.all;
    if (!dump.example && !dump.link) history.replaceState(null, '', location.pathname + location.search);
    $('strip').replaceChildren();
    await decide();
    resample();
}

/** The workloads of what is shown, and the examples. */
function showSources() {
    const { workloads, example } = dump;
    const own = (workloads.includes(state.workload) ? workloads : [state.workload, ...workloads]).map((workload) =>
        el('option', { value: workloads.indexOf(workload), selected: workload === state.workload ? '' : null },
            workload.namespace === 'default' ? workload.short : `${workload.short} in ${workload.namespace}`));
    const others = Object.entries(examples).filter(([name]) => name !== example).map(([name, { title }]) => el('option', { value: name }, title));
    $('workload').replaceChildren(el('optgroup', { label: example ? `Example: ${examples[example].title}` : dump.name }, own),
        el('optgroup', { label: example ? 'Other examples' : 'Examples' }, others));
    $('about').textContent = example ? examples[example].about : `${dump.name}. It stays in this page: nothing is sent anywhere.`;
}

/** Says what takes its time, if it takes longer. */
let telling;
function tell(text, after = 0) {
    clearTimeout(telling);
    const show = () => ($('working').textContent = text);
    if (after > 0) telling = setTimeout(show, after);
    else show();
}

/** Says what is wrong, in the dialog if it is open, and returns it. Without a text, nothing is. */
function complain(text, remedy = null) {
    const inDialog = $('paste').open;
    for (const [place, isHere] of [[$('paste-error'), inDialog], [$('error'), !inDialog]]) {
        place.textContent = isHere ? text : '';
        place.hidden = !place.textContent;
    }
    if (remedy) $('error').append(' ', el('button', { type: 'button', class: 'quiet', onclick: remedy[1] }, remedy[0]));
    return text;
}

const showExample = (name, chosen = {}) => {
    const { replicas, now, text } = examples[name];
    return load(`The example ${name}`, new Blob([text]), { replicas, now: Date.parse(now), nowText: now, ...chosen }, { example: name });
};

/** Shows what a page or a link holds. Anybody can have made it: the module checks what it says. */
const showGiven = ({ title, dump, options: { namespace, workload, replicas, now, order, featureGates, burstReplicas, partial } }, hash) => {
    const chosen = { namespace, workload, replicas, now: Date.parse(now), nowText: now, order, gates: featureGates ?? {}, burstReplicas, partial };
    return load(title, new Blob([JSON.stringify(dump)]), fromLink(hash, chosen), { link: hash });
};

const loadText = (text) => load('the pasted text', new Blob([text]));
const loadFile = async (file) => file && load(file.name, file, {}, { modified: file.lastModified });

/** Shows what the end of a link says. False if it says nothing. */
async function showLink(hash) {
    const name = new URLSearchParams(hash.slice(1)).get('example');
    const packed = /^#dump=([^&]*)/.exec(hash)?.[1];
    if (packed !== undefined) {
        const wrong = await unpack(packed).then((given) => showGiven(given, hash), ({ message }) => message);
        if (wrong && !dump) await showExample('rollout');
        if (wrong) complain(wrong);
    } else if (Object.hasOwn(examples, name)) {
        await showExample(name, fromLink(hash, { replicas: examples[name].replicas, now: Date.parse(examples[name].now), nowText: examples[name].now }));
    } else return false;
    return true;
}

/* Deciding. */

/** A pod as the map has it. `place` is its number in the order, if there is one order. */
const faces = (pods, isOneOrder) => pods.map(([name, node, fate, odds], index) => ({ name, node, fate, odds, place: isOneOrder ? index + 1 : null }));

const decide = latest(async () => {
    tell('Deciding…', 50);
    const asked = options(state);
    const [isSteering, wanted] = [state.steering, [...state.wanted]];
    let answer;
    let made = null;
    try {
        answer = await ask('decide', asked);
        if (isSteering && wanted.length > 0) made = await ask('steer', asked, wanted).catch((error) => ({ error }));
    } catch (error) {
        return complain(error.message);
    } finally {
        tell('');
    }
    if (!answer) return undefined;
    complain('');
    show(answer, made, asked);
    if (answer.oddsFollow) withOdds();
    return undefined;
});

function show(answer, made, asked) {
    const isPlanned = Boolean(made?.all);
    const pods = faces(made?.all ?? answer.pods, !isPlanned && answer.sets.length < 2);
    shown = { answer, made, pods };
    showAnswer(state, { ...answer, planned: isPlanned }, pods, dump.moments);
    $('answer').hidden = false;
    if (!pods.some(({ name }) => name === state.pod)) state.pod = atTheCut(pods);
    if (dump.example) history.replaceState(null, '', link(`example=${dump.example}`, state));
    const details = () => {
        map.show(pods, dump.zones, state.steering ? { wanted: state.wanted } : { picked: state.pod });
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

/** The odds of many pods take a while, so they follow when nothing moves. */
const withOdds = rested(async () => {
    const [asked, text] = [dump, options(state)];
    const answer = await ask('decide', options(state, { odds: true }));
    if (answer && dump === asked && text === options(state)) show(answer, shown.made, text);
}, 300);

/** The pod that says most: the first contested one, or else the last that goes. */
const atTheCut = (pods) => (pods.find(({ fate }) => fate === 'contested') ?? pods.findLast(({ fate }) => fate === 'delete') ?? pods[0])?.name;

const panel = latest(async () => {
    const { made, answer } = shown;
    $('panel-title').textContent = state.steering ? 'What you choose' : state.pod ? `Why ${short(state.pod)}?` : '';
    const shows = state.steering ? steering(made, answer) : await why();
    if (shows) $('panel').replaceChildren(...shows);
});

async function why() {
    const told = state.pod && (await ask('explain', options(state), state.pod));
    return told && explanation(told, shown.pods.find(({ name }) => name === told.pod.name)?.odds);
}

function steering(made, { active }) {
    if (!made) return nothingWanted(active - state.replicas);
    if (made.error) return [el('p', { class: 'blocked', role: 'alert' }, made.error.message)];
    return plan(made);
}

/** The whole list as a table, like the command line's. */
const list = latest(async () => {
    const all = Boolean($('list').dataset.all);
    const rows = await ask('rows', options(state), 0, all ? 1e9 : MOST_ROWS);
    if (!rows) return;
    $('rows').replaceChildren(...rows.map((pod, index) => row(pod, shown.answer.pods[index]?.[3])));
    const rest = shown.pods.length - rows.length;
    $('more').textContent = `${rest} more`;
    $('more').hidden = rest === 0;
});

/** Tells screen readers, once a slider rests. */
const announce = rested(() => ($('live').textContent = shown.answer.headline), 400);

/** Shows at which moments chance decides, behind the slider. */
const sample = latest(async () => {
    const isOff = !dump || !$('settings').open || shown.pods.length > MOST_AT_ONCE || state.order === 'total' || !isSteered(state.workload);
    $('strip').replaceChildren();
    $('strip-key').hidden = isOff;
    if (isOff) return;
    const { moments } = dump;
    const question = () => options(state, { now: undefined });
    const asked = question();
    for (let start = 0; start < SAMPLES; start += AT_ONCE) {
        const at = (index) => new Date(moments.at((start + index) / (SAMPLES - 1)));
        const numbers = await ask('contested', Array.from({ length: AT_ONCE }, (_, index) => options({ ...state, dumped: null }, { now: at(index) })));
        // If another question is asked by now, that one is sampled next.
        if (!numbers || asked !== question()) return;
        $('strip').append(...numbers.map((number) => el('i', { class: number > 0 ? 'open' : null })));
    }
});
const resample = rested(sample);

/* What the user does. */

/** Listens to a control of what is shown, which has no meaning while something else is loaded. */
const on = (element, event, act) => element.addEventListener(event, ({ target }) => dump && act(target));

/** Decides anew after a change of anything but the moment. */
function changed() {
    resample();
    decide();
}

function picked(pod) {
    if (!state.steering) {
        state.pod = pod;
        map.show(shown.pods, dump.zones, { picked: pod });
        return panel().then(() => $('panel-title').scrollIntoView({ block: 'nearest' }));
    }
    if (!state.wanted.delete(pod)) state.wanted.add(pod);
    return decide();
}

function setCount(value) {
    const replicas = Math.min(Math.max(Math.round(Number(value) || 0), 0), shown.answer.active);
    if (replicas === state.replicas) return;
    // What the count changes is at the cut.
    [state.replicas, state.pod] = [replicas, null];
    changed();
}

on($('slider'), 'input', ({ value }) => setCount(value));
on($('count'), 'input', ({ value }) => value !== '' && setCount(value));
on($('count'), 'blur', (field) => (field.value = state.replicas));
on($('moment'), 'input', ({ value }) => {
    [state.nowText, state.dumped, state.isSnapshot] = [null, null, false];
    state.now = dump.moments.fromStep(value);
    // What the moment changes is at the cut.
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
// The count stays, and what was chosen is there again afterwards.
on($('choose'), 'click', () => {
    state.steering = !state.steering;
    decide();
});
on($('workload'), 'change', ({ value }) => {
    if (Object.hasOwn(examples, value)) return showExample(value);
    const { now, nowText, dumped, isSnapshot, order, gates } = state;
    const workload = dump.workloads[value];
    const kept = isSteered(workload) ? { order, gates } : {};
    return choose(dump, { ...fresh(), now, nowText, dumped, isSnapshot, ...kept, workload });
});
on($('list'), 'toggle', ({ open }) => open && list());
on($('more'), 'click', () => {
    $('list').dataset.all = 'yes';
    list();
});
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
addEventListener('hashchange', () => showLink(location.hash));

/* Copies. */

const base = () => location.href.split('#')[0];
let shared = '';

on($('copy-command'), 'click', () => copy($('copy-command'), () => $('command').textContent));
on($('copy-markdown'), 'click', () => copy($('copy-markdown'), () => ask('markdown', options(state))));
on($('copy-link'), 'click', async () => {
    if (dump.example) return copy($('copy-link'), () => base() + link(`example=${dump.example}`, state));
    try {
        shared = base() + link(`dump=${await pack(await ask('share', options(state)))}`, state);
    } catch (error) {
        return complain(`No link: ${error.message}`);
    }
    const isFile = location.protocol === 'file:' ? ' This page is a file on this computer, so the link opens only here.' : '';
    const isLong = shared.length > MOST_IN_LINK ? ' Not every browser and chat takes a link that long.' : '';
    $('sharing-size').textContent = `${count(shown.pods.length, 'pod')}, ${size(shared.length)}.${isLong}${isFile}`;
    return $('sharing').showModal();
});
$('close-sharing').addEventListener('click', () => $('sharing').close());
$('copy-sharing').addEventListener('click', async () => {
    await copy($('copy-sharing'), () => shared, 600);
    $('sharing').close();
});
on($('copy-picture'), 'click', async () => {
    const { answer, pods } = shown;
    const bytes = await png(picture(answer.headline, told(pods, answer), pods, dump.zones));
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
