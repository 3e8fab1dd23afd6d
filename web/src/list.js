// All pods as a table, like the command line's: some rows at first, those that a filter finds, and each opens what is known of its pod.
import { $, el, write } from './dom.js';

/** How many rows there are at first, and how many more at a time. */
const [FIRST, MORE] = [10, 100];

export class List {
    #most = FIRST;

    /** Calls `onpick` with the pod of a row, and `onchange` if other pods should be shown. */
    constructor(onpick, onchange) {
        [this.onpick, this.onchange] = [onpick, onchange];
        $('more').addEventListener('click', () => {
            this.#most += MORE;
            onchange();
        });
        $('filter').addEventListener('input', () => {
            this.#most = FIRST;
            onchange();
        });
    }

    /** For another workload, clears the filter and shows the first pods. */
    reset() {
        [this.#most, $('filter').value] = [FIRST, ''];
    }

    /** The positions of the pods whose rows are shown, and how many more pods there are. */
    places(pods) {
        const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
        const found = pods.flatMap(({ name, node, age }, place) =>
            (words.every((word) => name.includes(word) || node?.includes(word) || age === word) ? [place] : []));
        return { places: found.slice(0, this.#most), rest: Math.max(found.length - this.#most, 0) };
    }

    /** Shows rows. `faces` are those of their pods, and `marked` the pods that are picked or chosen. */
    show(rows, faces, rest, marked) {
        const tables = $('rows');
        const focused = tables.contains(document.activeElement) && document.activeElement.textContent;
        tables.replaceChildren(...rows.map((pod, index) => this.#row(pod, faces[index], marked)));
        if (focused) [...tables.querySelectorAll('button')].find(({ textContent }) => textContent === focused)?.focus({ preventScroll: true });
        $('none').hidden = rows.length > 0;
        write($('more'), `${rest} more`);
        $('more').hidden = rest === 0;
    }

    #row({ name, node, verdict, probability, short }, face, marked) {
        const isMarked = marked.has(name);
        return el('tr', { 'data-fate': verdict, class: isMarked ? 'marked' : null },
            el('td', {}, face?.probability ?? (probability === undefined ? verdict : `${Math.round(probability * 100)}%`)),
            el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link', 'aria-pressed': `${isMarked}`, onclick: () => this.onpick(name) }, name),
                face?.age ? el('small', { class: 'age' }, face.age) : null),
            el('td', {}, node ?? '–'), el('td', {}, short));
    }
}
