// Takes the pictures of the documentation: `node screenshots.mjs RESULTS PICTURES`.

import { join } from 'node:path';
import { launch, open } from './browser.mjs';

const [, , results, pictures] = process.argv;
const browser = await launch();

async function take(name, folder, options, act) {
  const report = await open(browser, join(results, folder), { viewport: { width: 1180, height: 900 }, ...options });
  const picked = await act(report.page);
  const path = join(pictures, `report-${name}.png`);
  // What has had the time to be drawn is drawn.
  await report.page.waitForTimeout(500);
  if (picked) await picked.screenshot({ path });
  else await report.page.screenshot({ path });
  await report.close();
  if (report.problems.length > 0) throw new Error(`${name}: ${report.problems.join('; ')}`);
  console.log(path);
}

/** Puts the pointer into a chart, at these parts of its width and height. */
async function pointAt(page, title, across, down) {
  const over = page.locator('section.chart', { has: page.locator('h3', { hasText: title }) }).first().locator('.u-over');
  const { x, y, width, height } = await over.boundingBox();
  await page.mouse.move(x + width * across, y + height * down);
}

async function to(page, id) {
  await page.evaluate(id => document.getElementById(id).scrollIntoView(), id);
}

await take('compare', 'compare', { viewport: { width: 1180, height: 1080 } }, async page => { await pointAt(page, 'Utilisation over time', 0.42, 0.5); });
await take('waits', 'compare', { colorScheme: 'dark', viewport: { width: 1180, height: 1040 } }, async page => {
  await to(page, 'waits');
  await pointAt(page, 'Waits by nodes', 0.42, 0.4);
});
await take('gantt', 'compare', {}, async page => {
  await page.locator('#gantt select').first().selectOption({ label: 'central-easy' });
  await to(page, 'gantt');
  await pointAt(page, 'Jobs on nodes', 0.3, 0.45);
});
await take('zones', 'zones', {}, async page => {
  await page.getByLabel('moment').fill(String(await page.getByLabel('moment').evaluate(slider => Math.round(slider.max * 0.7))));
  await to(page, 'overlay');
  await pointAt(page, 'Zones', 0.3, 0.4);
});
await take('paper', 'p1', {}, async page => {
  await to(page, 'table2');
  await pointAt(page, 'whole plain trace: wait s', 0.4, 0.5);
});
await take('costs', 'costs', {}, page => page.locator('#costs'));
await take('phone', 'run', { viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, colorScheme: 'dark', isMobile: true, hasTouch: true }, page => to(page, 'use'));

await browser.close();
