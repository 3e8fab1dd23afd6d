// What a user enters or opens, and what the page says of it: counts, dumps, and what a newcomer looks for.
import assert from 'node:assert/strict';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { close, decided, drag, drop, inPage, paste } from './browser.mjs';
import { NOON, podrank, root, work } from './command-line.mjs';
import { copies, example, headline, panelIsAbout, pictured, pixels, rows, sentence, shop, shots, typeCount, url } from './page.mjs';

after(close);

const read = (file) => readFileSync(file, 'utf8');
const zones = () => JSON.parse(read(example('zones')));
const error = (page) => page.locator('#error').textContent();

test('what is no count is an error that names it, and no answer stands beside it', () => inPage(`${url}#example=circle`, async (page) => {
    for (const [typed, told] of [['-1', /^The count cannot be “-1”/], ['', /^The count is empty/], ['2.5', /^The count cannot be “2.5”/], ['4294967296', /“4294967296”/]]) {
        await typeCount(page, typed);
        await page.locator('#error').waitFor();
        assert.match(await error(page), told);
        assert.ok(await page.locator('#answer').isHidden(), typed);
        assert.ok(await page.locator('#copies').isHidden(), typed);
        assert.doesNotMatch(await page.title(), /pods go,/);
        await page.locator('#count').blur();
        assert.equal(await page.locator('#count').inputValue(), typed, 'it can be mended');
        await typeCount(page, '4');
        await decided(page, { replicas: 4 });
        assert.ok(await page.locator('#error').isHidden());
        assert.ok(await page.locator('#answer').isVisible());
    }
}));

test('the count stands beside the present count, also if there are more pods than that', async () => {
    for (const [name, told, most] of [['rollout', 'replicas from 10 to', '10'], ['zones', 'replicas from 12 to', '12'], ['import', 'parallelism from 4 to', '4']]) {
        await inPage(`${url}#example=${name}`, async (page) => {
            assert.equal((await page.locator('label[for=count]').textContent()).trim(), told);
            for (const id of ['count', 'slider']) assert.equal(await page.locator(`#${id}`).getAttribute('max'), most);
        });
    }
});

test('a link that is wrong is an error that names what is, and no answer stands beside it', async () => {
    for (const [hash, told] of [
        ['example=nope', 'there is no example “nope”'], ['exmaple=zones', 'it has no “example=”'],
        ['example=circle&replicas=abc', 'replicas=abc is not a whole number from 0 to 2147483647'],
        ['example=agents&replicas=3', 'replicas=3, but ds/agent has no count'],
        ['example=circle&now=2020-01-01T00:00:00Z', 'now=2020-01-01T00:00:00Z is before the latest change of its pods, at 2026-03-10T11:59:00Z Decide at that time'],
    ]) {
        const isWrong = async (page) => {
            const text = await error(page);
            assert.ok(text.includes(told), text);
            for (const id of ['answer', 'copies', 'count-field']) assert.ok(await page.locator(`#${id}`).isHidden(), `${hash}: ${id}`);
            assert.equal(await page.title(), 'podrank: which pods are deleted?');
        };
        await inPage(`${url}#${hash}`, isWrong, { shows: '#error' });
        await inPage(`${url}#example=zones`, async (page) => {
            await page.evaluate((hash) => (location.hash = hash), hash);
            await page.locator('#error').waitFor();
            await isWrong(page);
            await page.locator('#workload').selectOption('circle');
            await decided(page, { workload: 'deploy/api', replicas: 4, now: '2026-03-10T12:00:20Z' });
            assert.ok(await page.locator('#error').isHidden());
        });
    }
    await inPage(`${url}#example=circle&replicas=3&now=2020-01-01T00:00:00Z`, async (page) => {
        await page.getByText('Decide at that time').click();
        await decided(page, { replicas: 3, now: '2026-03-10T11:59:00Z' });
        assert.match(await page.locator('#moment-text').textContent(), /^2026-03-10T11:59:00Z, 0 s after the latest change/);
    }, { shows: '#error' });
    await inPage(`${url}#map`, async (page) => assert.equal(await headline(page), 'Scaling deploy/web to 5 deletes 8 of 13 pods, all certain.'));
});

test('at 390 pixels, long names are broken, and nothing is wider than the screen', async () => {
    const long = 'northernmost'.repeat(4);
    const database = read(example('database')).replaceAll('"db', `"${long}`);
    for (const [file, text] of [
        ['zones.json', read(example('zones')).replaceAll('shop', `the-${long}`).replaceAll('node-', `${long}-`)], [`${long}${long}.json`, database],
        ['both.json', `${read(example('zones'))}\n${database}`],
    ]) {
        await inPage(url, async (page) => {
            const isNarrow = async (state) => {
                const { wide, over } = await page.evaluate(measured);
                assert.deepEqual([wide, over], [0, []], `${file}: ${state}`);
            };
            await drop(page, file, text);
            await page.waitForFunction((file) => document.querySelector('#workload optgroup').label === file, file);
            await decided(page);
            await isNarrow('the answer');
            await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
            await page.locator('#rows tr').first().waitFor();
            await isNarrow('all details');
            if (await page.locator('#choose').isVisible()) {
                await page.locator('#choose').click();
                await page.locator('#map .pod').nth(3).click();
                await page.locator('#panel .code, #panel .blocked').first().waitFor();
                await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
                await isNarrow('what is chosen');
            }
            await drop(page, file, text.replaceAll('uid', 'udi'));
            await page.locator('#error').waitFor();
            await isNarrow('an error');
        }, { viewport: { width: 390, height: 844 } });
    }
});

/** How much wider than the screen the page is, and what is out of it without a box that scrolls. */
function measured() {
    const isScrolled = (one) => one !== document.body && (getComputedStyle(one).overflowX !== 'visible' || isScrolled(one.parentElement));
    const over = [...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !isScrolled(one.parentElement) && one.getBoundingClientRect().right > innerWidth);
    return { wide: Math.max(document.documentElement.scrollWidth - innerWidth, 0), over: over.map((one) => one.id || `${one.className} ${one.textContent}`) };
}

test('outside of commands, no sentence names a flag of the command line', async () => {
    const isFree = async (page, told) => {
        const text = await page.evaluate(() => {
            const main = document.querySelector('main').cloneNode(true);
            main.querySelectorAll('pre').forEach((one) => one.remove());
            return main.textContent;
        });
        assert.match(text, told);
        assert.doesNotMatch(text, /\s--[a-z]/);
    };
    const [zone, names] = ['#example=zones', zones().items.filter(({ kind }) => kind === 'Pod').map(({ metadata }) => metadata.name)];
    for (const [hash, told] of [
        [`${zone}&replicas=8&steer=${names.slice(0, 5)}`, /5 pods are named, but only 4 are deleted\./],
        [`${zone}&replicas=12&steer=${names[0]}`, /1 pod is named, but none would be deleted\. deploy\/shop already has 12 replicas\./],
        [`${zone}&replicas=13&steer=${names[0]}`, /so 13 would scale it up\./],
        [`${zone}&replicas=11&steer=${names[0]}`, /shop-5f4c8d9b7-l9z7m is not ready\. Kubernetes deletes such pods first, whatever their deletion costs\./],
        [`${zone}&replicas=8&PodDeletionCost=false&steer=${names[0]}`, /deletion costs have no effect\. The feature gate PodDeletionCost is off\./],
    ]) {
        await inPage(url + hash, async (page) => {
            await page.locator('#panel .blocked').waitFor();
            await isFree(page, told);
        });
    }
    await inPage(url, async (page) => {
        const file = join(work, 'old.json');
        writeFileSync(file, read(example('circle')));
        const written = new Date('2026-03-10T11:59:20Z');
        utimesSync(file, written, written);
        await page.locator('#own').click();
        await page.locator('#file').setInputFiles(file);
        await decided(page, { modified: written.toISOString() });
        await isFree(page, /when the file was last changed: if it is a copy, set the time of the dump/);
        // The slider reaches the current time.
        await page.locator('#settings > summary').click();
        await drag(page, 'moment', [1000]);
        await page.waitForFunction(() => Date.parse(JSON.parse(document.documentElement.dataset.drawn).now) > Date.now());
    });
});

test('a workload without pods leaves nothing of the one before', () => inPage(url, async (page) => {
    await panelIsAbout(page, 'web-7f6b9d5c48-b7wfn');
    const dump = zones();
    // A selector that Kubernetes calls invalid selects no pod.
    dump.items.find(({ kind }) => kind === 'Deployment').spec.selector = { matchLabels: { app: 'x'.repeat(64) } };
    await drop(page, 'none.json', JSON.stringify(dump));
    await decided(page, { workload: 'deploy/shop' });
    await page.waitForFunction(() => document.getElementById('panel').childElementCount === 0);
    assert.equal(await headline(page), 'deploy/shop: it has no pods.');
    assert.equal(await page.locator('#key').textContent(), '');
}));

test('an own dump opens at the count that its autoscaler wants, or at one less than now', () => inPage(url, async (page) => {
    for (const [pods, autoscaled, replicas] of [[12, null, 11], [12, 6, 6], [9, 9, 8], [9, 14, 8], [1, null, 0]]) {
        await drop(page, `${pods}-${autoscaled}.json`, JSON.stringify(shop(zones(), pods, { autoscaled })));
        await page.waitForFunction((name) => document.querySelector('#workload optgroup').label === name, `${pods}-${autoscaled}.json`);
        await decided(page, { replicas });
        assert.equal(await page.locator('#count').inputValue(), `${replicas}`);
    }
}));

test('a name at the start of a sentence stays as it is', async () => {
    const { capital } = await import('../src/words.js');
    for (const [text, names, told] of [
        ['db-1 is not ready', [], 'db-1 is not ready'], ['deletion cost -10, z5tgq has 0', [], 'Deletion cost -10, z5tgq has 0'],
        ['web is not ready', ['web'], 'web is not ready'], ['z5tgq goes first', [], 'z5tgq goes first'], ['one of 3 pods', ['web'], 'One of 3 pods'],
    ]) assert.equal(capital(text, names), told);
    await inPage(`${url}#example=database`, async (page) => {
        for (const pod of await page.locator('#map .pod').all()) {
            const name = await pod.getAttribute('data-name');
            await pod.click();
            await panelIsAbout(page, name);
            assert.doesNotMatch(await page.locator('#panel').textContent(), /Db-\d/);
        }
    });
});

test('in podrank’s order nothing is certain, and nothing has a colour of a prediction', () => inPage(`${url}#example=zones&order=total`, async (page) => {
    await decided(page, { order: 'total' });
    assert.equal(await headline(page), sentence(podrank('-f', example('zones'), '--replicas', 8, '--now', NOON, '--order', 'total').stdout));
    assert.doesNotMatch(await page.locator('#key').textContent(), /certain|chance/);
    await page.locator('#list > summary').click();
    await page.locator('#rows tr').first().waitFor();
    const colours = await page.evaluate(() => [...document.querySelectorAll('[data-fate]')].flatMap((one) => {
        const { backgroundColor, borderTopColor, color } = getComputedStyle(one.matches('tr') ? one.cells[0] : one);
        return [backgroundColor, borderTopColor, color];
    }));
    for (const [light, what] of [['rgb(179, 38, 30)', 'red'], ['rgb(138, 83, 0)', 'orange']]) assert.ok(colours.length > 20 && !colours.includes(light), what);
    const drawn = await pixels(page, (await pictured(page)).bytes);
    assert.equal(drawn.colours['179,38,30'], undefined);
}));

test('the page says what it is, that an example is one, and where podrank is', () => inPage(url, async (page) => {
    const what = page.locator('.what');
    assert.match(await what.textContent(), /^podrank says which pods Kubernetes deletes when a workload is scaled down, and why\. This is an example\.\s/);
    const links = await page.locator('.what a').evaluateAll((all) => all.map(({ href }) => href));
    assert.equal(links.length, 3);
    for (const link of links) {
        const [, path, anchor] = /^https:\/\/github\.com\/podrank\/podrank(?:\/blob\/main\/([^#]+)(?:#(.*))?)?$/.exec(link);
        if (!path) continue;
        const headings = read(join(root, path)).split('\n').filter((line) => line.startsWith('#'));
        const anchors = headings.map((line) => line.replace(/^#+ /, '').toLowerCase().replace(/[^\w\s-]/g, '').replaceAll(' ', '-'));
        assert.ok(anchor === undefined || anchors.includes(anchor), `${path} has no ${anchor}`);
    }
    await drop(page, 'mine.json', JSON.stringify(zones()));
    await page.getByText('These are the pods of mine.json').waitFor();
    assert.doesNotMatch(await what.textContent(), /This is an example/);
}));

test('in a rollout, each pod says whether its ReplicaSet is new or old, also if the older one is the new one', async () => {
    const dump = JSON.parse(read(example('rollout')));
    const { groups } = JSON.parse(podrank('-f', example('rollout'), '--replicas', 5, '--now', NOON, '-o', 'json').stdout);
    const deployment = dump.items.find(({ kind }) => kind === 'Deployment');
    const all = dump.items.filter(({ kind }) => kind === 'ReplicaSet');
    // By its template, as Kubernetes finds it.
    const bare = ({ metadata, spec }) => JSON.stringify([Object.entries(metadata.labels ?? {}).filter(([key]) => key !== 'pod-template-hash').sort(), spec]);
    const newOf = (dump) => dump.items.find((item) => item.kind === 'ReplicaSet' && bare(item.spec.template) === bare(deployment.spec.template)).metadata.name;
    const ages = (page) => page.evaluate(() => Object.fromEntries([...document.querySelectorAll('#map .pod')].map((pod) => [pod.dataset.name, pod.querySelector('.age').textContent])));
    const expected = (young) => Object.fromEntries(groups.flatMap(({ replicaSet, pods }) => pods.map(({ name }) => [name, replicaSet === young ? 'new' : 'old'])));
    const first = newOf(dump);
    await inPage(`${url}#example=rollout`, async (page) => {
        assert.deepEqual(await ages(page), expected(first));
        assert.match(await page.locator('#notes').textContent(), new RegExp(`${first} \\(new\\): `));
        await page.locator('#list > summary').click();
        await page.locator('#rows tr').nth(9).waitFor();
        assert.equal(await page.locator('#rows .age').count(), 10);
        // Somebody undoes the rollout: its template is the other set's again.
        const other = all.find((set) => set.spec.replicas > 0 && set.metadata.name !== first);
        deployment.spec.template = structuredClone(other.spec.template);
        delete deployment.spec.template.metadata.labels['pod-template-hash'];
        assert.equal(newOf(dump), other.metadata.name);
        // The same is asked of it, so what was decided before would pass for its answer.
        await page.evaluate(() => delete document.documentElement.dataset.decided);
        await drop(page, 'undone.json', JSON.stringify(dump));
        await page.waitForFunction(() => document.querySelector('#workload optgroup').label === 'undone.json');
        await decided(page);
        assert.deepEqual(await ages(page), expected(other.metadata.name));
    });
    await inPage(`${url}#example=zones`, async (page) => assert.equal(await page.locator('.age').count(), 0, 'its only set is neither'));
});

test('above 100 pods, a filter finds rows by pod and node, and a row opens what is known of its pod', () => inPage(url, async (page) => {
    await drop(page, 'shop.json', JSON.stringify(shop(zones(), 250)));
    await page.waitForFunction(() => document.getElementById('present').textContent === '250');
    await decided(page);
    await page.locator('#rows tr').nth(9).waitFor();
    assert.equal(await page.locator('#more').textContent(), '240 more');
    await page.locator('#more').click();
    await page.waitForFunction(() => document.querySelectorAll('#rows tr').length === 110);
    await page.locator('#filter').fill('node-b7');
    await page.waitForFunction(() => [...document.querySelectorAll('#rows tr')].every((row) => row.textContent.includes('node-b7')));
    const found = await rows(page);
    assert.ok(found.length > 0 && found.length <= 10 && found.every(([, , node]) => node.startsWith('node-b7')), JSON.stringify(found));
    const [, name] = found.at(-1);
    await page.locator('#rows button', { hasText: name }).click();
    await panelIsAbout(page, name);
    assert.equal(await page.locator('#rows .marked th').textContent(), name);
    await page.locator('#filter').fill('no such pod');
    await page.locator('#none').waitFor();
    await page.locator('#filter').fill('');
    await page.locator('#rows tr').nth(9).waitFor();
}));

test('all workloads of a dump: a row each, as at a terminal, and a click shows one', () => inPage(`${url}#example=zones`, async (page) => {
    assert.ok(await page.locator('#workloads').isHidden(), 'there is one alone');
    const all = ['rollout.json', 'stateful-set.json', 'job.json', 'daemon-set.json'].map((file) => read(join(root, 'predict/examples', file)));
    await paste(page, all.join('\n'));
    await decided(page, { workload: 'deploy/web' });
    await page.locator('#workloads > summary').click();
    await page.locator('#workloads-rows tr').nth(3).waitFor();
    const shown = await page.locator('#workloads-rows tr').evaluateAll((rows) => rows.map((row) => [...row.cells].map((cell) => cell.textContent)));
    assert.deepEqual(shown.map(([name, pods]) => [name, pods]), [['ds/agent', '6'], ['deploy/web', '13'], ['job/import', '6'], ['sts/db', '5']].sort(([a], [b]) =>
        shown.findIndex(([name]) => name === a) - shown.findIndex(([name]) => name === b)));
    const next = (await page.locator('#workloads-head th').allTextContents()).indexOf('Next');
    assert.ok(shown.find(([name]) => name === 'sts/db')[next].startsWith('db-'));
    await page.locator('#workloads-rows button', { hasText: 'sts/db' }).click();
    await decided(page, { workload: 'sts/db', replicas: 4 });
    await page.waitForFunction(() => document.querySelector('#workloads-rows .marked')?.textContent.includes('sts/db'));
}));

test('the picture is no larger than what it shows', async () => {
    for (const name of ['rollout', 'circle', 'zones', 'database', 'import']) {
        await inPage(`${url}#example=${name}`, async (page) => {
            const { bytes } = await pictured(page);
            writeFileSync(join(shots, `copied-${name}.png`), bytes);
            const { right, bottom, blank } = await pixels(page, bytes);
            console.log(`${name}: ${Math.round(100 * blank)} % of the picture is blank`);
            assert.ok(right > 0.9 && bottom > 0.85 && blank < 0.45, `${name}: ${right} ${bottom} ${blank}`);
        });
    }
});

test('what the page says of pods has no word of the JSON', async () => {
    for (const hash of ['example=rollout', 'example=rollout&replicas=3', 'example=circle', 'example=zones&steer=shop-5f4c8d9b7-b6w3p', 'example=database', 'example=import', 'example=agents']) {
        await inPage(`${url}#${hash}`, async (page) => {
            await page.waitForFunction(() => document.querySelector('#panel').childElementCount > 0);
            await page.evaluate(() => document.querySelectorAll('details:not([hidden], #workloads)').forEach((one) => (one.open = true)));
            await page.locator('#rows tr').first().waitFor();
            const { texts } = await pictured(page);
            const told = [await page.locator('main').innerText(), texts.join('\n'), await copies(page, 'copy-markdown')].join('\n');
            assert.deepEqual(told.match(/\b(delete|keep|contested|WHY)\b/g) ?? [], [], hash);
            const goes = (await rows(page)).map(([goes]) => goes);
            assert.ok(goes.every((goes) => /^(deleted|kept|waiting|possible( [\d<>]+( to [\d<>]+)?%)?|[\d<>]+%)$/.test(goes)), goes.join());
        });
    }
});
