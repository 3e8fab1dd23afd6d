// Sentences of the command line as the page says them. Knows no elements.

const SETTINGS = '“Moment, order, gates”';

/** What a note of the command line says with a flag, and what the page says instead: by its own control, or without the advice if it has none. */
const INSTEAD = [
    [/give the time of its dump with --now$/, `choose the time of its dump under ${SETTINGS}`],
    [/an interrupted run or --keep-costs left/, 'an earlier run left'],
    [/: name the release with --kubernetes-version$/, ''],
];

export const inPage = (text) => INSTEAD.reduce((told, [theirs, ours]) => told.replace(theirs, ours), text);

/** A number of bytes, for people. */
export function size(bytes) {
    if (bytes < 1000) return `${bytes} B`;
    const [number, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
    return `${number < 10 ? number.toFixed(1) : Math.round(number)} ${unit}`;
}

/** A sentence begins with a capital letter, but a name never changes: neither one with a digit, a dash or a dot, nor that of a pod. */
export function capital(text, names = []) {
    const [first] = /^[\w.-]*/.exec(text);
    return /^[a-z]+$/.test(first) && !names.includes(first) ? text[0].toUpperCase() + text.slice(1) : text;
}
