// A page in headless Chromium, and proof that nothing left it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
assert.ok(executablePath, 'no Chromium: install chromium, or name one in CHROMIUM');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
export const close = () => browser.close();

/** Opens the page without network, runs the test, and asserts that it asked for nothing but itself and that nothing failed. */
export async function inPage(url, test, settings = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', offline: true, ...settings });
    context.setDefaultTimeout(15_000);
    const page = await context.newPage();
    const [requests, errors] = [[], []];
    context.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(url);
    await decided(page);
    await test(page);
    const own = url.split('#')[0];
    const others = requests.filter((request) => request.split('#')[0] !== own && !request.startsWith('blob:') && !request.startsWith('data:'));
    assert.deepEqual(others, [], 'requests that left the page');
    assert.deepEqual(errors, []);
    await context.close();
}

/** Waits until the page shows the decision for what is chosen. */
export async function decided(page, wanted = {}) {
    await page.waitForFunction((wanted) => {
        const { decided } = document.documentElement.dataset;
        if (!decided || !document.getElementById('working').hidden) return false;
        const options = JSON.parse(decided);
        return Object.entries(wanted).every(([name, value]) => options[name] === value);
    }, wanted);
}

/** The pods on the map by verdict: the ends of their names, sorted. */
export const fates = (page) => page.evaluate(() => {
    const fates = { delete: [], contested: [], later: [], keep: [] };
    for (const pod of document.querySelectorAll('#map .pod')) fates[pod.dataset.fate].push(pod.querySelector('span').textContent);
    for (const pods of Object.values(fates)) pods.sort();
    return fates;
});

/**
 * Drags the knob of a slider with the mouse to values of its scale, one after the other, and calls `at(VALUE)` at each. The
 * pointer moves by pixels, so the value can be a neighbour of the one that was asked for if the scale is fine.
 */
export async function drag(page, id, values, at = () => {}) {
    const slider = page.locator(`#${id}`);
    await slider.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await slider.boundingBox();
    const { min, max, value: first } = await slider.evaluate(({ min, max, value }) => ({ min: Number(min), max: Number(max), value: Number(value) }));
    // The middle of the knob, which is 24 pixels wide, stays within the slider.
    const place = (value) => [x + 12 + ((width - 24) * (value - min)) / (max - min), y + height / 2];
    await page.mouse.move(...place(first));
    await page.mouse.down();
    for (const value of values) {
        await page.mouse.move(...place(value), { steps: 3 });
        await at(value);
    }
    await page.mouse.up();
}

/** Puts a text on the clipboard as a user does, who copies it elsewhere, and pastes it where the focus is. */
export async function paste(page, text) {
    await page.evaluate((text) => {
        const elsewhere = document.createElement('textarea');
        elsewhere.value = text;
        const focused = document.activeElement;
        (document.querySelector('dialog[open]') ?? document.body).append(elsewhere);
        elsewhere.select();
        document.execCommand('copy');
        elsewhere.remove();
        focused.focus();
    }, text);
    await page.keyboard.press('Control+V');
}
