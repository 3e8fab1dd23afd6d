// Makes elements. Text is always text and never markup, and hidden characters are shown as escapes, so no name in a dump can be more
// than a name. All text of the page comes through here.

export const $ = (id) => document.getElementById(id);

/** What a reader doesn't see, or what changes the order of the text around it. */
const HIDDEN = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]/gu;

/** The text with an escape for each hidden character, such as `\\u{202e}`. Line breaks stay. */
export const visible = (text) => text.replace(HIDDEN, (char) => `\\u{${char.codePointAt(0).toString(16)}}`);

/** Makes a text the only content of an element. */
export const write = (element, text) => {
    element.textContent = visible(`${text}`);
};

/** The attributes that a reader sees or hears. */
const READ = ['title', 'label', 'aria-label'];

export function el(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children);
}

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
        else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, READ.includes(name) ? visible(value) : value);
    }
    const shown = children.flat().filter((child) => child !== null && child !== undefined);
    element.append(...shown.map((child) => (typeof child === 'string' ? visible(child) : child)));
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

/** Text to copy, as it is shown. */
export function code(text) {
    const button = el('button', { type: 'button', class: 'quiet', onclick: () => copy(button, () => visible(text)) }, 'Copy');
    return el('div', { class: 'code' }, el('pre', { tabindex: 0 }, text), button);
}
