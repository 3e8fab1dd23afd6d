// The nodes by zone with their pods. Draws pods once, and then changes only those whose place or verdict changes.
import { letter } from './controls.js';
import { el, short } from './dom.js';

export const FATES = ['delete', 'contested', 'later', 'keep'];
export const FATE_WORDS = { delete: 'goes', contested: 'may go', later: 'goes later', keep: 'stays' };

export class PodMap {
    constructor(root, onpick) {
        this.root = root;
        root.addEventListener('click', (event) => {
            const pod = event.target.closest('.pod');
            if (pod) onpick(this.pods[pod.dataset.index]);
        });
        root.addEventListener('keydown', (event) => this.#move(event));
    }

    /** Draws the pods of a workload. */
    show(pods, zones) {
        this.pods = pods;
        this.fates = new Uint8Array(pods.length).fill(255);
        this.places = new Uint32Array(pods.length);
        this.odds = [];
        this.sets = new Set(pods.map((pod) => pod.set)).size;
        const nodes = new Map();
        pods.forEach((pod, index) => {
            const node = pod.node ?? '';
            if (!nodes.has(node)) nodes.set(node, []);
            nodes.get(node).push(index);
        });
        const byZone = new Map();
        for (const node of [...nodes.keys()].sort()) {
            const zone = node === '' ? '\uffff' : (zones[node] ?? '');
            if (!byZone.has(zone)) byZone.set(zone, []);
            byZone.get(zone).push(node);
        }
        this.elements = pods.map((pod, index) =>
            el('button', { type: 'button', class: 'pod', tabindex: '-1', 'data-index': index, 'aria-pressed': 'false' },
                el('b'), ' ', el('span', {}, short(pod.name))));
        this.root.dataset.size = pods.length > 1500 ? 'tiny' : pods.length > 120 ? 'small' : 'normal';
        this.root.replaceChildren(...[...byZone.keys()].sort().map((zone) => {
            const title = zone === '\uffff' ? 'Not on a node' : zone || (byZone.size > 1 ? 'Zone unknown' : 'Nodes');
            const cards = byZone.get(zone).map((node) =>
                el('div', { class: 'node', role: 'group', 'aria-label': node ? `Node ${node}` : 'No node' },
                    node ? el('h4', {}, node) : null,
                    el('div', { class: 'pods' }, nodes.get(node).map((index) => this.elements[index]))));
            return el('section', { class: 'zone' }, el('h3', {}, title), el('div', { class: 'nodes' }, cards));
        }));
        this.marked = new Set();
        this.current = 0;
        this.elements[0]?.setAttribute('tabindex', '0');
    }

    /** Shows a decision: the pods in the order, for each set how many have each verdict, and how likely contested pods go. */
    update(order, fates, odds) {
        let at = 0;
        for (const [set, numbers] of fates.entries()) {
            let place = 0;
            numbers.forEach((number, fate) => {
                for (const end = at + number; at < end; at++) {
                    this.#set(order[at], fate, ++place, set, odds[at]);
                }
            });
        }
    }

    /** Fades the pods that have gone: so many of each set, of those that certainly go. */
    fade(order, fates, gone) {
        let at = 0;
        for (const [set, numbers] of fates.entries()) {
            const end = at + numbers.reduce((sum, number) => sum + number);
            const faded = at + Math.min(gone[set] ?? 0, numbers[0]);
            for (; at < end; at++) this.elements[order[at]].classList.toggle('gone', at < faded);
        }
    }

    #set(index, fate, place, set, odds) {
        if (this.fates[index] === fate && this.places[index] === place && this.odds[index] === odds) return;
        this.fates[index] = fate;
        this.places[index] = place;
        this.odds[index] = odds;
        const element = this.elements[index];
        const pod = this.pods[index];
        // Of contested pods, none is first.
        const number = odds ?? (this.sets > 1 ? `${place}${letter(set)}` : `${place}`);
        element.dataset.fate = FATES[fate];
        element.firstChild.textContent = number;
        element.setAttribute('aria-label',
            `${number} ${short(pod.name)} ${FATE_WORDS[FATES[fate]]}: ${pod.name}, ${pod.node ? `on ${pod.node}` : 'not on a node'}`);
        element.title = pod.name;
    }

    /** Marks pods: the one that is explained, and those that are wanted gone. */
    mark(uid, wanted = new Set()) {
        const isMarked = (pod) => pod.uid === uid || wanted.has(pod.name);
        const marked = new Set();
        this.pods.forEach((pod, index) => isMarked(pod) && marked.add(index));
        for (const index of new Set([...this.marked, ...marked])) {
            const [pod, element] = [this.pods[index], this.elements[index]];
            element.classList.toggle('picked', pod.uid === uid);
            element.classList.toggle('wanted', wanted.has(pod.name));
            element.setAttribute('aria-pressed', marked.has(index));
        }
        this.marked = marked;
    }

    /** Arrow keys go from pod to pod, so that Tab needs one step for all of them. */
    #move(event) {
        const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };
        const focused = event.target.closest('.pod');
        if (!focused) return;
        const all = [...this.root.querySelectorAll('.pod')];
        const at = all.indexOf(focused);
        const to = event.key === 'Home' ? 0 : event.key === 'End' ? all.length - 1 : at + (steps[event.key] ?? 0);
        if (to === at || !all[to]) return;
        event.preventDefault();
        this.elements[this.current]?.setAttribute('tabindex', '-1');
        focused.setAttribute('tabindex', '-1');
        all[to].setAttribute('tabindex', '0');
        this.current = Number(all[to].dataset.index);
        all[to].focus();
    }
}
