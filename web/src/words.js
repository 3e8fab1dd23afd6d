// Sizes and sentences for people. Knows no elements.

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
