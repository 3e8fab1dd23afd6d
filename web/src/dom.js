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

/** A button that copies the text. */
export function copyButton(text, label = 'Copy') {
    return el('button', {
        type: 'button',
        class: 'quiet',
        async onclick({ currentTarget: button }) {
            const done = await copy(text);
            button.textContent = done ? 'Copied' : 'Press Ctrl+C';
            setTimeout(() => (button.textContent = label), 1500);
        },
    }, label);
}

export async function copy(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        const area = el('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
        area.value = text;
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}

export function code(text) {
    return el('div', { class: 'code' }, el('pre', { tabindex: '0' }, text), copyButton(text));
}
