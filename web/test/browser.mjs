// The web app in headless Chromium or Firefox. Each test fails if it asked for any address but its own, or opened one.
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chromium, firefox } from 'playwright-core';
import { work } from './command-line.mjs';

/** Which browser: `BROWSER=firefox` tests in Firefox. */
export const name = process.env.BROWSER ?? 'chromium';
const isFirefox = name === 'firefox';
const known = isFirefox ? ['/usr/bin/firefox-esr', '/usr/bin/firefox'] : ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = process.env[name.toUpperCase()] ?? known.find(existsSync);
assert.ok(executablePath, `no ${name}: install it, or name one in ${name.toUpperCase()}`);

const launched = new Map();
/** Firefox takes what users prefer when it starts, and a proxy that is not there in place of no network. */
function browser(colorScheme) {
    const key = isFirefox ? colorScheme : '';
    if (!launched.has(key)) {
        const proxies = ['http', 'ssl', 'socks'].flatMap((kind) => [[`network.proxy.${kind}`, '127.0.0.1'], [`network.proxy.${kind}_port`, 9]]);
        const firefoxUserPrefs = {
            'ui.systemUsesDarkTheme': Number(colorScheme === 'dark'), 'ui.prefersReducedMotion': 1, 'network.proxy.type': 1, ...Object.fromEntries(proxies),
        };
        // As root, Firefox refuses a home that belongs to another user, and a container's /dev/shm is too small for Chromium.
        const env = { ...process.env, HOME: work };
        launched.set(key, isFirefox ? firefox.launch({ executablePath, channel: 'moz-firefox', firefoxUserPrefs, env })
            : chromium.launch({ executablePath, env, args: ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic'] }));
    }
    return launched.get(key);
}
export const close = async () => Promise.all([...launched.values()].map(async (one) => (await one).close()));

/**
 * Opens the page without network, waits for its answer or for what it `shows` instead, runs the test, and asserts that the page asked for
 * nothing but itself, opened no other, and that nothing failed.
 */
export async function inPage(url, test, { colorScheme = 'light', viewport = { width: 1280, height: 900 }, shows = null, ...settings } = {}) {
    const media = isFirefox ? { colorScheme: null, reducedMotion: null } : { colorScheme, reducedMotion: 'reduce', offline: true };
    const context = await (await browser(colorScheme)).newContext({ viewport, ...media, ...settings });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const [requests, errors] = [[], []];
    context.on('request', (request) => requests.push(request.url()));
    page.on('pageerror', (error) => errors.push(error.message));
    page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
    await page.goto(url);
    await (shows ? page.locator(shows).waitFor() : decided(page));
    const own = url.split('#')[0];
    const others = (urls) => urls.filter((url) => url.split('#')[0] !== own && !url.startsWith('blob:') && !url.startsWith('data:'));
    // If the page has left for another address, that is the reason why the test fails.
    const failed = await test(page).catch((error) => error);
    assert.deepEqual(others([...requests, ...context.pages().map((page) => page.url())]), [], 'addresses other than the page');
    if (failed) throw failed;
    assert.deepEqual(others(await page.evaluate(() => performance.getEntriesByType('resource').map(({ name }) => name))), []);
    // Before it takes a picture, the driver adds a style of its own, which the page's policy refuses in Firefox.
    assert.deepEqual(errors.filter((error) => !(isFirefox && page.wasTaken && error.includes('blocked an inline style'))), []);
    await context.close();
}

/** Takes a picture. */
export async function picture(page, settings) {
    page.wasTaken = true;
    return page.screenshot({ caret: 'initial', ...settings });
}

/** Waits until the page shows the decision for what is chosen, with the map. */
export async function decided(page, wanted = {}) {
    await page.waitForFunction((wanted) => {
        const { decided, drawn } = document.documentElement.dataset;
        if (!decided || drawn !== decided || document.getElementById('working').textContent) return false;
        const options = JSON.parse(decided);
        return Object.entries(wanted).every(([name, value]) => options[name] === value);
    }, wanted);
}

/** The pods on the map by fate: the ends of their names, sorted. */
export const fates = (page) => page.evaluate(() => {
    const fates = { deleted: [], possible: [], waiting: [], kept: [] };
    for (const pod of document.querySelectorAll('#map .pod')) fates[pod.dataset.fate].push(pod.querySelector('span').textContent);
    for (const pods of Object.values(fates)) pods.sort();
    return fates;
});

/** Where an element is once it has not moved for a while: the page may still draw something above it. */
async function resting(element) {
    for (let before = ''; ;) {
        const box = await element.boundingBox();
        if (JSON.stringify(box) === before) {
            return box;
        }
        before = JSON.stringify(box);
        await new Promise((done) => setTimeout(done, 250));
    }
}

/**
 * Drags the knob of a slider with the mouse to values of its scale, one after the other, and calls `at(VALUE)` at each. The
 * pointer moves by pixels, so the value can be a neighbour of the one that was asked for if the scale is fine.
 */
export async function drag(page, id, values, at = () => {}) {
    const slider = page.locator(`#${id}`);
    await slider.scrollIntoViewIfNeeded();
    const { x, y, width, height } = await resting(slider);
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

/** Pastes a text where the focus is. Headless browsers have no clipboard that tests could fill, and Firefox lets no event of ours have one. */
export const paste = (page, text) => page.evaluate((text) => {
    const event = new Event('paste', { bubbles: true, cancelable: true });
    event.clipboardData = { getData: () => text };
    document.activeElement.dispatchEvent(event);
}, text);

/** Drops a file on the page. */
export const drop = (page, name, text) => page.evaluate(([name, text]) => {
    const data = new DataTransfer();
    data.items.add(new File([text], name));
    document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }));
}, [name, text]);
