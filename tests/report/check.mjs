// Looks at reports as a person would: `node check.mjs FOLDER`, where FOLDER has the results that .ci/report makes.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { launch, open } from './browser.mjs';

const results = process.argv[2];
const browser = await launch();
let checked = 0;

/** Rows of a file of comma-separated values, without its heading. */
function rows(...path) {
  return readFileSync(join(results, ...path), 'utf8').trim().split('\n').length - 1;
}

/** What the page says about its charts. */
function chartsOf(page) {
  return page.evaluate(() => gridweave.charts.map(({ title, points, jobs, started, gantt, mode, u, moments }) => ({
    title, points, jobs, started, gantt, mode, moments, drawn: u != null,
  })));
}

/** Moves the pointer over the middle of a chart, and a little to the side until it says something. */
async function hover(page, title) {
  const box = page.locator('section.chart', { has: page.locator('h3', { hasText: title }) }).first();
  await box.scrollIntoViewIfNeeded();
  const over = box.locator('.u-over');
  const { x, y, width, height } = await over.boundingBox();
  for (const across of [0.5, 0.35, 0.2, 0.1, 0.65, 0.05, 0.02]) {
    for (const down of [0.5, 0.95, 0.8, 0.2]) {
      await page.mouse.move(x + width * across, y + height * down);
      const tip = box.locator('.tip');
      if (await tip.isVisible()) return tip.innerText();
    }
  }
  return '';
}

/** Drags over a part of a chart and undoes that; says how wide the axis was before, between and after. */
async function zoom(page, title) {
  const box = page.locator('section.chart', { has: page.locator('h3', { hasText: title }) }).first();
  await box.scrollIntoViewIfNeeded();
  const width = () => page.evaluate(title => {
    const { u } = gridweave.charts.find(chart => chart.title.includes(title));
    return u.scales.x.max - u.scales.x.min;
  }, title);
  const before = await width();
  const over = await box.locator('.u-over').boundingBox();
  await page.mouse.move(over.x + over.width * 0.3, over.y + over.height * 0.3);
  await page.mouse.down();
  await page.mouse.move(over.x + over.width * 0.6, over.y + over.height * 0.7, { steps: 5 });
  await page.mouse.up();
  const between = await width();
  await box.locator('.reset').click();
  return { before, between, after: await width() };
}

async function zooms(page, title) {
  const { before, between, after } = await zoom(page, title);
  assert.ok(between < before * 0.5, `${title}: dragging zooms in, from ${before} to ${between}`);
  assert.ok(after >= before * 0.999, `${title}: the button shows all again, ${after} of ${before}`);
}

/** Nothing of the page is cut off or hangs out of it. */
async function fits(page) {
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  assert.ok(wide <= 0, `the page is ${wide} points wider than the window`);
}

async function check(name, options, look) {
  const report = await open(browser, join(results, name), options);
  await look(report.page, report);
  assert.deepEqual(report.problems, [], `${name}: nothing is complained of, and nothing leaves the page`);
  const size = statSync(join(results, name, 'report.html')).size;
  assert.ok(size < 6e6, `${name}: ${size} bytes`);
  console.log(`ok ${name}: ${(size / 1e6).toFixed(2)} MB, open after ${report.took} ms`);
  checked += 1;
  await report.close();
}

/** Every chart is there with points, but for those that have nothing to show. */
async function drawn(page, titles) {
  const charts = await chartsOf(page);
  for (const title of titles) {
    const chart = charts.find(chart => chart.title.includes(title));
    assert.ok(chart, `${title} is there`);
    assert.ok(chart.points > 0 && chart.drawn, `${title} has points`);
  }
  for (const chart of charts) assert.equal(chart.drawn, chart.points > 0, `${chart.title}: drawn if there are points`);
  const canvases = await page.locator('.chart canvas').count();
  assert.equal(canvases, charts.filter(chart => chart.drawn).length, 'a canvas for each');
  return charts;
}

const RUN = ['Utilisation over time', 'Jobs that wait', 'Idle nodes', 'Distribution of waits', 'Waits by nodes', 'Waits by duration', 'Waits over time', 'Bounded slowdown'];

// What must be noticed is: this is what keeps the others honest.
{
  const { page, problems, close } = await open(browser, join(results, 'run'));
  assert.deepEqual(problems, []);
  await page.evaluate(() => {
    console.error('planted');
    new Image().src = 'http://planted.invalid/image';
    setTimeout(() => { throw new Error('thrown'); });
  });
  await page.waitForTimeout(300);
  await page.evaluate(() => { location.href = 'http://planted.invalid/page'; }).catch(() => {});
  await page.waitForTimeout(300);
  for (const word of ['console: planted', 'image', 'error: thrown', 'request: http://planted.invalid/page']) {
    assert.ok(problems.some(problem => problem.includes(word)), `${word} is noticed: ${problems.join('; ')}`);
  }
  await close();
}

await check('run', {}, async page => {
  const charts = await drawn(page, [...RUN, 'Messages by kind', 'Bytes by kind', 'In-degree', 'Jobs on nodes']);
  const gantt = charts.find(chart => chart.gantt);
  assert.equal(gantt.jobs, rows('run', 'jobs.csv'), 'as many jobs as in jobs.csv');
  assert.equal(charts.find(chart => chart.title === 'Jobs that wait').points, rows('run', 'series.csv'), 'a point for each row of series.csv');
  const { digest, seed } = JSON.parse(readFileSync(join(results, 'run', 'summary.json'), 'utf8'));
  const text = await page.locator('body').innerText();
  for (const word of [digest, `seed\n${seed}`, 'gridweave run --config config.toml', 'scheduler = "asap"']) assert.ok(text.includes(word), word);
  for (const title of [...RUN, 'Messages by kind', 'In-degree']) assert.match(await hover(page, title), /\d/, `${title}: hovering shows a value`);
  assert.match(await hover(page, 'Jobs on nodes'), /^Job \d+[^]*waited/, 'the job under the pointer is explained');
  for (const title of ['Utilisation over time', 'Distribution of waits', 'Jobs on nodes']) await zooms(page, title);
  // A job is found by its number, with the keyboard alone.
  const first = readFileSync(join(results, 'run', 'jobs.csv'), 'utf8').split('\n')[1].split(',')[0];
  await page.getByLabel('number of a job').fill(first);
  await page.keyboard.press('Enter');
  assert.match(await page.locator('.chart .status').innerText(), new RegExp(`^Job ${first}: submitted`));
  // Charts are read with the keyboard alone.
  await page.locator('.plot').first().focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('.tip').first().innerText(), /effective/);
  await fits(page);
});

await check('compare', {}, async page => {
  const charts = await drawn(page, [...RUN, 'All messages', 'Messages by kind', 'Jobs on nodes']);
  const chosen = await page.locator('#gantt select option').allInnerTexts();
  for (let at = 0; at < chosen.length; at++) {
    await page.locator('#gantt select').selectOption(String(at));
    const gantt = (await chartsOf(page)).find(chart => chart.gantt);
    assert.equal(gantt.jobs, rows('compare', 'gangs', chosen[at], 'jobs.csv'), `${chosen[at]}: as many jobs as in jobs.csv`);
    assert.equal(gantt.started, gantt.jobs, `${chosen[at]}: all of them started`);
  }
  const schedulers = await page.locator('#overview tbody tr').count();
  assert.equal(schedulers, chosen.length);
  const lines = await page.evaluate(() => gridweave.charts.find(chart => chart.title === 'Distribution of waits').u.series.slice(1)
    .map(series => [series.label, series.stroke(), series.dash.join()]));
  assert.equal(lines.length, schedulers, 'a line for each scheduler');
  assert.equal(new Set(lines.map(line => line.slice(1).join())).size, schedulers, 'no two look alike');
  const elsewhere = await page.evaluate(() => gridweave.charts.find(chart => chart.title === 'Idle nodes').u.series.slice(1).map(series => [series.label, series.stroke(), series.dash.join()]));
  assert.deepEqual(elsewhere, lines, 'and each looks the same in all charts');
  await page.locator('.chips button').first().click();
  const shown = await page.evaluate(() => gridweave.charts.filter(chart => chart.hide).map(chart => chart.u.series[1].show));
  assert.ok(shown.length > 5 && shown.some(show => !show), 'hiding a scheduler hides its lines');
  await page.locator('.chips button').first().click();
  for (const title of RUN) assert.match(await hover(page, title), /\d/, `${title}: hovering shows a value`);
  for (const title of ['Utilisation over time', 'Jobs on nodes']) await zooms(page, title);
  await page.getByRole('tab', { name: 'serial' }).click();
  await drawn(page, RUN);
  await fits(page);
  assert.ok(charts.length > 0);
});

await check('p1', {}, async page => {
  const charts = await chartsOf(page);
  const paper = JSON.parse(readFileSync(join(results, 'p1', 'p1.json'), 'utf8'));
  assert.equal(await page.locator('main section[id]').count(), Object.keys(paper.parts).length + 2, 'a section for each part, the overview and the runs');
  assert.ok(charts.length >= 10, `${charts.length} charts`);
  for (const chart of charts) assert.ok(chart.points > 0 && chart.drawn, chart.title);
  // The first pair of published and measured figures of Table 1, point for point.
  const table = paper.parts.table1.tables[0];
  const pair = await page.evaluate(title => {
    const { u } = gridweave.charts.find(chart => chart.title.startsWith(title));
    return u.series.slice(1).map((series, at) => [series.label, [...u.data[at + 1]]]);
  }, table.title);
  const values = name => table.rows.map(row => row[name]);
  assert.deepEqual(pair, [['published', values('published schedules')], ['measured', values('measured schedules')]]);
  assert.match(await hover(page, charts[0].title), /\d/, 'hovering shows a value');
  await zooms(page, charts[0].title);
  await fits(page);
});

await check('sweep', {}, async page => {
  await drawn(page, ['mean wait by workload.estimates', 'mean wait by grid.nodes']);
  await page.getByLabel('Figure').selectOption({ label: 'effective utilisation' });
  await drawn(page, ['effective utilisation by grid.nodes']);
  assert.match(await hover(page, 'effective utilisation by grid.nodes'), /%/);
});

// What the terminal says about costs is in the charts, the legends and the table.
await check('costs', {}, async page => {
  const titles = ['Processor time by nodes', 'Peak of memory by nodes', 'Messages per node and hour by nodes', 'Events by nodes'];
  await drawn(page, titles);
  const { costs } = await page.evaluate(() => gridweave.data.sweep);
  for (const { figure, name, points, exponent } of costs) {
    assert.equal(points.length, 3, `${figure} of ${name}: a point for each size`);
    assert.ok(Number.isFinite(exponent), `${figure} of ${name}: an exponent`);
  }
  const table = JSON.parse(readFileSync(join(results, 'costs.json'), 'utf8'));
  const memory = await page.evaluate(() => {
    const { u } = gridweave.charts.find(chart => chart.title.startsWith('Peak of memory'));
    return { logarithmic: [u.scales.x.distr, u.scales.y.distr], values: u.data.slice(1).flatMap(column => [...column]) };
  });
  assert.deepEqual(memory.logarithmic, [3, 3]);
  assert.deepEqual(memory.values.sort(), table.map(row => row.cost.peak_rss_bytes).sort(), 'as the folders of the runs say');
  const exponent = costs.find(curve => curve.figure === 'events' && curve.name === 'asap').exponent.toFixed(2);
  const legend = await page.locator('section.chart', { hasText: 'Events by nodes' }).locator('.legend').innerText();
  assert.ok(legend.includes(`asap, exponent ${exponent}`), legend);
  assert.ok((await page.locator('#costs tbody tr').first().innerText()).includes(exponent), 'also in the table');
  assert.match(await hover(page, 'Peak of memory'), /\d+ nodes[^]*MB, [\d.]+ kB per node/);
  await zooms(page, 'Events by nodes');
  await page.locator('#costs .plot').first().focus();
  await page.keyboard.press('ArrowRight');
  assert.match(await page.locator('#costs .tip').first().innerText(), /^100 nodes[^]* s$/);
  await fits(page);
});

await check('seeds', {}, async page => { await drawn(page, RUN); });

await check('zones', {}, async page => {
  const charts = await drawn(page, ['Zones', 'In-degree', 'Jobs on nodes']);
  const zones = JSON.parse(readFileSync(join(results, 'zones', 'zones.json'), 'utf8'));
  const map = charts.find(chart => chart.title.startsWith('Zones'));
  assert.equal(map.moments, zones.length);
  assert.equal(map.points, zones.reduce((sum, moment) => sum + moment.nodes.length, 0));
  assert.match(await hover(page, 'Zones'), /node \d+/);
  await page.getByLabel('moment').focus();
  await page.keyboard.press('Home');
  assert.match(await page.locator('output').innerText(), /^after 0 s/);
});

await check('empty', {}, async page => {
  assert.deepEqual((await chartsOf(page)).filter(chart => chart.gantt).map(chart => [chart.jobs, chart.started]), [[rows('empty', 'jobs.csv'), 0]]);
});

await check('failed', {}, async page => {
  const gantt = (await chartsOf(page)).find(chart => chart.gantt);
  assert.deepEqual([gantt.jobs, gantt.started], [rows('failed', 'jobs.csv'), 0]);
  assert.match(await page.locator('#gantt').innerText(), /No job started/);
});

// One job, of a trace whose name is markup.
await check('markup', {}, async page => {
  const charts = await drawn(page, RUN);
  assert.deepEqual(charts.filter(chart => chart.gantt).map(chart => [chart.jobs, chart.started]), [[1, 1]]);
  assert.match(await page.locator('h1').innerText(), /<script>alert\(1\)<b>/, 'shown as it is');
});

// On a phone, in the dark.
for (const name of ['run', 'compare', 'p1', 'costs']) {
  await check(name, { viewport: { width: 390, height: 800 }, colorScheme: 'dark', hasTouch: true, isMobile: true }, async page => {
    await fits(page);
    const ground = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(ground, 'rgb(20, 23, 27)', 'dark as the system is');
  });
}

// Many jobs on many nodes: each step of a zoom is looked at.
await check('large', {}, async page => {
  const gantt = (await chartsOf(page)).find(chart => chart.gantt);
  assert.equal(gantt.jobs, rows('large', 'jobs.csv'));
  assert.equal(gantt.mode, 'busy', 'far away, boxes are not drawn one by one');
  const steps = await page.evaluate(async () => {
    const { u, box } = gridweave.charts.find(chart => chart.gantt);
    const times = [];
    for (let step = 0; step < 8; step++) {
      const begin = performance.now();
      box.querySelector('[aria-label="zoom in"]').click();
      await new Promise(done => requestAnimationFrame(() => setTimeout(done, 0)));
      times.push(Math.round(performance.now() - begin));
    }
    return times;
  });
  assert.equal((await chartsOf(page)).find(chart => chart.gantt).mode, 'boxes', 'near, they are');
  console.log(`   steps of a zoom into ${gantt.jobs} jobs took ${steps.join(', ')} ms`);
});

await browser.close();
console.log(`${checked} reports are sound`);
