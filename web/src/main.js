// The page: what is shown, what was chosen, and the link that holds it.
import { $, copy, count, el } from './dom.js';
import { Engine, latest } from './engine.js';
import { PodMap } from './map.js';
import { explanation, fate, plan } from './panel.js';

const MOMENTS = 1000;
const SAMPLES = 120;
/** Up to this many pods, the slider of the moment shows when pods are contested. */
const MOST_SAMPLED = 500;
const SECOND = 1000;
const DAY = 86400 * SECOND;

const examples = JSON.parse($('examples').textContent);
const given = JSON.parse($('given').textContent);
const bytes = (text) => new TextEncoder().encode(text);
const module = Uint8Array.from(atob($('module').textContent), (byte) => byte.charCodeAt(0));
const engine = new Engine($('worker').textContent, module);
const map = new PodMap($('map'), picked);

const fresh = () => ({
    workload: null, replicas: null, now: null, order: 'kubernetes', gates: {}, partial: false,
    uid: null, steering: false, wanted: new Map(), ahead: false,
});
let source = null;
let state = fresh();
let dump = null;
let shown = null;

const time = (milliseconds) => new Date(milliseconds).toISOString().replace('.000Z', 'Z');
const options = (changes = {}) => JSON.stringify({
    namespace: state.workload?.namespace,
    workload: state.workload?.short,
    replicas: state.replicas ?? undefined,
    now: state.nowText ?? time(state.now),
    order: state.order,
    featureGates: state.gates,
    burstReplicas: state.burstReplicas ?? undefined,
    partial: state.partial,
    ...changes,
});

/* Where the dump comes from. */

async function load(name, text, wanted = {}) {
    let read;
    try {
        read = await engine.ask('read', text);
    } catch (error) {
        return complain(name.startsWith('example:') ? error.message : `${name}: ${error.message}`);
    }
    source = name;
    dump = read;
    state = { ...fresh(), now: Date.now(), ...wanted };
    $('paste').close?.();
    for (const tab of document.querySelectorAll('[data-example]')) {
        tab.setAttribute('aria-pressed', `example:${tab.dataset.example}` === name);
    }
    $('own').setAttribute('aria-pressed', !name.startsWith('example:'));
    $('about').textContent = name.startsWith('example:') ? examples[name.slice(8)].about
        : `${name}. It stays in this page: nothing is sent anywhere.`;
    $('share').hidden = !name.startsWith('example:');
    if (!name.startsWith('example:')) history.replaceState(null, '', location.pathname + location.search);
    if (read.workloads.length === 0) return complain(`${name}: no workload in it has pods`);
    const chosen = wanted.workload ?? read.workloads[0].short;
    const isKnown = read.workloads.some((workload) => workload.short === wanted.workload);
    if (wanted.workload && !isKnown) read.workloads.push({ short: wanted.workload, namespace: wanted.namespace });
    const is = (workload) => workload.short === chosen && workload.namespace === (wanted.namespace ?? workload.namespace);
    await choose(read.workloads.find(is) ?? read.workloads[0]);
}

async function choose(workload) {
    state.workload = workload;
    $('workload').replaceChildren(...dump.workloads.map((other, index) =>
        el('option', { value: index, selected: other === workload ? '' : null }, `${other.short} in ${other.namespace}`)));
    $('workload-field').hidden = dump.workloads.length < 2;
    let pods;
    try {
        pods = await engine.ask('pods', options({ replicas: 0 }));
    } catch (error) {
        return complain(error.message, error.message.includes('incomplete'));
    }
    complain('');
    dump.newest = pods.newest ?? state.now;
    dump.pods = pods.pods;
    // A rollout or a dump of earlier may have no room for the slider: it starts a second after the latest event.
    state.now = Math.max(state.now, dump.newest + SECOND);
    dump.span = Math.max((state.now - dump.newest) * 8, 2 * DAY) / SECOND;
    if (state.steering) state.replicas = pods.pods.length - state.wanted.size;
    state.replicas ??= Math.ceil(pods.pods.length / 2);
    map.show(pods.pods, dump.zones);
    $('replicas').max = $('replicas-number').max = pods.pods.length;
    $('answer').hidden = false;
    await decide();
    sample();
}

function complain(text, isPartial = false) {
    for (const place of [$('error'), $('paste-error')]) {
        place.textContent = place === $('error') && $('paste').open ? '' : text;
        place.hidden = !place.textContent;
    }
    if (isPartial) {
        $('error').append(' ', el('button', { type: 'button', class: 'quiet', onclick: () => { state.partial = true; choose(state.workload); } }, 'Decide all the same'));
    }
    if (isPartial) $('answer').hidden = true;
}

/* What is decided. */

const decide = latest(async () => {
    const slow = setTimeout(() => ($('working').hidden = false), 50);
    const asked = options();
    try {
        shown = await engine.ask('decide', asked);
        complain('');
    } catch (error) {
        return complain(error.message);
    } finally {
        clearTimeout(slow);
        $('working').hidden = true;
    }
    map.update(shown.order, shown.head.fates);
    controls();
    if (!state.uid || !dump.pods.some((pod) => pod.uid === state.uid)) state.uid = atTheCut();
    map.mark(state.uid, state.wanted);
    remember();
    later(panel);
    announce();
    if ($('list').open) await list();
    document.documentElement.dataset.decided = asked;
});

/** The pod that says most: the first contested one, or else the last that goes. */
function atTheCut() {
    let at = 0;
    for (const [gone, contested, kept] of shown.head.fates) {
        if (contested > 0) return dump.pods[shown.order[at + gone]].uid;
        at += gone + contested + kept;
    }
    const [gone] = shown.head.fates[0] ?? [0];
    return dump.pods[shown.order[Math.max(gone - 1, 0)]]?.uid;
}

const totals = () => shown.head.fates.reduce((sum, fates) => sum.map((number, index) => number + fates[index]), [0, 0, 0]);

function controls() {
    const { head } = shown;
    const [gone, contested, kept] = totals();
    for (const id of ['replicas', 'replicas-number']) if (document.activeElement !== $(id)) $(id).value = state.replicas;
    $('replicas').value = state.replicas;
    $('replicas').style.setProperty('--part', `${(100 * state.replicas) / Math.max(1, dump.pods.length)}%`);
    const verb = (number) => (number === 1 ? 'goes' : 'go');
    $('summary').replaceChildren(
        el('span', { class: 'tally', 'data-fate': 'delete' }, el('b', {}, `${gone}`), ` certainly ${verb(gone)}`),
        el('span', { class: 'tally', 'data-fate': 'contested' }, el('b', {}, contested ? `${head.quota} of ${contested}` : '0'), ' contested'),
        el('span', { class: 'tally', 'data-fate': 'keep' }, el('b', {}, `${kept}`), kept === 1 ? ' stays' : ' stay'));
    const moment = (MOMENTS * Math.log((state.now - dump.newest) / SECOND)) / Math.log(dump.span);
    if (document.activeElement !== $('moment')) $('moment').value = Math.round(moment);
    $('moment-text').textContent = `${state.nowText ?? time(state.now)}, ${ago(state.now - dump.newest)} after the latest change${dump.pods.length > MOST_SAMPLED || state.order === 'total' ? '' : '. Brown: pods are contested'}`;
    $('moment').setAttribute('aria-valuetext', $('moment-text').textContent);
    for (const radio of document.querySelectorAll('[name=order]')) radio.checked = radio.value === state.order;
    for (const box of document.querySelectorAll('[data-gate]')) {
        box.checked = state.gates[box.dataset.gate] ?? box.defaultChecked;
        if (box.dataset.gate === 'PreferForScaleDown') box.disabled = state.order !== 'total';
    }
    $('sets').hidden = !head.sets;
    if (head.sets) {
        $('sets').replaceChildren(...head.sets.map((set, index) => el('li', {},
            el('b', {}, head.sets.length > 1 ? `${'abcdefghijklmnopqrstuvwxyz'[index] ?? ''} ` : ''),
            `${set.replicaSet ?? 'a new ReplicaSet'}: ${set.from} → ${set.to}`, el('span', { class: 'soft' }, ` ${set.why}`))));
    }
    $('notes').replaceChildren(...head.notes.map((note) => el('li', {}, note.text)));
    $('notes').hidden = head.notes.length === 0;
    const gates = Object.entries(state.gates).map(([name, value]) => `${name}=${value}`);
    $('command').textContent = [
        `kubectl podrank ${state.workload.short} --replicas ${state.replicas}`,
        state.workload.namespace === 'default' ? '' : `--namespace ${state.workload.namespace}`,
        `--now ${state.nowText ?? time(state.now)}`,
        state.order === 'total' ? '--order total' : '',
        gates.length ? `--feature-gates ${gates.join(',')}` : '',
        '-f dump.json',
    ].filter(Boolean).join(' ');
    for (const mode of ['look', 'steer']) $(mode).setAttribute('aria-pressed', (mode === 'steer') === state.steering);
    $('hint').textContent = state.steering ? 'Click the pods that should go.' : 'Click a pod to see why.';
    document.documentElement.classList.toggle('steering', state.steering);
    for (const id of ['replicas', 'replicas-number']) $(id).disabled = state.steering;
}

function ago(milliseconds) {
    const seconds = Math.round(milliseconds / SECOND);
    if (seconds < 120) return `${seconds} s`;
    if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
    return seconds < 2 * 86400 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86400)} days`;
}

/** At once; but while a slider moves over thousands of pods, only when it rests. */
let resting;
function later(tell) {
    clearTimeout(resting);
    if (dump.pods.length > MOST_SAMPLED) resting = setTimeout(tell, 150);
    else tell();
}

const panel = latest(async () => {
    const title = $('panel-title');
    if (state.steering) {
        title.textContent = 'Steer';
        const names = [...state.wanted.keys()];
        if (names.length === 0) {
            $('panel').replaceChildren(el('p', { class: 'soft' }, 'Click the pods you want gone. Here you then see the fewest deletion costs that make Kubernetes take exactly these, the commands to copy, and what is in the way.'));
            return;
        }
        try {
            $('panel').replaceChildren(...plan(await engine.ask('steer', options({ replicas: undefined }), names, state.ahead)).flat());
        } catch (error) {
            const take = () => { state.ahead = true; decide(); };
            const isBlocked = error.message.includes('cannot be had');
            $('panel').replaceChildren(el('p', { class: 'blocked', role: 'alert' }, error.message),
                isBlocked ? el('button', { type: 'button', class: 'primary', onclick: take }, 'Take what is in the way, too') : '');
        }
        return;
    }
    title.textContent = 'Why?';
    const told = state.uid && (await engine.ask('explain', options(), state.uid));
    if (told && !state.steering) $('panel').replaceChildren(...explanation(told, (uid) => { state.uid = uid; decide(); }));
});

function picked(pod) {
    if (state.steering) {
        state.wanted.has(pod.name) ? state.wanted.delete(pod.name) : state.wanted.set(pod.name, true);
        state.ahead = false;
        // The answer of the map follows the wish: as many go as were clicked.
        state.replicas = dump.pods.length - state.wanted.size;
    } else {
        state.uid = pod.uid;
    }
    document.documentElement.classList.add('asked');
    decide();
}

/** The whole list as a table, like the command line's. */
async function list() {
    const rows = await engine.ask('rows', options(), 0, $('list').dataset.all ? 1e9 : 100);
    const cell = (pod) => [`${pod.position}`, fate(pod.verdict), pod.name, pod.node ?? 'none', `${pod.rank}`, pod.age ?? 'unset', pod.rule ?? '–', pod.why];
    $('rows').replaceChildren(...rows.map((pod) => el('tr', {}, cell(pod).map((value, index) =>
        el(index === 2 ? 'th' : 'td', index === 2 ? { scope: 'row' } : {}, value)))));
    $('more').hidden = rows.length === dump.pods.length;
}

let announced;
function announce() {
    clearTimeout(announced);
    const [gone, contested, kept] = totals();
    announced = setTimeout(() => {
        $('live').textContent = `At ${count(state.replicas, 'replica')}, ${count(gone, 'pod')} certainly go, ${shown.head.quota} of ${contested} contested pods go, ${kept} stay.`;
    }, 400);
}

/** Shows at which moments pods are contested, behind the slider. */
const sample = latest(async () => {
    const strip = $('strip');
    strip.replaceChildren();
    if (dump.pods.length > MOST_SAMPLED || state.order === 'total') return;
    const asked = source + options({ now: undefined });
    const at = (index) => dump.newest + SECOND * dump.span ** (index / (SAMPLES - 1));
    for (let start = 0; start < SAMPLES; start += 20) {
        const all = Array.from({ length: 20 }, (_, index) => options({ now: time(Math.round(at(start + index))) }));
        const numbers = await engine.ask('contested', all).catch(() => []);
        if (asked !== source + options({ now: undefined })) return;
        strip.append(...numbers.map((number) => el('i', { class: number > 0 ? 'open' : null })));
    }
});

/* The link. */

function remember() {
    if (!source.startsWith('example:')) return;
    const link = new URLSearchParams({ example: source.slice(8), replicas: state.replicas, now: state.nowText ?? time(state.now) });
    if (state.order !== 'kubernetes') link.set('order', state.order);
    for (const [gate, value] of Object.entries(state.gates)) link.set(gate, value);
    if (state.steering) link.set('steer', [...state.wanted.keys()].join(','));
    history.replaceState(null, '', `#${link}`);
}

function fromLink() {
    const link = new URLSearchParams(location.hash.slice(1));
    const example = examples[link.get('example')];
    if (!example) return null;
    const number = Number.parseInt(link.get('replicas') ?? example.replicas, 10);
    const now = Date.parse(link.get('now') ?? example.now);
    const gates = {};
    for (const box of document.querySelectorAll('[data-gate]')) {
        if (link.has(box.dataset.gate)) gates[box.dataset.gate] = link.get(box.dataset.gate) === 'true';
    }
    const wanted = (link.get('steer') ?? '').split(',').filter(Boolean).map((name) => [name, true]);
    return {
        name: link.get('example'),
        replicas: Number.isFinite(number) ? Math.max(0, number) : example.replicas,
        now: Number.isFinite(now) ? now : Date.parse(example.now),
        order: link.get('order') === 'total' ? 'total' : 'kubernetes',
        gates, steering: link.has('steer'), wanted: new Map(wanted),
    };
}

const showExample = (name, wanted = { replicas: examples[name].replicas, now: Date.parse(examples[name].now) }) =>
    load(`example:${name}`, bytes(examples[name].text), wanted);

/* What the user does. */

const setReplicas = (value) => {
    const number = Math.min(Math.max(Math.round(Number(value) || 0), 0), dump.pods.length);
    if (number === state.replicas) return;
    state.replicas = number;
    if (source.startsWith('example:') || dump.pods.length <= MOST_SAMPLED) resample();
    decide();
};
let resampling;
const resample = () => {
    clearTimeout(resampling);
    resampling = setTimeout(sample, 150);
};
$('replicas').addEventListener('input', ({ target }) => setReplicas(target.value));
$('replicas-number').addEventListener('input', ({ target }) => target.value !== '' && setReplicas(target.value));
$('moment').addEventListener('input', ({ target }) => {
    state.nowText = null;
    state.now = Math.round(dump.newest + SECOND * dump.span ** (target.value / MOMENTS));
    // The follow-up of the circle is more telling than the pod that was chosen by hand.
    state.uid = null;
    decide();
});
for (const radio of document.querySelectorAll('[name=order]')) {
    radio.addEventListener('change', () => {
        state.order = radio.value;
        if (state.order !== 'total') delete state.gates.PreferForScaleDown;
        resample();
        decide();
    });
}
for (const box of document.querySelectorAll('[data-gate]')) {
    box.addEventListener('change', () => {
        if (box.checked === box.defaultChecked) delete state.gates[box.dataset.gate];
        else state.gates[box.dataset.gate] = box.checked;
        resample();
        decide();
    });
}
for (const mode of ['look', 'steer']) {
    $(mode).addEventListener('click', () => {
        if (state.steering === (mode === 'steer')) return;
        state.steering = mode === 'steer';
        state.wanted = new Map();
        state.replicas = state.steering ? dump.pods.length : Math.ceil(dump.pods.length / 2);
        resample();
        decide();
    });
}
$('workload').addEventListener('change', ({ target }) => {
    state = { ...fresh(), now: state.now, nowText: state.nowText };
    choose(dump.workloads[target.value]);
});
for (const tab of document.querySelectorAll('[data-example]')) tab.addEventListener('click', () => showExample(tab.dataset.example));
$('own').addEventListener('click', () => {
    $('paste-error').hidden = true;
    $('paste').showModal();
});
$('read').addEventListener('click', () => load('the pasted text', bytes($('text').value)));
$('file').addEventListener('change', async ({ target }) => {
    const [file] = target.files;
    if (file) load(file.name, new Uint8Array(await file.arrayBuffer()));
    target.value = '';
});
$('close-paste').addEventListener('click', () => $('paste').close());
addEventListener('dragover', (event) => {
    event.preventDefault();
    document.documentElement.classList.add('dropping');
});
addEventListener('dragleave', (event) => event.relatedTarget ?? document.documentElement.classList.remove('dropping'));
addEventListener('drop', async (event) => {
    event.preventDefault();
    document.documentElement.classList.remove('dropping');
    const [file] = event.dataTransfer.files;
    if (file) load(file.name, new Uint8Array(await file.arrayBuffer()));
});
$('list').addEventListener('toggle', () => $('list').open && list());
$('more').addEventListener('click', () => {
    $('list').dataset.all = 'yes';
    list();
});
$('copy-command').addEventListener('click', () => copy($('command').textContent));
$('share').addEventListener('click', async () => {
    $('share').textContent = (await copy(location.href)) ? 'Link copied' : 'Copy the address';
    setTimeout(() => ($('share').textContent = 'Copy link'), 1500);
});
$('close-panel').addEventListener('click', () => document.documentElement.classList.remove('asked'));
$('theme').addEventListener('click', () => {
    const root = document.documentElement;
    const isDark = (root.dataset.theme ?? (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')) === 'dark';
    root.dataset.theme = isDark ? 'light' : 'dark';
});
addEventListener('hashchange', () => {
    const link = fromLink();
    if (link) showExample(link.name, link);
});

/** What tests ask, so that they need no way of their own into the module. */
globalThis.podrank = { ask: (...given) => engine.ask(...given), bytes };

if (given) {
    $('own').textContent = given.title;
    load(given.title, bytes(JSON.stringify(given.dump)), {
        ...given.options,
        now: Date.parse(given.options.now),
        nowText: given.options.now,
        gates: given.options.featureGates,
    });
} else {
    const link = fromLink();
    link ? showExample(link.name, link) : showExample('circle');
}
