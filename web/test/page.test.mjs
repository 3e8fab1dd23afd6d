// The page in a real browser, and beside the command line. `make page-test` builds what this needs.
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { after, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';
import { close, decided, drag, fates, inPage } from './browser.mjs';

const root = resolve(import.meta.dirname, '..', '..');
const target = process.env.CARGO_TARGET_DIR ?? join(root, 'target');
const dist = process.env.PAGE ?? join(root, 'web/dist/index.html');
const url = pathToFileURL(dist).href;
const plugin = join(target, 'release/kubectl-podrank');
const shots = process.env.SCREENSHOTS ?? join(target, 'web/screenshots');
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const work = mkdtempSync(join(tmpdir(), 'podrank-page-'));
mkdirSync(shots, { recursive: true });
after(close);

const podrank = (...given) => spawnSync(plugin, given.map(String), { cwd: work, encoding: 'utf8', maxBuffer: 1 << 28 });
const example = (name) => join(root, 'web/examples', `${name}.json`);
const ask = (page, call, ...given) => page.evaluate(([call, given]) =>
    podrank.ask(call, ...given).catch((error) => ({ error: error.message })), [call, given]);

test('the three examples show what the command line prints', async () => {
    for (const [name, file, replicas, now] of [
        ['circle', example('circle'), 4, '2026-03-10T12:00:20Z'],
        ['rollout', join(root, 'preview/examples/rollout.json'), 5, '2026-03-10T12:00:00Z'],
        ['zones', example('zones'), 8, '2026-03-10T12:00:00Z'],
    ]) {
        const printed = JSON.parse(podrank('-f', file, '--replicas', replicas, '--now', now, '-o', 'json').stdout);
        const pods = printed.pods ?? printed.sets.flatMap((set) => set.pods);
        const expected = { delete: [], contested: [], keep: [] };
        for (const pod of pods) expected[pod.verdict].push(pod.name.split('-').at(-1));
        for (const list of Object.values(expected)) list.sort();
        await inPage(`${url}#example=${name}`, async (page) => {
            assert.deepEqual(await fates(page), expected, name);
            const zones = await page.locator('.zone > h3').allTextContents();
            assert.ok(zones.includes('zone-a') && zones.includes('zone-b'), zones.join());
        });
    }
});

test('the circle is drawn, and says why', () => inPage(url, async (page) => {
    assert.equal((await fates(page)).contested.length, 3);
    await page.locator('.circle li').first().waitFor();
    assert.equal(await page.locator('.circle .arrow').count(), 3);
    const told = await page.locator('.circle li').allTextContents();
    assert.deepEqual(told.map((line) => line.slice(0, 23)).sort(), [
        '4kq2n goes before t7xjd', '8wz5c goes before 4kq2n', 't7xjd goes before 8wz5c',
    ]);
    assert.match(told.join(), /5 restarts, \S+ has 0/);
    assert.match(told.join(), /UID 11111111…, \S+ has 22222222…/);
}));

test('the count is dragged from all to none', () => inPage(`${url}#example=circle`, async (page) => {
    for (let replicas = 6; replicas >= 0; replicas--) {
        await drag(page, 'replicas', replicas);
        await decided(page, { replicas });
        const now = await fates(page);
        const quota = now.contested.length ? Number((await page.locator('.tally[data-fate=contested] b').textContent()).split(' ')[0]) : 0;
        assert.equal(now.delete.length + quota, 6 - replicas);
        assert.equal(await page.locator('#replicas-number').inputValue(), String(replicas));
    }
    assert.equal((await fates(page)).delete.length, 6);
}));

test('the moment opens and closes the circle', () => inPage(url, async (page) => {
    const contested = async (moment) => {
        await drag(page, 'moment', moment);
        await page.waitForTimeout(80);
        await decided(page);
        return (await fates(page)).contested.length;
    };
    const seen = new Set();
    for (let moment = 0; moment <= 700; moment += 25) seen.add(await contested(moment));
    assert.deepEqual([...seen].sort(), [0, 3]);
    await page.waitForFunction(() => document.querySelectorAll('#strip i').length === 120);
    const open = await page.locator('#strip i.open').count();
    assert.ok(open > 10 && open < 110, `${open} of 120 moments`);
}));

test('gates and the order change the answer', () => inPage(url, async (page) => {
    await page.getByLabel('podrank’s, without circles').check();
    await decided(page, { order: 'total' });
    assert.deepEqual((await fates(page)).contested, []);
    assert.equal((await fates(page)).delete.length, 2);
    await page.getByLabel('Kubernetes', { exact: true }).check();
    await decided(page, { order: 'kubernetes' });
    await page.getByText('Feature gates').click();
    await page.getByLabel('LogarithmicScaleDown').uncheck();
    await page.waitForFunction(() => document.documentElement.dataset.decided.includes('LogarithmicScaleDown'));
    assert.deepEqual((await fates(page)).contested, []);
}));

test('a click says why, with both values', () => inPage(`${url}#example=rollout`, async (page) => {
    await page.locator('.pod', { hasText: 'b7wfn' }).click();
    await page.locator('.rules .decides').waitFor();
    await page.waitForFunction(() => document.querySelector('#panel .who')?.textContent.includes('b7wfn'));
    assert.deepEqual(await page.locator('.rules .decides td').allTextContents(), ['-10', '0']);
    assert.match(await page.locator('#panel').textContent(), /Deletion cost -10, web-7f6b9d5c48-z5tgq has 0\./);
}));

test('steering: the fewest costs, the commands, and what blocks', () => inPage(`${url}#example=zones`, async (page) => {
    await page.locator('#steer').click();
    for (const name of ['b6w3p', 'k5t2q']) await page.locator('#map .pod', { hasText: name }).click();
    await page.locator('#panel .blocked').waitFor();
    const plan = (...flags) => podrank('-f', example('zones'), ...flags);
    assert.match(await page.locator('#panel .blocked').textContent(), /cannot be had: shop-5f4c8d9b7-l9z7m is not ready and goes first/);
    await page.getByText('Take what is in the way, too').click();
    await page.locator('#panel .code').first().waitFor();
    const commands = await page.locator('#panel .code pre').allTextContents();
    assert.match(commands[0], /^kubectl podrank drop shop-5f4c8d9b7-(b6w3p|k5t2q) shop-5f4c8d9b7-(b6w3p|k5t2q) --also$/);
    const lines = commands[1].split('\n');
    assert.equal(lines.at(-1), 'kubectl scale deploy/shop --current-replicas=12 --replicas=9');
    // The costs do what they promise: written into the dump, they make exactly these pods certain.
    const dump = JSON.parse(readFileSync(example('zones'), 'utf8'));
    for (const line of lines.slice(0, -1)) {
        const [, name, cost] = line.match(/^kubectl annotate pod (\S+) --overwrite controller\.kubernetes\.io\/pod-deletion-cost=(\S+)$/);
        const pod = dump.items.find((item) => item.kind === 'Pod' && item.metadata.name === name);
        pod.metadata.annotations = { 'controller.kubernetes.io/pod-deletion-cost': cost };
    }
    const steered = join(work, 'steered.json');
    writeFileSync(steered, JSON.stringify(dump));
    const gone = podrank('-f', steered, '--replicas', 9, '--now', '2026-03-10T12:00:00Z', '-o', 'name').stdout.trim().split('\n');
    assert.deepEqual(gone.map((name) => name.slice(-5)).sort(), ['b6w3p', 'k5t2q', 'l9z7m']);
    assert.equal(plan('--replicas', 9).status, 0);
}));

test('a paste of JSON and of YAML', () => inPage(url, async (page) => {
    for (const file of ['preview/examples/rollout.json', 'preview/examples/contested.yaml']) {
        await page.locator('#own').click();
        await page.locator('#text').fill(readFileSync(join(root, file), 'utf8'));
        await page.locator('#read').click();
        await page.waitForFunction(() => !document.getElementById('paste').open);
        await decided(page, { workload: file.endsWith('json') ? 'deploy/web' : 'rs/api-6c9d8f7b5' });
    }
    assert.equal(await page.locator('#map .pod').count(), 4);
    assert.equal(new URL(page.url()).hash, '', 'no link holds a user’s data');
    assert.ok(await page.locator('#share').isHidden());
}));

test('a bad file: the error of the command line', () => inPage(url, async (page) => {
    const drop = async (name, bytes) => {
        const data = await page.evaluateHandle(([name, bytes]) => {
            const data = new DataTransfer();
            data.items.add(new File([new Uint8Array(bytes)], name));
            return data;
        }, [name, [...bytes]]);
        await page.dispatchEvent('body', 'drop', { dataTransfer: data });
    };
    for (const [index, text] of [
        '{"kind": "List", "items": [{"kind": "Pod"}]}', 'NAME READY STATUS\nweb 1/1 Running\n', '', '{"items": [', 'kind: List\nitems: 5\n',
        '{"apiVersion": "v1", "kind": "List", "items": []}', 'kind: [\n',
    ].entries()) {
        const file = `bad-${index}`;
        writeFileSync(join(work, file), text);
        const printed = podrank('-f', file, '--replicas', 1).stderr.trim();
        await drop(file, Buffer.from(text));
        await page.waitForFunction((file) => document.getElementById('error').textContent.startsWith(file), file);
        assert.equal(`error: ${await page.locator('#error').textContent()}`, printed);
    }
    assert.equal((await fates(page)).contested.length, 3, 'what was shown stays');
}));

test('a dump that lacks pods: the error of the command line, and its remedy', () => inPage(url, async (page) => {
    const dump = JSON.parse(readFileSync(example('zones'), 'utf8'));
    dump.items.shift();
    await page.locator('#own').click();
    await page.locator('#text').fill(JSON.stringify(dump));
    await page.locator('#read').click();
    await page.getByText('Decide all the same').click();
    await decided(page, { partial: true });
    assert.equal(await page.locator('#map .pod').count(), 11);
    assert.match(await page.locator('#notes').textContent(), /only 11 pods of/);
}));

test('with the keyboard alone', () => inPage(`${url}#example=rollout`, async (page) => {
    await page.locator('#replicas').focus();
    await page.keyboard.press('ArrowLeft');
    await decided(page, { replicas: 4 });
    await page.locator('.pod[tabindex="0"]').focus();
    assert.equal(await page.locator('.pod[tabindex="0"]').count(), 1);
    const first = await page.evaluate(() => document.activeElement.dataset.index);
    await page.keyboard.press('ArrowRight');
    const second = await page.evaluate(() => document.activeElement.dataset.index);
    assert.notEqual(first, second);
    await page.keyboard.press('Enter');
    const name = await page.evaluate(() => document.activeElement.title);
    await page.waitForFunction((name) => document.querySelector('#panel .who strong')?.textContent === name, name);
    await page.locator('#own').focus();
    await page.keyboard.press('Enter');
    assert.ok(await page.locator('#paste').isVisible());
    await page.keyboard.press('Escape');
    assert.ok(await page.locator('#paste').isHidden());
}));

test('a link holds the state of an example', () => inPage(`${url}#example=zones`, async (page) => {
    await drag(page, 'replicas', 3);
    await decided(page, { replicas: 3 });
    await page.getByLabel('podrank’s, without circles').check();
    await decided(page, { order: 'total' });
    const [link, shown] = [page.url(), await fates(page)];
    assert.match(link, /#example=zones&replicas=3&now=.*order=total/);
    await inPage(link, async (other) => {
        await decided(other, { replicas: 3, order: 'total' });
        assert.deepEqual(await fates(other), shown);
    });
}));

test('the shared vectors: the page and the command line agree', () => inPage(url, async (page) => {
    let compared = 0;
    const agree = async (text, flags, options, name) => {
        const file = join(work, 'vector.json');
        writeFileSync(file, text);
        const printed = podrank('-f', file, '-o', 'json', ...flags);
        const read = await page.evaluate((text) => podrank.ask('read', podrank.bytes(text)).catch((error) => ({ error: error.message })), text);
        const answer = read.error ? read : await ask(page, 'preview', JSON.stringify(options));
        if (printed.status === 0) assert.equal(answer, printed.stdout, name);
        else assert.ok(printed.stderr.includes(`error: ${file}: ${answer.error}`), `${name}: ${printed.stderr} ${answer.error}`);
        compared++;
    };
    const list = (items) => JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    for (const { name, now, replicaSet, replicas, objects } of JSON.parse(readFileSync(join(root, 'vectors/scale-down.json'), 'utf8'))) {
        for (const order of ['total', 'kubernetes']) {
            await agree(list(objects), ['--replicaset', replicaSet, '-n', 'default', '--replicas', replicas, '--now', now, '--order', order],
                { replicaSet, namespace: 'default', replicas, now, order }, name);
        }
    }
    assert.ok(compared > 40, `${compared} compared`);
}));

test('10,000 pods: an answer within a frame, or “Working…”', () => inPage(url, async (page) => {
    const dump = JSON.parse(readFileSync(example('zones'), 'utf8'));
    const [pod] = dump.items;
    const others = dump.items.filter((item) => item.kind !== 'Pod');
    for (const item of others) {
        if (item.spec?.replicas) item.spec.replicas = 10_000;
        if (item.status?.replicas) Object.assign(item.status, { replicas: 10_000, availableReplicas: 10_000 });
    }
    const pods = Array.from({ length: 10_000 }, (_, index) => {
        const copy = structuredClone(pod);
        copy.metadata.name = `shop-5f4c8d9b7-${index}`;
        copy.metadata.uid = `00000000-0000-4000-8000-${((index * 7919) % 10_007).toString(16).padStart(12, '0')}`;
        copy.spec.nodeName = `node-${'abc'[index % 3]}${index % 300}`;
        copy.status.containerStatuses[0].restartCount = index % 5;
        copy.status.conditions[0].lastTransitionTime = new Date(Date.parse('2026-03-10T06:00:00Z') + index * 1000).toISOString();
        return copy;
    });
    await page.locator('#own').click();
    await page.locator('#text').fill(JSON.stringify({ ...dump, items: [...pods, ...others] }));
    await page.locator('#read').click();
    await page.waitForFunction(() => document.querySelectorAll('#map .pod').length === 10_000);
    await decided(page);
    const measured = await page.evaluate(async () => {
        const slider = document.getElementById('replicas');
        const frame = () => new Promise(requestAnimationFrame);
        let longest = 0;
        let before = performance.now();
        let isOn = true;
        (async () => {
            while (isOn) {
                await frame();
                longest = Math.max(longest, performance.now() - before);
                before = performance.now();
            }
        })();
        const times = [];
        let told = 0;
        for (let replicas = 5000; replicas > 4960; replicas -= 2) {
            const start = performance.now();
            slider.value = replicas;
            slider.dispatchEvent(new Event('input'));
            let isTold = false;
            while (!document.documentElement.dataset.decided.includes(`"replicas":${replicas},`)) {
                await frame();
                isTold ||= !document.getElementById('working').hidden;
                if (performance.now() - start > 5000) throw new Error('no answer');
            }
            times.push(performance.now() - start);
            told += isTold;
        }
        isOn = false;
        return { times: times.sort((a, b) => a - b), told, longest };
    });
    const median = measured.times[measured.times.length >> 1];
    console.log(`10,000 pods: an answer after ${median.toFixed(0)} ms (median of 20), the longest frame ${measured.longest.toFixed(0)} ms, ${measured.told} said “Working…”`);
    const late = measured.times.filter((time) => time > 120).length;
    assert.ok(measured.told >= late, `${late} late answers, ${measured.told} said so`);
}));

test('-o html: the page with the answer, and nothing of a pod that does not decide', async () => {
    const file = join(root, 'preview/examples/rollout.json');
    const flags = ['deploy/web', '-f', file, '--replicas', '5', '--now', '2026-03-10T12:00:00.5Z', '--feature-gates', 'PodDeletionCost=false'];
    const made = join(work, 'answer.html');
    const html = execFileSync(plugin, [...flags, '-o', 'html'], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
    writeFileSync(made, html);
    const given = html.match(/id="given">(.*?)<\/script>/)[1];
    for (const word of ['registry.example.com', 'serviceaccount', 'env', 'args']) assert.ok(!given.includes(`${word}`), word);
    const printed = JSON.parse(podrank(...flags, '-o', 'json').stdout);
    await inPage(pathToFileURL(made).href, async (page) => {
        await decided(page, { replicas: 5, now: '2026-03-10T12:00:00.5Z' });
        const shown = JSON.parse(await ask(page, 'preview', await page.evaluate(() => document.documentElement.dataset.decided)));
        assert.deepEqual(shown, printed);
        assert.equal(new URL(page.url()).hash, '');
    });
});

test('axe finds nothing, light and dark, wide and narrow', async () => {
    for (const colorScheme of ['light', 'dark']) {
        for (const [width, hash] of [[1280, '#example=circle'], [1280, '#example=rollout'], [390, '#example=zones&steer=shop-5f4c8d9b7-l9z7m']]) {
            await inPage(url + hash, async (page) => {
                await page.locator('#list > summary').click();
                await page.locator('#rows tr').first().waitFor();
                // The page's own policy lets no other script in; this one comes by the debugger.
                const found = await page.evaluate(`${axe}; axe.run(document)`);
                const told = found.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(' ')}`);
                assert.deepEqual(told, [], `${colorScheme} ${width} ${hash}`);
                assert.ok(found.passes.length > 20);
                await page.locator('#own').click();
                const dialog = await page.evaluate("axe.run(document.getElementById('paste'))");
                assert.deepEqual(dialog.violations.map(({ id }) => id), []);
            }, { colorScheme, viewport: { width, height: 844 } });
        }
    }
});

test('a phone’s width has no sideways scroll', () => inPage(`${url}#example=rollout`, async (page) => {
    const overflow = () => page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok((await overflow()) <= 0, `${await overflow()} pixels`);
    await page.locator('.pod').first().click();
    assert.ok(await page.locator('#close-panel').isVisible());
    await page.locator('#close-panel').click();
}, { viewport: { width: 360, height: 740 } }));

test('the page is below 1 MB gzipped', () => {
    const size = gzipSync(readFileSync(dist), { level: 9 }).length;
    console.log(`web/dist/index.html: ${Math.ceil(size / 1024)} KiB gzipped`);
    assert.ok(size < 1_000_000, `${size} bytes`);
});

test('screenshots', async () => {
    for (const [name, hash, settings, ...picks] of [
        ['circle', '#example=circle', {}],
        ['circle-dark', '#example=circle', { colorScheme: 'dark' }],
        ['rollout', '#example=rollout', {}, 'b7wfn'],
        ['steer', '#example=zones&steer=shop-5f4c8d9b7-b6w3p,shop-5f4c8d9b7-k5t2q,shop-5f4c8d9b7-l9z7m', {}],
        ['phone', '#example=circle', { viewport: { width: 390, height: 844 } }],
    ]) {
        await inPage(url + hash, async (page) => {
            for (const pick of picks) await page.locator('#map .pod', { hasText: pick }).click();
            await page.waitForTimeout(300);
            const bytes = await page.screenshot({ path: join(shots, `${name}.png`), fullPage: name === 'phone' });
            assert.ok(bytes.length > 10_000);
        }, settings);
    }
});
