// What a link holds: `#dump=`, and then the part of a dump that a decision needs, as JSON that is deflated and written in base64url. No
// server sees it, because browsers keep what follows `#` to themselves. Knows no elements.

/** The longest link that is read, in characters, and the most bytes that it may unfold to. */
const [LONGEST, LARGEST] = [4 << 20, 64 << 20];

const through = (bytes, stream) => new Blob([bytes]).stream().pipeThrough(stream);

/** Packs a text. */
export async function pack(text) {
    const packed = await new Response(through(text, new CompressionStream('deflate-raw'))).arrayBuffer();
    const characters = Array.from(new Uint8Array(packed), (byte) => String.fromCharCode(byte));
    return btoa(characters.join('')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** Unpacks it, and says what is wrong if that fails. */
export async function unpack(packed, { longest = LONGEST, largest = LARGEST } = {}) {
    if (packed.length > longest) throw new Error(`the link holds more than ${size(longest)}, which is too long to be one of this page`);
    if (!/^[\w-]+$/.test(packed)) throw new Error('the link is damaged: what follows “#dump=” has a character that no such link has, or nothing');
    let characters;
    try {
        characters = atob(packed.replaceAll('-', '+').replaceAll('_', '/'));
    } catch {
        throw new Error('the link is damaged: it was cut off, or a character is missing');
    }
    const reader = through(Uint8Array.from(characters, (one) => one.charCodeAt(0)), new DecompressionStream('deflate-raw')).getReader();
    const parts = [];
    for (let length = 0; ;) {
        const { done, value } = await reader.read().catch(() => {
            throw new Error('the link is damaged: it was cut off, or a character was changed');
        });
        if (done) break;
        parts.push(value);
        length += value.length;
        if (length > largest) {
            reader.cancel();
            throw new Error(`the link unfolds to more than ${size(largest)}, which is too much for this page`);
        }
    }
    try {
        const text = new TextDecoder('utf-8', { fatal: true }).decode(await new Blob(parts).arrayBuffer());
        const { title, dump, options } = JSON.parse(text);
        if (typeof title === 'string' && dump?.kind === 'List' && typeof options?.workload === 'string') return { title, dump, options };
    } catch { /* It is no JSON. */ }
    throw new Error('the link is damaged: it holds no pods');
}

/** A number of bytes, for people. */
export function size(bytes) {
    if (bytes < 1000) return `${bytes} B`;
    const [number, unit] = bytes < 1e6 ? [bytes / 1e3, 'kB'] : [bytes / 1e6, 'MB'];
    return `${number < 10 ? number.toFixed(1) : Math.round(number)} ${unit}`;
}
