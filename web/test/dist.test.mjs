// The web app that was built, without a browser.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { gunzipSync, gzipSync } from 'node:zlib';
import { EXAMPLES, NOON, assertAgreement, pageFile, podrank, root, work } from './command-line.mjs';

const html = readFileSync(pageFile, 'utf8');
const part = (id) => html.match(new RegExp(`<script type="[a-z/]+" id="${id}">(.*?)</script>`, 's'))[1];
const [script] = html.match(/(?<=<script>).*(?=<\/script>\s*<\/body>)/s);
const examples = JSON.parse(part('examples'));

/** The page's worker, which here answers synchronously. */
function worker() {
    let message;
    // Files and their reader, as far as the worker needs them.
    class FileReaderSync {
        readAsArrayBuffer = (part) => part;
    }
    const context = vm.createContext({ TextDecoder, TextEncoder, WebAssembly, Date, FileReaderSync, postMessage: (data) => (message = data) });
    vm.runInContext(part('worker'), context);
    const ask = (call, ...given) => {
        context.onmessage({ data: { id: 1, call, given } });
        return message;
    };
    ask('start', new WebAssembly.Module(gunzipSync(Buffer.from(part('module'), 'base64'))));
    return (call, ...given) => ask(call, ...(call === 'read' ? [Object.assign(Buffer.from(given[0]), { size: Buffer.byteLength(given[0]) })] : given));
}

test('the web app is below 1.25 MB gzipped, with the licenses that .ci/notices adds', () => {
    const size = gzipSync(html, { level: 9 }).length;
    console.log(`${pageFile}: ${Math.ceil(Buffer.byteLength(html) / 1024)} KiB, ${Math.ceil(size / 1024)} KiB gzipped`);
    assert.ok(size < 1_250_000, `${size} bytes`);
});

test('the security policy allows no request, and no code but the script and its worker', () => {
    const [policy] = html.match(/(?<=Content-Security-Policy" content=")[^"]+/);
    const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
    assert.deepEqual(policy.split('; '), [
        // This is about all that is not named: connections, fonts, frames, media, objects.
        "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, 'worker-src blob:',
        `style-src ${hash(html.match(/<style>(.*?)<\/style>/s)[1])}`, "style-src-attr 'unsafe-inline'", 'img-src data:',
        "base-uri 'none'", "form-action 'none'",
    ]);
});

test('no code opens an address or a connection, because no policy forbids to leave for another address', () => {
    const own = /\blocation\.(hash|href\.split\("#"\)|pathname|protocol|search)(?!=[^=])/g;
    const blob = /\bhref:URL\.createObjectURL\(|\brevokeObjectURL\(\w+\.href\)/g;
    const opening = new RegExp([
        String.raw`\b(location|href|action|navigation|navigate|submit|ping|fetch|fetchLater|sendBeacon|importScripts|serviceWorker)\b`,
        String.raw`\b(XMLHttpRequest|WebSocket|WebTransport|EventSource|RTCPeerConnection)\b`, String.raw`\b(open|import)\(`,
    ].join('|'));
    for (const [name, code] of Object.entries({ script, worker: part('worker') })) {
        const [found] = opening.exec(code.replaceAll(own, '').replaceAll(blob, '')) ?? [];
        assert.equal(found, undefined, `the ${name}`);
    }
    // Those that users click.
    const links = [...html.matchAll(/<a [^>]*href="([^"]*)"/g)].map(([, address]) => address);
    assert.ok(links.every((address) => /^(#|https:\/\/github\.com\/podrank\/podrank\b)/.test(address)), links.join(' '));
    assert.doesNotMatch(html, /http-equiv="refresh"|<(form|base|iframe|object|embed)\b/i);
});

test('the shared vectors: the module and the command line agree', async () => {
    const ask = worker();
    await assertAgreement((text, chosen) => {
        const { error } = ask('read', text);
        if (error) return { error: error.message };
        const { answer, error: refused } = ask('preview', JSON.stringify(chosen));
        return refused ? { error: refused.message } : { answer };
    });
});

test('the examples are the files that the command line reads', () => {
    const ask = worker();
    for (const { name, file, count = 'replicas', replicas, now } of EXAMPLES) {
        assert.deepEqual([examples[name].replicas, examples[name].now], [replicas, now]);
        ask('read', examples[name].text);
        const { answer } = ask('preview', JSON.stringify({ [count]: replicas, now }));
        const flags = replicas === null ? ['--rollout'] : [`--${count}`, replicas];
        assert.equal(answer, podrank('-f', file, ...flags, '--now', now, '-o', 'json').stdout, name);
    }
    assert.deepEqual(Object.keys(examples), EXAMPLES.map(({ name }) => name));
});

test('a file is judged at the time that the command line judges it at, with its note', () => {
    const ask = worker();
    const text = readFileSync(EXAMPLES[1].file, 'utf8');
    ask('read', text);
    const file = join(work, 'dump.json');
    writeFileSync(file, text);
    const seen = [];
    for (const modified of ['2026-03-10T11:59:20.000Z', '2026-03-10T11:59:40.000Z', undefined]) {
        const printed = modified && (utimesSync(file, new Date(modified), new Date(modified)),
            JSON.parse(podrank('-f', file, '--replicas', 4, '-o', 'json').stdout));
        const clock = '2026-06-01T00:00:00.000Z';
        const { answer } = ask('preview', JSON.stringify({ replicas: 4, modified, clock }));
        const { now, timeSource, groups, notes } = JSON.parse(answer);
        const told = notes.filter(({ code }) => code === 'time').map(({ code, level }) => [code, level]);
        seen.push([now, timeSource, told.length]);
        if (!printed) continue;
        assert.deepEqual({ now, timeSource, groups }, { now: printed.now, timeSource: printed.timeSource, groups: printed.groups });
        assert.deepEqual(told, [['time', 'note']]);
        assert.deepEqual(notes[0], printed.notes[0]);
    }
    assert.deepEqual(seen, [['2026-03-10T11:59:20Z', 'file-time', 1], ['2026-03-10T11:59:40Z', 'file-time', 1], ['2026-06-01T00:00:00Z', 'clock', 0]]);
});
