import { chromium } from 'playwright-core';
const [page_, out, query = '', width = '1280', scheme = 'light', ...clicks] = process.argv.slice(2);
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: Number(width), height: 900 }, colorScheme: scheme });
page.on('console', (m) => console.log('console:', m.text())); page.on('pageerror', (e) => console.log('error:', e.message));
await page.goto(`file://${page_}${query}`);
await page.waitForFunction(() => document.documentElement.dataset.decided, null, { timeout: 8000 }).catch((e) => console.log(e.message));
await page.waitForTimeout(400);
for (const c of clicks) { await page.click(c); await page.waitForTimeout(250); }
await page.screenshot({ path: out, fullPage: true });
await browser.close();
