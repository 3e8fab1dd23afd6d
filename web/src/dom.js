// Makes elements. Text is always text and never markup, so no name in a dump can be more than a name.

export const $ = (id) => document.getElementById(id);

export function el(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value);
    }
    element.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return element;
}

export const count = (number, noun) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** The end of a pod's name, which tells it from the others. */
export const short = (name) => name.slice(name.lastIndexOf('-') + 1);

/** Says on a button what became of a click. */
export function said(button, text, wait = 1500) {
    const label = (button.dataset.label ??= button.textContent);
    button.textContent = text;
    return new Promise((resolve) => setTimeout(() => resolve((button.textContent = label)), wait));
}

/** Copies a text, which may take a while to be made, and says so on the button. */
export async function copy(button, text, wait) {
    const isCopied = await copied({ 'text/plain': await text() });
    return said(button, isCopied ? 'copied' : 'press Ctrl+C', wait);
}

/** Copies texts or bytes by their types. False if the browser refuses. */
export async function copied(contents) {
    const text = contents['text/plain'];
    try {
        if (text !== undefined) await navigator.clipboard.writeText(text);
        else await navigator.clipboard.write([new ClipboardItem(contents)]);
        return true;
    } catch {
        // A page without the permission, or that was opened as a file.
        return text !== undefined && copiedByHand(text);
    }
}

function copiedByHand(text) {
    const area = el('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
    area.value = text;
    (document.querySelector('dialog[open]') ?? document.body).append(area);
    area.select();
    const done = document.execCommand('copy');
    area.remove();
    return done;
}

/** Text to copy. */
export function code(text) {
    const button = el('button', { type: 'button', class: 'quiet', onclick: () => copy(button, () => text) }, 'Copy');
    return el('div', { class: 'code' }, el('pre', { tabindex: 0 }, text), button);
}
