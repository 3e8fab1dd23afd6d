// web/dist/ as it is checked in, without a browser and without what makes it.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import vm from 'node:vm';
import { gzipSync } from 'node:zlib';
import { sha256, sources } from '../sources.mjs';
import { EXAMPLES, NOON, assertAgreement, fromLink as decoded, podrank, root, work } from './command-line.mjs';

const html = readFileSync(join(root, 'web/dist/index.html'), 'utf8');
const part = (id) => html.match(new RegExp(`<script type="[a-z/]+" id="${id}">(.*?)</script>`, 's'))[1];
const examples = JSON.parse(part('examples'));

/** The page's worker, which answers at once here. */
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
    ask('start', new WebAssembly.Module(Buffer.from(part('module'), 'base64')));
    return (call, ...given) => ask(call, ...(call === 'read' ? [Object.assign(Buffer.from(given[0]), { size: Buffer.byteLength(given[0]) })] : given));
}

test('web/dist is what these sources make: if not, run make web', () => {
    const [page, ofSources, , ...tools] = readFileSync(join(root, 'web/dist/made-from.txt'), 'utf8').trim().split('\n');
    assert.equal(page, `page ${sha256(html)}`, 'web/dist/index.html was changed by hand');
    assert.equal(ofSources, `sources ${sources()}`, 'web/dist is of other sources');
    const locked = readFileSync(join(root, 'Cargo.lock'), 'utf8');
    const crates = tools.filter((line) => / v\d/.test(line)).map((line) => line.split(' v'));
    assert.ok(crates.length > 10);
    for (const [name, version] of crates) {
        assert.ok(locked.includes(`name = "${name}"\nversion = "${version}"\n`), `Cargo.lock has no ${name} ${version}`);
    }
});

test('-o link: another decoder reads what is in it, and the module decides the same', () => {
    const ask = worker();
    const answer = (text, chosen) => {
        assert.equal(ask('read', text).error, undefined);
        return ask('preview', JSON.stringify(chosen)).answer;
    };
    const cases = JSON.parse(readFileSync(join(root, 'tests/vectors/links.json'), 'utf8'));
    assert.ok(cases.length > 1);
    for (const { example, asked, fragment, dump, options, state } of cases) {
        const words = [...asked.split(' '), '-f', join(root, 'preview/examples', example), '--now', NOON];
        const { stdout: link } = podrank(...words, '-o', 'link');
        const { replay: again, ...printed } = JSON.parse(podrank(...words, '-o', 'json').stdout);
        for (const hash of [fragment, new URL(link.trim()).hash]) {
            const { title, ...its } = decoded(hash);
            assert.deepEqual(its, { dump, options, state });
            const { replay, ...shown } = JSON.parse(answer(JSON.stringify(its.dump), its.options));
            assert.deepEqual(shown, printed);
        }
    }
});

test('the page is below 1.4 MB gzipped', () => {
    const size = gzipSync(html, { level: 9 }).length;
    console.log(`web/dist/index.html: ${Math.ceil(Buffer.byteLength(html) / 1024)} KiB, ${Math.ceil(size / 1024)} KiB gzipped`);
    assert.ok(size < 1_400_000, `${size} bytes`);
});

test('the page may load and send nothing, and run nothing but its own script', () => {
    const policy = Object.fromEntries(html.match(/Content-Security-Policy" content="([^"]+)"/)[1].split('; ')
        .map((directive) => [directive.split(' ')[0], directive.split(' ').slice(1)]));
    const [script] = html.match(/(?<=<script>).*(?=<\/script>\s*<\/body>)/s);
    const hash = createHash('sha256').update(script).digest('base64');
    assert.deepEqual(policy['default-src'], ["'none'"]);
    assert.deepEqual(policy['script-src'], [`'sha256-${hash}'`, "'wasm-unsafe-eval'"]);
    // What is not named is as in default-src. These two may load no address but the page's own data.
    assert.deepEqual([policy['worker-src'], policy['img-src']], [['blob:'], ['data:']]);
    for (const name of ['connect-src', 'font-src', 'frame-src', 'media-src', 'object-src']) assert.ok(!(name in policy), name);
    assert.deepEqual([policy['form-action'], policy['base-uri']], [["'none'"], ["'none'"]]);
});

test('the shared vectors: the checked-in module and the command line agree', async () => {
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

test('a file is judged at the time that the command line judges it at, with its warning', () => {
    const ask = worker();
    const text = readFileSync(EXAMPLES[1].file, 'utf8');
    ask('read', text);
    const file = join(work, 'dump.json');
    writeFileSync(file, text);
    const seen = [];
    for (const modified of ['2026-03-10T11:59:20.000Z', '2026-03-10T11:58:00.000Z', undefined]) {
        const printed = modified && (utimesSync(file, new Date(modified), new Date(modified)),
            JSON.parse(podrank('-f', file, '--replicas', 4, '-o', 'json').stdout));
        const clock = '2026-06-01T00:00:00.000Z';
        const { answer } = ask('preview', JSON.stringify({ replicas: 4, modified, clock }));
        const { now, nowSource, sets, notes } = JSON.parse(answer);
        const told = notes.filter(({ code }) => ['time-of-dump', 'differs-at-clock'].includes(code)).map(({ code, level }) => [code, level]);
        seen.push([now, nowSource, told.length]);
        if (!printed) continue;
        // The command line's own clock is later, and stands in its warning.
        assert.deepEqual({ now, nowSource, sets }, { now: printed.now, nowSource: printed.nowSource, sets: printed.sets });
        assert.deepEqual(told, [['time-of-dump', 'note'], ['differs-at-clock', 'warning']]);
        assert.deepEqual(notes[0], printed.notes[0]);
        assert.ok(notes[1].text.endsWith('add --now 2026-06-01T00:00:00Z'), notes[1].text);
    }
    assert.deepEqual(seen, [['2026-03-10T11:59:20Z', 'file-time', 2], ['2026-03-10T11:59:00Z', 'newest-time', 2], ['2026-06-01T00:00:00Z', 'clock', 0]]);
});
