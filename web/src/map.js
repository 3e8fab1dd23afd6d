// The pods by zone and node. Up to a hundred are shown each. Above that, a line for each node has the number of its
// deleted pods.
import { el } from './dom.js';
import { places, share, tally } from './fates.js';

export const MOST_EACH = 100;
/** The most nodes of a zone that are shown before a click on the rest. */
const MOST_NODES = 50;

export class PodMap {
    constructor(root, onpick) {
        this.root = root;
        root.addEventListener('click', ({ target }) => {
            const pod = target.closest('.pod');
            if (pod) onpick(pod.dataset.name);
        });
        root.addEventListener('keydown', (event) => this.#move(event));
    }

    /** Shows pods, and highlights the picked and the selected ones. */
    show(pods, zones, { picked = null, wanted = new Set() }) {
        const isFocused = this.root.contains(document.activeElement) && document.activeElement.dataset.name;
        const open = new Set([...this.root.querySelectorAll('details[open]')].map(({ dataset }) => dataset.node));
        [this.picked, this.wanted] = [picked, wanted];
        const isSummed = pods.length > MOST_EACH;
        this.root.classList.toggle('summed', isSummed);
        this.root.replaceChildren(...places(pods, zones).map(({ title, pods, nodes }) => {
            const sorted = isSummed ? busiest(nodes) : nodes;
            const drawn = (nodes) => nodes.map((node) => (isSummed ? this.#summed(node, open.has(node.name)) : this.#each(node)));
            const list = el('div', { class: 'nodes' }, drawn(sorted.slice(0, MOST_NODES)));
            const rest = sorted.slice(MOST_NODES);
            const more = el('button', { type: 'button', class: 'quiet', onclick: () => (list.append(...drawn(rest)), more.remove()) }, `${rest.length} more nodes`);
            return el('section', { class: 'zone' }, el('h3', {}, title, ' ', el('span', { class: 'soft' }, share(pods))), list, rest.length > 0 ? more : null);
        }));
        const all = [...this.root.querySelectorAll('.pod')];
        const current = all.find(({ dataset }) => dataset.name === (isFocused || picked)) ?? all[0];
        current?.setAttribute('tabindex', '0');
        if (isFocused) current?.focus({ preventScroll: true });
    }

    #each({ name, pods }) {
        return el('div', { class: 'node', role: 'group', 'aria-label': name ? `Node ${name}` : 'No node' },
            name ? el('h4', {}, name) : null, el('div', { class: 'pods' }, pods.map((pod) => this.#pod(pod))));
    }

    /** Its pods are drawn when they are asked for. */
    #summed({ name, pods }, isOpen) {
        const numbers = tally(pods);
        const parts = ['deleted', 'possible', 'waiting', 'kept'].filter((fate) => numbers[fate] > 0)
            .map((fate) => el('i', { 'data-fate': fate, style: `flex-grow: ${numbers[fate]}` }));
        const list = el('div', { class: 'pods' });
        const fill = () => list.childElementCount === 0 && list.append(...pods.map((pod) => this.#pod(pod)));
        if (isOpen) fill();
        return el('details', { class: 'node', 'data-node': name, open: isOpen ? '' : null, ontoggle: fill },
            el('summary', {}, el('span', { class: 'name' }, name || 'No node'), el('span', { class: 'bar', 'aria-hidden': 'true' }, parts), el('span', {}, share(pods))),
            list);
    }

    #pod({ name, label, node, fate, probability, age, set }) {
        const isMarked = this.wanted.has(name) || name === this.picked;
        // Kubernetes deletes them in one sync, so none is first.
        const mark = probability ?? { deleted: '×', possible: '?', kept: '' }[fate] ?? '…';
        return el('button', {
            type: 'button', class: `pod${name === this.picked ? ' picked' : ''}${this.wanted.has(name) ? ' wanted' : ''}`, tabindex: '-1',
            'data-name': name, 'data-fate': fate, 'aria-pressed': `${isMarked}`, title: name,
            'aria-label': `${mark} ${label}${age ? ` ${age}` : ''} ${fate}: ${name}${age ? ` of the ${age} ReplicaSet ${set}` : ''}, ${node ? `on ${node}` : 'not on a node'}`,
        }, el('b', {}, mark), ' ', el('span', {}, label), age ? ' ' : null, age ? el('small', { class: 'age' }, age) : null);
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
        this.root.querySelector('.pod[tabindex="0"]')?.setAttribute('tabindex', '-1');
        all[to].setAttribute('tabindex', '0');
        all[to].focus();
    }
}

/** The nodes that lose most come first. */
const busiest = (nodes) => nodes.map((node) => [tally(node.pods), node])
    .sort(([a], [b]) => b.deleted + b.possible - a.deleted - a.possible).map(([, node]) => node);
