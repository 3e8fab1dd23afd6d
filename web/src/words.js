// Sentences of the command line as the page says them. Knows no elements.

/** A sentence begins with a capital letter, but a name never changes: neither one with a digit, a dash or a dot, nor that of a pod. */
export function capital(text, names = []) {
    const [first] = /^[\w.-]*/.exec(text);
    return /^[a-z]+$/.test(first) && !names.includes(first) ? text[0].toUpperCase() + text.slice(1) : text;
}

/** What a headline says after the workload and its count, which the page shows above it. */
export const answerOf = (headline) => headline.slice(headline.indexOf(': ') + 2).replace(/^that scales up/, 'this scales up');
