// The answer as a picture: what the top of the page shows, for a channel or a document. Makes it of shapes and texts alone.
import { short, svg } from './dom.js';
import { places, share, tally } from './fates.js';
import { MOST_EACH } from './map.js';

const WIDTH = 960;
const COLOURS = { delete: ['#b3261e', '#ffffff'], contested: ['#fdf0d9', '#17202c'], blocked: ['#ffffff', '#17202c'], later: ['#ffffff', '#17202c'], keep: ['#ffffff', '#17202c'] };
const EDGES = { delete: '#b3261e', contested: '#8a5300', blocked: '#b3261e', later: '#b3261e', keep: '#6b7787' };
const [POD, GAP] = [84, 8];
/** The most nodes of a picture. */
const MOST_LINES = 40;

const text = (x, y, words, attributes = {}) => svg('text', { x, y, ...attributes }, words);

/** The picture as an element. `title` is its first line and `keys` are `[fate, text]`. */
export function picture(title, keys, pods, zones) {
    const shapes = [text(24, 40, title, { 'font-size': 20, 'font-weight': 700 })];
    let x = 24;
    for (const [fate, words] of keys) {
        shapes.push(box(x, 58, 14, 14, fate), text(x + 20, 70, words));
        x += 44 + words.length * 7.6;
    }
    let y = 100;
    let lines = 0;
    for (const { title: zone, nodes, pods: its } of places(pods, zones)) {
        shapes.push(text(24, y, `${zone}: ${share(its)}`, { 'font-weight': 700 }));
        y += 12;
        for (const { name, pods: own } of nodes) {
            if (++lines > MOST_LINES) continue;
            shapes.push(text(24, y + 20, name));
            y = pods.length > MOST_EACH ? bar(shapes, own, y) : each(shapes, own, y);
        }
        y += 24;
    }
    if (lines > MOST_LINES) shapes.push(text(24, y, `${lines - MOST_LINES} more nodes`));
    return svg('svg', {
        xmlns: 'http://www.w3.org/2000/svg', viewBox: `0 0 ${WIDTH} ${y + 20}`, width: WIDTH, height: y + 20, 'font-family': 'system-ui, sans-serif', 'font-size': 14, fill: '#17202c',
    }, svg('rect', { width: '100%', height: '100%', fill: '#ffffff' }), shapes);
}

const box = (x, y, width, height, fate) => svg('rect', {
    x, y, width, height, rx: 4, fill: COLOURS[fate][0], stroke: EDGES[fate], 'stroke-width': 1.5, 'stroke-dasharray': fate === 'contested' ? '4 3' : null,
});

function each(shapes, pods, y) {
    const perLine = Math.floor((WIDTH - 220) / (POD + GAP));
    pods.forEach(({ name, fate, odds }, index) => {
        const [x, top] = [200 + (index % perLine) * (POD + GAP), y + Math.floor(index / perLine) * 34];
        shapes.push(box(x, top, POD, 28, fate),
            text(x + POD / 2, top + 19, odds ? `${short(name)} ${odds}` : short(name), { 'text-anchor': 'middle', fill: COLOURS[fate][1], 'font-size': 12 }));
    });
    return y + Math.ceil(pods.length / perLine) * 34 + 4;
}

function bar(shapes, pods, y) {
    let x = 200;
    for (const [fate, number] of Object.entries(tally(pods))) {
        const width = (400 * number) / pods.length;
        if (width > 0) shapes.push(box(x, y + 6, width, 16, fate));
        x += width;
    }
    shapes.push(text(620, y + 20, share(pods)));
    return y + 30;
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
