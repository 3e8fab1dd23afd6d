// `build.mjs MODULES OUTPUT` writes OUTPUT/index.html, the web app in one file. MODULES has what wasm-bindgen made.
import { build } from 'esbuild';
import binaryen from 'binaryen';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { gzipSync } from 'node:zlib';

const [modules, output] = process.argv.slice(2).map((path) => resolve(path));
const web = import.meta.dirname;
const read = (...path) => readFileSync(join(web, ...path), 'utf8');

function optimised(bytes) {
    const { BulkMemory, BulkMemoryOpt, MutableGlobals, NontrappingFPToInt, SignExt, ReferenceTypes, Multivalue } = binaryen.Features;
    // What the compiler uses, and all browsers of the last years have.
    const module = binaryen.readBinary(bytes);
    module.setFeatures(
        BulkMemory | BulkMemoryOpt | MutableGlobals | NontrappingFPToInt | SignExt | ReferenceTypes | Multivalue);
    binaryen.setOptimizeLevel(3);
    binaryen.setShrinkLevel(1);
    module.optimize();
    return module.emitBinary();
}

async function bundle(entry) {
    const made = await build({
        entryPoints: [join(web, 'src', entry)],
        alias: { podrank_web: join(modules, 'podrank_web.js') },
        bundle: true, minify: true, format: 'iife', target: 'es2022', write: false, charset: 'utf8', legalComments: 'none',
        // wasm-bindgen's module would look for its bytes beside itself. The page hands them over.
        define: { 'import.meta.url': '""' },
        logLevel: 'error',
    });
    return made.outputFiles[0].text.trim();
}

/** Text within a script element must not end it. */
const inert = (text) => text.replaceAll('</', '<\\/').replaceAll('<!--', '<\\!--');
const lean = (text) => JSON.stringify(JSON.parse(text));

const example = (title, about, replicas, now, ...files) =>
    ({ title, about, replicas, now, text: files.map((file) => lean(readFileSync(join(web, file), 'utf8'))).join('\n') });
const NOON = '2026-03-10T12:00:00Z';
// The first one is shown if a link names none.
const examples = {
    rollout: example('a rollout', 'A Deployment in the middle of a rollout: two ReplicaSets share the count, and pods that are not ready go first.',
        5, NOON, '../predict/examples/rollout.json', 'examples/rollout-nodes.json'),
    circle: example('a circle', 'Six pods, one on each node. The rules put three of them in a circle, so chance decides. Drag the moment: the circle closes and opens.',
        4, '2026-03-10T12:00:20Z', 'examples/circle.json'),
    zones: example('three zones', 'Twelve pods in three zones. Choose other pods than Kubernetes would take: click those that should go.',
        8, NOON, 'examples/zones.json'),
    database: example('a StatefulSet', 'A StatefulSet takes the pod with the highest ordinal first, and waits until the others are ready.',
        3, NOON, '../predict/examples/stateful-set.json'),
    import: example('a Job', 'A Job that may run fewer pods at a time.', 2, NOON, '../predict/examples/job.json'),
    agents: example('a DaemonSet', 'A DaemonSet in the middle of an update: it has no count, its nodes decide.', null, NOON, '../predict/examples/daemon-set.json'),
};

const wasm = optimised(readFileSync(join(modules, 'podrank_web_bg.wasm')));
const style = (await build({ entryPoints: [join(web, 'src', 'style.css')], minify: true, write: false, charset: 'utf8' }))
    .outputFiles[0].text.trim();
const script = inert(await bundle('main.js'));
// No request but a change to another address, which no policy can forbid, and no code but this script and its worker.
const hash = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
const policy = [
    "default-src 'none'", `script-src ${hash(script)} 'wasm-unsafe-eval'`, 'worker-src blob:', `style-src ${hash(style)}`,
    "style-src-attr 'unsafe-inline'", 'img-src data:', "base-uri 'none'", "form-action 'none'",
].join('; ');
const parts = {
    POLICY: policy, STYLE: style, SCRIPT: script, WORKER: inert(await bundle('worker.js')),
    EXAMPLES: inert(JSON.stringify(examples)), MODULE: gzipSync(wasm, { level: 9 }).toString('base64'),
};
const page = read('src', 'index.html').replace(/@([A-Z]+)@/g, (_, name) => parts[name]);

mkdirSync(output, { recursive: true });
writeFileSync(join(output, 'index.html'), page);
const size = (bytes) => `${Math.ceil(bytes / 1024)} KiB`;
console.log(`${output}/index.html: ${size(Buffer.byteLength(page))}, ${size(gzipSync(page, { level: 9 }).length)} gzipped`);
