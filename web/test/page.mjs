// What the tests of the page share: where it is, what is asked of it, and what it tells.
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { name as browser } from './browser.mjs';
import { EXAMPLES, pageFile, target } from './command-line.mjs';

export const url = pathToFileURL(pageFile).href;
export const shots = join(process.env.SCREENSHOTS ?? join(target, 'web/screenshots'), browser === 'chromium' ? '' : browser);
mkdirSync(shots, { recursive: true });

export const example = (name) => EXAMPLES.find((example) => example.name === name).file;
export const ask = (page, call, ...given) => page.evaluate(([call, given]) =>
    podrank.ask(call, ...given).catch((error) => ({ error: error.message })), [call, given]);
/** The last question, as the page's module takes it. */
export const asked = (page) => page.evaluate(() => document.documentElement.dataset.decided);
/** Types a count in place of the one that is there. In a number field that has one, Firefox's driver adds to it. */
export async function typeCount(page, text) {
    const field = page.locator('#count');
    await field.evaluate((field) => {
        field.focus();
        field.value = '';
    });
    await (text === '' ? field.dispatchEvent('input') : page.keyboard.insertText(text));
}
export const headline = (page) => page.locator('#headline').textContent();
/** The headline that the page shows for what the command line prints first. */
export const sentence = (printed) => printed.slice(0, printed.indexOf('\n'));
export const panelIsAbout = (page, pod) => page.waitForFunction((pod) => document.querySelector('#panel .who')?.textContent.includes(pod), pod);
/** Opens the settings, and waits until the slider of the time shows when chance decides. */
export const isSampled = async (page) => {
    await page.evaluate(() => (document.getElementById('settings').open = true));
    await page.waitForFunction(() => document.querySelectorAll('#strip i').length === 120);
};
/** The rows of the table: the texts of their cells. */
export const rows = (page) => page.locator('#rows tr').evaluateAll((all) => all.map((row) => [...row.cells].map((cell) => cell.textContent)));
/** Clicks a button that copies, and returns what was copied: a text, or a picture's bytes. */
export async function copies(page, id) {
    await page.evaluate(() => {
        globalThis.copied = null;
        navigator.clipboard.writeText = async (text) => (globalThis.copied = text);
        navigator.clipboard.write = async ([item]) => (globalThis.copied = [...new Uint8Array(await (await item.getType('image/png')).arrayBuffer())]);
    });
    await page.locator(`#${id}`).click();
    await page.waitForFunction(() => copied !== null);
    const copied = await page.evaluate(() => copied);
    return typeof copied === 'string' ? copied : Buffer.from(copied);
}
/** The texts of the picture that is copied, before it becomes bytes. */
export async function pictured(page) {
    await page.evaluate(() => {
        const write = XMLSerializer.prototype.serializeToString;
        XMLSerializer.prototype.serializeToString = function (element) {
            globalThis.drawing = [...element.querySelectorAll('text')].map(({ textContent }) => textContent);
            return write.call(this, element);
        };
    });
    const bytes = await copies(page, 'copy-picture');
    return { bytes, texts: await page.evaluate(() => drawing) };
}
/** How wide a picture is, how many of its pixels have each colour, how far it reaches, and how much of it is blank. */
export const pixels = (page, bytes) => page.evaluate(async (bytes) => {
    const bitmap = await createImageBitmap(new Blob([new Uint8Array(bytes)], { type: 'image/png' }));
    const { width, height } = bitmap;
    const context = Object.assign(document.createElement('canvas'), { width, height }).getContext('2d');
    context.drawImage(bitmap, 0, 0);
    const { data } = context.getImageData(0, 0, width, height);
    const [colours, tiles] = [{}, new Set()];
    let [right, bottom] = [0, 0];
    for (let at = 0; at < data.length; at += 4) {
        const [x, y, colour] = [(at / 4) % width, Math.floor(at / 4 / width), data.slice(at, at + 3)];
        colours[colour] = (colours[colour] ?? 0) + 1;
        if (colour[0] + colour[1] + colour[2] > 740) continue;
        [right, bottom] = [Math.max(right, x), Math.max(bottom, y)];
        tiles.add(`${x >> 6} ${y >> 6}`);
    }
    return { width, colours, right: right / width, bottom: bottom / height, blank: 1 - tiles.size / (Math.ceil(width / 64) * Math.ceil(height / 64)) };
}, [...bytes]);
/** The end of a pod's name. */
export const short = (name) => name.slice(name.lastIndexOf('-') + 1);

/** A dump like that of the three zones, with so many pods. `autoscaled` is the count that an autoscaler wants. */
export function shop(dump, pods, { autoscaled = null } = {}) {
    const [pod] = dump.items;
    const others = dump.items.filter((item) => item.kind !== 'Pod');
    for (const item of others) {
        if (item.spec?.replicas) item.spec.replicas = pods;
        if (item.status?.replicas) Object.assign(item.status, { replicas: pods, availableReplicas: pods });
    }
    const all = Array.from({ length: pods }, (_, index) => {
        const copy = structuredClone(pod);
        copy.metadata.name = `shop-5f4c8d9b7-${index}`;
        copy.metadata.uid = `00000000-0000-4000-8000-${((index * 7919) % 10_007).toString(16).padStart(12, '0')}`;
        copy.spec.nodeName = `node-${'abc'[index % 3]}${index % 300}`;
        copy.status.containerStatuses[0].restartCount = index % 5;
        copy.status.conditions[0].lastTransitionTime = new Date(Date.parse('2026-03-10T06:00:00Z') + index * 1000).toISOString();
        return copy;
    });
    const autoscaler = {
        apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'shop', namespace: 'default', uid: 'shop' },
        spec: { minReplicas: 2, maxReplicas: 2 * pods, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'shop' } },
        status: { currentReplicas: pods, desiredReplicas: autoscaled },
    };
    return { ...dump, items: [...all, ...others, ...(autoscaled === null ? [] : [autoscaler])] };
}
