// A sweep: one figure against each key that is varied.

const FIGURE_KINDS = {
  mean_wait: { kind: 'time', text: lasting }, p95_wait: { kind: 'time', text: lasting }, effective_utilization: { kind: 'share' }, peak_rss_bytes: { kind: 'bytes' },
};
const FIGURE_NAMES = {
  mean_wait: 'mean wait', p95_wait: '95th percentile of waits', mean_bounded_slowdown: 'mean bounded slowdown', effective_utilization: 'effective utilisation',
  cpu_s: 'processor seconds', peak_rss_bytes: 'peak of memory',
};

/// The most lines of a chart; with more there is one, of means.
const MOST_LINES = 14;

function drawSweep(parent, sweep) {
  const named = name => FIGURE_NAMES[name] || name;
  const chosen = el('select', {}, sweep.figures.map((name, at) => el('option', { value: at }, named(name))));
  chosen.value = String(Math.max(0, sweep.figures.indexOf('mean_wait')));
  const grid = el('div', { class: 'grid' });
  if (sweep.costs) drawCosts(parent, sweep.costs);
  parent.append(el('section', { id: 'sweep' }, el('h2', {}, 'Figures by key'), el('div', { class: 'bar' }, el('label', {}, 'Figure', chosen)), grid));
  const draw = () => {
    forgetCharts(grid);
    grid.replaceChildren();
    sweep.keys.forEach((key, at) => drawKey(grid, sweep, key, at, Number(chosen.value)));
  };
  draw();
  chosen.addEventListener('change', draw);
  const text = (value, at) => value == null ? '–' : (FIGURE_KINDS[sweep.figures[at]] && KINDS[FIGURE_KINDS[sweep.figures[at]].kind].text || plain)(value);
  parent.append(el('section', { id: 'runs' }, el('h2', {}, 'Runs'), table(
    [...sweep.keys.map(key => [key, true]), ...sweep.figures.map(name => [named(name), false]), ['digest', true], ['', true]],
    sweep.points.map(point => [...point.values, ...point.figures.map(text), el('code', {}, point.digest.slice(0, 12)),
      el('a', { href: encodeURIComponent(point.folder) + '/report.html' }, 'report')]))));
}

function drawKey(grid, sweep, key, at, figure) {
  const values = [...new Set(sweep.points.map(point => point.values[at]))];
  const numeric = values.every(value => value.trim() !== '' && Number.isFinite(Number(value)));
  const x = value => numeric ? Number(value) : values.indexOf(value);
  const others = point => sweep.keys.map((key, other) => other === at ? null : `${key.split('.').pop()} ${point.values[other]}`).filter(text => text != null).join(', ');
  const lines = new Map();
  for (const point of sweep.points) {
    const name = others(point) || sweep.figures[figure];
    if (!lines.has(name)) lines.set(name, []);
    if (typeof point.figures[figure] === 'number') lines.get(name).push([x(point.values[at]), point.figures[figure]]);
  }
  const name = FIGURE_NAMES[sweep.figures[figure]] || sweep.figures[figure];
  let series = [...lines].map(([name, values], number) => ({ name, number, values: values.sort((one, other) => one[0] - other[0]) }));
  let help = null;
  if (series.length > MOST_LINES) {
    help = `The mean over ${series.length} combinations of the other keys.`;
    const sums = new Map();
    for (const [place, value] of series.flatMap(one => one.values)) {
      const [sum, count] = sums.get(place) || [0, 0];
      sums.set(place, [sum + value, count + 1]);
    }
    series = [{ name: 'mean', number: 0, values: [...sums].map(([place, [sum, count]]) => [place, sum / count]).sort((one, other) => one[0] - other[0]) }];
  }
  const y = FIGURE_KINDS[sweep.figures[figure]] || { kind: 'count' };
  chart(grid, {
    title: `${name} by ${key}`, help, legend: series.length > 1, height: 300, nothing: 'There is nothing to show.',
    x: { kind: 'count', label: key, names: numeric ? null : values, at: numeric && values.length <= 8 ? values.map(Number).sort((one, other) => one - other) : null, pad: numeric ? 0 : 0.4, tell: value => `${key} ${number(value)}` }, y: { ...y, atMost: y.kind === 'share' ? 1.03 : null },
  }, series);
}
