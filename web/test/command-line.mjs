// The command line, and whether the page's module decides as it does.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

export const root = resolve(import.meta.dirname, '../..');
export const target = resolve(root, process.env.CARGO_TARGET_DIR ?? 'target');
/** The web app that is tested: `PAGE`, or what `make web` makes. */
export const pageFile = resolve(process.env.PAGE ?? join(root, 'web/dist/index.html'));
assert.ok(existsSync(pageFile), `no ${pageFile}: run make web`);
export const work = mkdtempSync(join(tmpdir(), 'podrank-page-'));
process.on('exit', () => rmSync(work, { recursive: true, force: true }));
export const NOON = '2026-03-10T12:00:00Z';
/** The examples of the page, with the count and the moment at which it shows them. */
export const EXAMPLES = [
    { name: 'rollout', file: join(root, 'predict/examples/rollout.json'), replicas: 5, now: NOON },
    { name: 'circle', file: join(root, 'web/examples/circle.json'), replicas: 4, now: '2026-03-10T12:00:20Z' },
    { name: 'zones', file: join(root, 'web/examples/zones.json'), replicas: 8, now: NOON },
    { name: 'database', file: join(root, 'predict/examples/stateful-set.json'), replicas: 3, now: NOON },
    { name: 'import', file: join(root, 'predict/examples/job.json'), count: 'parallelism', replicas: 2, now: NOON },
    { name: 'agents', file: join(root, 'predict/examples/daemon-set.json'), replicas: null, now: NOON },
];

const plugin = join(target, 'debug/kubectl-podrank');
assert.ok(existsSync(plugin), `no ${plugin}: run cargo build -p kubectl-podrank`);
export const podrank = (...given) =>
    spawnSync(plugin, given.map(String), { cwd: work, encoding: 'utf8', maxBuffer: 1 << 28 });

/** Asserts that `decide(TEXT, OPTIONS)`, which gives `{ answer }` or `{ error }`, decides all shared vectors as the command line. */
export async function assertAgreement(decide) {
    const cases = JSON.parse(readFileSync(join(root, 'tests/vectors/scale-down.json'), 'utf8'));
    const file = join(work, 'vector.json');
    let answers = 0;
    for (const { name, now, replicaSet, replicas, objects } of cases) {
        const text = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: objects });
        writeFileSync(file, text);
        for (const order of ['total', 'kubernetes']) {
            const printed = podrank('-f', file, '-o', 'json', replicaSet, '-n', 'default', '--replicas', replicas,
                '--now', now, '--order', order);
            const { answer, error } = await decide(text, { workload: replicaSet, namespace: 'default', replicas, now, order });
            if (error === undefined) assert.equal(answer, printed.stdout, name);
            else assert.ok(printed.status === 1 && printed.stderr.startsWith(`error: ${file}: ${error}`), `${name}: ${printed.stderr} ${error}`);
            answers += error === undefined;
        }
    }
    assert.ok(answers > cases.length, `${answers} answers to ${2 * cases.length} questions`);
}
