// The answer as a picture: what the top of the page shows, for a channel or a document. Each part knows its size, so the picture is as large as they are.
import { svg } from './dom.js';
import { places, share, tally } from './fates.js';
import { MOST_EACH } from './map.js';

const TEXT = '#17202c';
const COLOURS = { deleted: ['#b3261e', '#ffffff'], possible: ['#fdf0d9', TEXT], waiting: ['#ffffff', TEXT], kept: ['#ffffff', TEXT] };
const EDGES = { deleted: '#b3261e', possible: '#8a5300', waiting: '#b3261e', kept: '#6b7787' };
/** podrank's own order predicts nothing. */
const FIRST_IN_ORDER = '#2456c8';
const MARGIN = 20;
/** The widest that the picture, a node and a zone beside others are. */
const [WIDEST, NODE, ZONE] = [912, 272, 288];
/** The most nodes of a picture. */
const MOST_NODES = 40;

/** The picture as an element. `title` is its first sentence and `keys` are `[fate, text]`. */
export function picture(title, keys, pods, zones, order) {
    const colour = (fate) => (order === 'total' && fate === 'deleted' ? [FIRST_IN_ORDER, '#ffffff', FIRST_IN_ORDER] : [...COLOURS[fate], EDGES[fate]]);
    const box = (width, height, fate) => part(width, height, (x, y) => svg('rect', {
        x, y, width, height, rx: 4, fill: colour(fate)[0], stroke: colour(fate)[2], 'stroke-width': 1.5, 'stroke-dasharray': fate === 'possible' ? '4 3' : null,
    }));
    const all = places(pods, zones);
    const isSummed = pods.length > MOST_EACH;
    const words = ({ label, probability, age }) => [label, probability, age].filter(Boolean).join(' ');
    const chipWidth = isSummed ? 0 : Math.max(76, ...pods.map((pod) => wide(words(pod), 12) + 16));
    const chip = (pod) => over(box(chipWidth, 28, pod.fate), line(words(pod), { size: 12, middle: chipWidth, fill: colour(pod.fate)[1], height: 28 }));
    const bar = (its) => {
        const parts = Object.entries(tally(its)).filter(([, number]) => number > 0);
        return beside([...parts.map(([fate, number]) => box((150 * number) / its.length, 16, fate)), line(share(its), { size: 12, height: 16 })], { gap: 0 });
    };
    let room = MOST_NODES;
    const node = ({ name, pods: its }) => stacked([line(name, { size: 12 }), isSummed ? bar(its) : beside(its.map(chip), { widest: Math.max(NODE, chipWidth) })], 2);
    const zone = ({ title: name, nodes, pods: its }) => {
        const shown = nodes.slice(0, room);
        room -= shown.length;
        const rest = nodes.length - shown.length;
        return stacked([line(`${name}: ${share(its)}`, { bold: true }), beside(shown.map(node), { widest: all.length > 1 ? ZONE : WIDEST, gap: 12 }),
            rest > 0 ? line(`${rest} more nodes`) : null], 6);
    };
    const map = beside(all.map(zone), { gap: 24 });
    const key = ([fate, text]) => beside([box(14, 14, fate), line(text, { height: 14 })], { gap: 6 });
    const sentences = wrapped(title, Math.max(map.width, 480), 20).map((text) => line(text, { size: 20, bold: true }));
    const whole = stacked([stacked(sentences, 0), beside(keys.map(key), { gap: 20, widest: Math.max(map.width, 480) }), map], 14);
    const [width, height] = [Math.ceil(whole.width) + 2 * MARGIN, Math.ceil(whole.height) + 2 * MARGIN];
    return svg('svg', {
        xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${width} ${height}`, width, height, 'font-family': 'system-ui, sans-serif', fill: TEXT,
    }, svg('rect', { width: '100%', height: '100%', fill: '#ffffff' }), whole.draw(MARGIN, MARGIN));
}

/** A part has a width, a height, and draws itself at a place. */
const part = (width, height, draw) => ({ width, height, draw: (x, y) => [draw(x, y)].flat(Infinity) });

/** About how wide a text is. */
const wide = (text, size, bold = false) => text.length * size * (bold ? 0.57 : 0.54);

/** A text on one line; with `middle`, in the middle of that width. */
function line(text, { size = 14, bold = false, fill = null, middle = 0, height = size * 1.4 } = {}) {
    const anchor = middle > 0 ? { 'text-anchor': 'middle' } : {};
    return part(middle || wide(text, size, bold), height, (x, y) =>
        svg('text', { x: x + middle / 2, y: y + height / 2 + size * 0.36, 'font-size': size, 'font-weight': bold ? 700 : null, fill, ...anchor }, text));
}

const over = (below, above) => part(below.width, below.height, (x, y) => [below.draw(x, y), above.draw(x, y)]);

function stacked(parts, gap) {
    const its = parts.filter(Boolean);
    let height = -gap;
    const placed = its.map((one) => {
        const top = height + gap;
        height = top + one.height;
        return [one, top];
    });
    return part(Math.max(0, ...its.map(({ width }) => width)), Math.max(height, 0), (x, y) => placed.map(([one, top]) => one.draw(x, y + top)));
}

/** One beside the other, on as many lines as it takes. */
function beside(parts, { gap = 8, widest = WIDEST } = {}) {
    const lines = [];
    let width = Infinity;
    for (const one of parts) {
        if (width + gap + one.width > widest) {
            lines.push([]);
            width = -gap;
        }
        lines.at(-1).push([one, width + gap]);
        width += gap + one.width;
    }
    const rows = lines.map((its) => part(Math.max(...its.map(([one, left]) => left + one.width)), Math.max(...its.map(([one]) => one.height)),
        (x, y) => its.map(([one, left]) => one.draw(x + left, y))));
    return stacked(rows, gap === 0 ? 6 : gap);
}

/** The lines of a text. */
function wrapped(text, widest, size) {
    const lines = [''];
    for (const word of text.split(' ')) {
        const longer = `${lines.at(-1)} ${word}`.trim();
        if (lines.at(-1) !== '' && wide(longer, size, true) > widest) lines.push(word);
        else lines[lines.length - 1] = longer;
    }
    return lines;
}

/** The same as the bytes of a PNG, twice as large, for sharp screens. */
export async function png(element) {
    const image = new Image();
    image.src = `data:image/svg+xml,${encodeURIComponent(new XMLSerializer().serializeToString(element))}`;
    await image.decode();
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [2 * image.width, 2 * image.height];
    canvas.getContext('2d').drawImage(image, 0, 0, canvas.width, canvas.height);
    return new Promise((resolve) => canvas.toBlob(resolve, 'image/png'));
}
