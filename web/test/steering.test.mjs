// The page while its user chooses the pods that go: all of it tells the plan, and none of it what Kubernetes would do without one.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { close, decided, drop, fates, inPage } from './browser.mjs';
import { copies, example, headline, pictured, rows, shop, url } from './page.mjs';

after(close);

const CHOSEN = ['shop-5f4c8d9b7-b6w3p', 'shop-5f4c8d9b7-k5t2q'];
const steered = `${url}#example=zones&replicas=8&steer=${CHOSEN.join(',')}`;
const zones = () => JSON.parse(readFileSync(example('zones'), 'utf8'));
const choose = (page, name) => page.locator(`#map .pod[data-name="${name}"]`).click();
const isPlanned = (page, pods) => page.waitForFunction((pods) =>
    document.querySelector('#panel .code pre')?.textContent.split(' --pod ').length === pods + 1, pods);

test('headline, key, map, table, Markdown, picture and command follow the chosen pods, and say that costs have to be written', () => inPage(steered, async (page) => {
    await isPlanned(page, 2);
    const told = 'Scaling deploy/shop to 8 deletes 4 of 12 pods, all certain, if these 4 deletion costs are written.';
    assert.equal(await headline(page), told);
    assert.equal(await page.title(), `${told} · podrank`);
    assert.equal((await page.locator('#key > span').first().textContent()).trim(), '4 deleted for certain');
    const gone = (await fates(page)).deleted;
    assert.equal(gone.length, 4);
    assert.ok(['b6w3p', 'k5t2q'].every((name) => gone.includes(name)));
    await page.locator('#list > summary').click();
    await page.locator('#more').click();
    await page.locator('#rows tr').nth(11).waitFor();
    const table = await rows(page);
    const goes = table.filter(([goes]) => goes === 'deleted').map(([, name]) => name);
    assert.deepEqual(goes.map((name) => name.slice(-5)).sort(), gone);
    for (const [, name, , because] of table) if (CHOSEN.includes(name)) assert.equal(because, 'podrank\'s cost -1');
    const markdown = await copies(page, 'copy-markdown');
    assert.ok(markdown.startsWith(`**${told}**\n`), markdown);
    for (const name of goes) assert.match(markdown, new RegExp(`^\\| deleted \\| ${name} \\|`, 'm'));
    const command = `kubectl podrank scale deploy/shop --replicas 8 ${CHOSEN.map((name) => `--pod ${name}`).join(' ')}`;
    assert.ok(markdown.includes(command), markdown);
    const { texts } = await pictured(page);
    assert.ok(texts.slice(0, 3).join(' ').startsWith(told), texts.join('; '));
    assert.equal(await page.locator('#command').textContent(), command);
    assert.equal(await page.locator('#panel .code pre').first().textContent(), command);
    // Without a choice, the page shows what Kubernetes deletes without a plan.
    await page.locator('#choose').click();
    await page.waitForFunction(() => !document.getElementById('headline').textContent.includes('if'));
    assert.match(await page.locator('#command').textContent(), /^kubectl podrank deploy\/shop --replicas 8 --now /);
    assert.doesNotMatch(await copies(page, 'copy-markdown'), /if these/);
}));

test('with kubectl alone, the costs and the count are two commands to copy, after the one that waits between them', () => inPage(steered, async (page) => {
    await isPlanned(page, 2);
    await page.getByText('With kubectl alone').click();
    const blocks = await page.locator('#panel .code pre').allTextContents();
    assert.equal(blocks.length, 3);
    assert.match(blocks[0], /^kubectl podrank scale /);
    assert.match(blocks[1], /^(kubectl annotate pod [^\n]+\n?)+$/);
    assert.match(blocks[2], /^kubectl scale deploy\/shop --current-replicas=12 --replicas=8$/);
    assert.equal(await page.locator('#panel .code button').count(), 3);
    const told = await page.locator('#panel').textContent();
    assert.match(told, /kubectl cannot tell whether the controller has seen the costs\. If the replica count reaches it first, it deletes other pods/);
    assert.doesNotMatch(told, /a moment/);
}));

test('the count follows what is chosen if nobody asked for it: one pod of 1,000 goes with one cost', () => inPage(url, async (page) => {
    await drop(page, 'shop.json', JSON.stringify(shop(zones(), 1000)));
    await page.waitForFunction(() => document.getElementById('present').textContent === '1000');
    await decided(page, { replicas: 999 });
    await page.locator('#choose').click();
    await page.getByText('The replica count follows your selection').waitFor();
    await page.locator('#rows button').nth(3).click();
    await isPlanned(page, 1);
    assert.equal(await page.locator('#panel .big').textContent(), '1 deletion cost to write');
    assert.match(await headline(page), /deletes 1 of 1000 pods, for certain, if this deletion cost is written\.$/);
    await page.locator('#rows button').nth(6).click();
    await isPlanned(page, 2);
    await decided(page, { replicas: 998 });
    assert.equal(await page.locator('#count').inputValue(), '998');
    assert.equal(await page.locator('#panel .big').textContent(), '2 deletion costs to write');
    assert.equal(await page.locator('#rows .marked').count(), 2);
}));

test('a count that somebody asked for stays, and says how many go besides those chosen, until only these should go', () => inPage(steered, async (page) => {
    await isPlanned(page, 2);
    assert.match(await page.locator('#panel').textContent(), /4 pods are deleted at this replica count: the 2 that you selected and 2 more\./);
    await page.getByText('Delete only these 2: scale to 10').click();
    // Costs cannot keep a pod that is not ready.
    await page.locator('#panel .blocked').waitFor();
    assert.equal(await page.locator('#count').inputValue(), '10');
    assert.match(await page.locator('#panel .blocked').textContent(), /is not ready\. Kubernetes deletes such pods first/);
    assert.match(await headline(page), /^There is no plan for what you selected\. Without a plan: Scaling deploy\/shop to 10 deletes 2 of 12 pods/);
    await choose(page, 'shop-5f4c8d9b7-l9z7m');
    await page.getByText('Delete only these 3: scale to 9').click();
    await isPlanned(page, 3);
    assert.match(await headline(page), /deletes 3 of 12 pods, all certain, if these 3 deletion costs are written\.$/);
}));
