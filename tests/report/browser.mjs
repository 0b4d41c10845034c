// A headless Chromium with a report in it, which notices whatever goes wrong there.

import { chromium } from 'playwright-core';
import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

/** Starts the browser at the path that CHROMIUM names. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run'],
  });
}

/** Opens the report of a folder. What it complains of, and what it asks for besides itself, is in `problems`. */
export async function open(browser, folder, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light', ...options });
  const page = await context.newPage();
  const problems = [];
  const url = pathToFileURL(join(folder, 'report.html')).href;
  page.on('console', message => { if (message.type() !== 'log') problems.push(`console: ${message.text()}`); });
  page.on('pageerror', error => problems.push(`error: ${error.message}`));
  page.on('dialog', dialog => { problems.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  page.on('request', request => { if (request.url() !== url && !request.url().startsWith('data:')) problems.push(`request: ${request.url()}`); });
  const begin = Date.now();
  await page.goto(url);
  await page.waitForFunction(() => window.gridweave && document.querySelector('footer').textContent.length > 0);
  const took = Date.now() - begin;
  return { page, problems, took, close: () => context.close() };
}
