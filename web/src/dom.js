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

/** Copies a text on a click on a button, and says so on it. */
export const copy = (text) => async ({ currentTarget: button }) => {
    const label = button.textContent;
    const done = await copied(text());
    button.textContent = done ? 'Copied' : 'Press Ctrl+C';
    button.disabled = true;
    setTimeout(() => {
        button.textContent = label;
        button.disabled = false;
    }, 1500);
};

async function copied(text) {
    try {
        await navigator.clipboard.writeText(text);
        return true;
    } catch {
        // A page without the permission, or that was opened as a file.
        const area = el('textarea', { class: 'visually-hidden', 'aria-hidden': 'true' });
        area.value = text;
        document.body.append(area);
        area.select();
        const done = document.execCommand('copy');
        area.remove();
        return done;
    }
}

/** Text to copy. */
export function code(text) {
    return el('div', { class: 'code' }, el('pre', {}, text),
        el('button', { type: 'button', class: 'quiet', onclick: copy(() => text) }, 'Copy'));
}
