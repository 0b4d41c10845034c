// Looks at the status page of an agent as a person would: `node node.mjs ADDRESS JOB...`, with jobs that were submitted there.

import assert from 'node:assert/strict';
import { launch } from './browser.mjs';

const [address, ...jobs] = process.argv.slice(2);
const browser = await launch();
for (const colorScheme of ['light', 'dark']) {
  const page = await (await browser.newContext({ colorScheme })).newPage();
  const problems = [];
  page.on('console', message => { if (message.type() !== 'log') problems.push(`console: ${message.text()}`); });
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => { if (new URL(request.url()).host !== address) problems.push(`request: ${request.url()}`); });
  await page.goto(`http://${address}/`);
  await page.waitForFunction(count => document.querySelectorAll('#jobs tr').length > count, jobs.length);
  assert.match(await page.title(), /Gridweave/);
  assert.equal(await page.locator('h1').innerText(), 'Gridweave node alpha');
  const shown = await page.locator('#jobs').innerText();
  for (const job of jobs) assert.ok(shown.includes(job), `${job} is not in ${shown}`);
  // A program of a user is text, whatever it is called.
  assert.ok(shown.includes('<img src=x onerror=alert(1)>'), shown);
  assert.equal(await page.locator('#jobs img').count(), 0);
  assert.ok((await page.locator('#peers').innerText()).includes('beta'));
  assert.ok((await page.locator('#status').innerText()).includes('neighbours'));
  // It looks again by itself.
  await page.evaluate(() => { document.getElementById('jobs').textContent = ''; });
  await page.waitForFunction(count => document.querySelectorAll('#jobs tr').length > count, jobs.length);
  assert.deepEqual(problems, []);
}
await browser.close();
console.log(`the status page shows ${jobs.length} jobs, in both colours, and asks no other computer`);
