// All workloads of a dump, a row each, as `kubectl podrank` prints them: who goes first if the count falls by one.
import { $, el } from './dom.js';

/** Shows what is known of each workload. `onpick` is told the one that a row is about, and `chosen` is the one that is shown. */
export function showOverview({ header, rows }, chosen, onpick) {
    const titles = header.map((title) => el('th', { scope: 'col' }, title[0] + title.slice(1).toLowerCase()));
    $('workloads-head').replaceChildren(el('tr', {}, titles));
    $('workloads-rows').replaceChildren(...rows.map(({ namespace, short, cells }) => {
        const isChosen = chosen?.short === short && chosen.namespace === namespace;
        // The name stands in the first cell, or after that of its namespace.
        const named = header.indexOf('WORKLOAD');
        return el('tr', { class: isChosen ? 'marked' : null }, cells.map((cell, index) => (index === named
            ? el('th', { scope: 'row' }, el('button', { type: 'button', class: 'link', onclick: () => onpick(short, namespace) }, cell))
            : el('td', {}, cell))));
    }));
}
