// A page in headless Chromium, and proof that nothing left it.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium } from 'playwright-core';

const executablePath = process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);
assert.ok(executablePath, 'no Chromium: install chromium, or name one in CHROMIUM');
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
export const close = () => browser.close();

/** Opens the page, runs the test, and asserts that it asked for nothing but itself and that no script failed. */
export async function inPage(url, test, settings = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, reducedMotion: 'reduce', ...settings });
    const page = await context.newPage();
    const [requests, errors] = [[], []];
    page.on('request', (request) => requests.push(request.url()));
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
    const fates = { delete: [], contested: [], keep: [] };
    for (const pod of document.querySelectorAll('#map .pod')) fates[pod.dataset.fate].push(pod.querySelector('span').textContent);
    for (const pods of Object.values(fates)) pods.sort();
    return fates;
});

/** Sets a slider as a user who drags it does. */
export async function drag(page, id, value) {
    await page.locator(`#${id}`).evaluate((slider, value) => {
        slider.value = value;
        slider.dispatchEvent(new Event('input', { bubbles: true }));
    }, String(value));
}
