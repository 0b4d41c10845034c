// Jobs on nodes: boxes while they are few, and how busy nodes are where they are many.

/// The most boxes that are drawn each on its own.
const MOST_BOXES = 4000;

/// How many boxes are looked at before the page may do something else.
const AT_ONCE = 500000;

function drawGantts(grid, contest) {
  grid.style.gridTemplateColumns = '1fr';
  const drawn = contest.tracks.filter(track => track.places);
  const left = contest.tracks.filter(track => !track.places);
  if (left.some(track => !track.report)) {
    grid.append(el('p', { class: 'soft' }, 'There are too many jobs to draw here; jobs.csv has them.'));
    return;
  }
  if (left.length > 0) {
    grid.parentElement.insertBefore(el('p', { class: 'soft' }, 'In their own reports: ', left.flatMap((track, at) => [at > 0 ? ', ' : '', el('a', { href: track.report }, track.name)]), '.'), grid);
  }
  if (drawn.length === 0) return;
  const chosen = el('select', {}, drawn.map((track, at) => el('option', { value: at }, track.name)));
  if (drawn.length > 1) grid.parentElement.insertBefore(el('div', { class: 'bar' }, el('label', {}, 'Jobs of', chosen)), grid);
  const draw = () => {
    forgetCharts(grid);
    grid.replaceChildren();
    drawGantt(grid, contest, drawn[Number(chosen.value)]);
  };
  chosen.addEventListener('change', draw);
  // It is the largest part of the page, and not the first that a user sees.
  draw();
}

/// Puts jobs that share a node beside each other. Boxes have one node each.
function intoLanes(boxes) {
  const order = Uint32Array.from({ length: boxes.count }, (_, at) => at).sort((one, other) => boxes.low[one] - boxes.low[other] || boxes.from[one] - boxes.from[other] || one - other);
  let at = 0;
  while (at < order.length) {
    const node = boxes.low[order[at]];
    const ends = [];
    const lanes = [];
    let until = at;
    for (; until < order.length && boxes.low[order[until]] === node; until++) {
      const box = order[until];
      let lane = ends.findIndex(end => end <= boxes.from[box]);
      if (lane < 0) lane = ends.length;
      ends[lane] = boxes.until[box];
      lanes.push(lane);
    }
    for (let index = at; index < until; index++) {
      const box = order[index];
      boxes.low[box] = node + lanes[index - at] / ends.length;
      boxes.high[box] = node + (lanes[index - at] + 1) / ends.length;
    }
    at = until;
  }
}

function drawGantt(parent, contest, track) {
  const unpacked = unpackPlaces(contest, track.places);
  const { jobs, states, start, end, first, boxes } = unpacked;
  if (contest.jobs.shared) intoLanes(boxes);
  const nodes = Math.max(1, contest.jobs.nodes);
  const ended = boxes.until.reduce((most, value) => Math.max(most, value), 0);
  const whole = { x: [0, Math.max(ended, 1e-3)], y: [0, nodes] };
  const never = states.reduce((sum, state) => sum + (state > 2 ? 1 : 0), 0);
  const started = jobs.count - never;
  const title = `Jobs on nodes, ${track.name}`;
  const { box, plot, reset, tip } = frame(parent, title,
    `${number(jobs.count)} jobs${never > 0 ? `, of which ${number(never)} never started` : ''}, on ${number(nodes)} nodes. Drag to zoom in, double-click to see all. Zoomed out, colour shows how busy nodes are; zoomed in, each box is a job, and orange jobs were killed.`, null, true);
  const entry = { title, points: boxes.count, jobs: jobs.count, started, u: null, box, gantt: true };
  charts.push(entry);
  if (boxes.count === 0) {
    plot.append(el('div', { class: 'empty' }, 'No job started.'));
    return;
  }
  tip.classList.add('wrap');
  const status = el('div', { class: 'status', role: 'status' });
  const find = el('input', { class: 'short', type: 'text', inputmode: 'numeric', 'aria-label': 'number of a job' });
  const button = (text, label, act) => el('button', { type: 'button', 'aria-label': label, title: label, onclick: act }, text);
  const bar = el('div', { class: 'bar' },
    button('+', 'zoom in', () => zoom(0.5)), button('−', 'zoom out', () => zoom(2)),
    button('←', 'earlier', () => move(-0.4, 0)), button('→', 'later', () => move(0.4, 0)),
    button('↑', 'higher nodes', () => move(0, 0.4)), button('↓', 'lower nodes', () => move(0, -0.4)),
    el('label', {}, 'Job', find), button('Find', 'find that job', () => seek()),
    rampKey('idle', 'all busy'));
  plot.before(bar);
  box.append(status);
  const height = Math.max(280, Math.min(520, Math.round(innerHeight * 0.6)));

  let raster = null;
  let wanted = 0;
  let chosen = -1;
  let few = null;

  const view = u => ({ x0: u.scales.x.min, x1: u.scales.x.max, y0: u.scales.y.min, y1: u.scales.y.max });

  const u = new uPlot({
    width: Math.max(plot.clientWidth, 200),
    height,
    padding: [10, 14, 0, 4],
    legend: { show: false },
    cursor: { drag: { x: true, y: true, uni: 25, setScale: true }, points: { show: false }, bind: { dblclick: () => () => { showAll(); } } },
    scales: {
      x: { time: false, auto: false, range: (u, min, max) => [Math.max(0, min), Math.min(whole.x[1], max)] },
      y: { auto: false, range: (u, min, max) => [Math.max(0, min), Math.min(nodes, max)] },
    },
    axes: [
      { ...axisOf(KINDS.time, { label: 'time since the start' }), space: 76, size: 34 },
      { ...axisOf(KINDS.count, { label: 'node' }), size: (u, values) => Math.ceil(widest(values || [])) + 18, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000, 200000, 500000, 1000000, 2000000],
        values: (u, values) => values.map(value => number(value)) },
    ],
    series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
    hooks: {
      draw: [u => paint(u)],
      setCursor: [u => point(u)],
      setScale: [u => {
        if (u.status !== 1) return;
        const { x0, x1, y0, y1 } = view(u);
        box.classList.toggle('zoomed', x0 > 0 || x1 < whole.x[1] || y0 > 0 || y1 < nodes);
        render();
      }],
      setSize: [() => render()],
    },
  }, [[0, whole.x[1]], [0, nodes]], plot);
  plot.append(tip);
  entry.u = u;
  u.batch(() => {
    u.setScale('x', { min: 0, max: whole.x[1] });
    u.setScale('y', { min: 0, max: nodes });
  });

  /// Finds out what is in view: adds up how much of each point is busy, and keeps the boxes if they are few. Takes the same
  /// few steps for a box of any size, and gives way to the page while there are many.
  function render() {
    const own = ++wanted;
    const { x0, x1, y0, y1 } = view(u);
    const width = Math.max(1, Math.round(u.bbox.width / devicePixelRatio));
    const tall = Math.max(1, Math.round(u.bbox.height / devicePixelRatio));
    const sums = new Float32Array((width + 1) * (tall + 1));
    const seen = [];
    let at = 0;
    const scaleX = width / (x1 - x0);
    const scaleY = tall / (y1 - y0);
    const some = () => {
      if (own !== wanted) return;
      const until = Math.min(boxes.count, at + AT_ONCE);
      for (; at < until; at++) {
        if (boxes.until[at] <= x0 || boxes.from[at] >= x1 || boxes.high[at] <= y0 || boxes.low[at] >= y1) continue;
        if (seen.length <= MOST_BOXES) seen.push(at);
        const left = Math.max(0, (boxes.from[at] - x0) * scaleX);
        const right = Math.min(width, (boxes.until[at] - x0) * scaleX);
        const bottom = Math.max(0, (boxes.low[at] - y0) * scaleY);
        const top = Math.min(tall, (boxes.high[at] - y0) * scaleY);
        const [a, c] = [Math.floor(left), Math.floor(bottom)];
        const b = Math.min(width, Math.max(a + 1, Math.round(right)));
        const d = Math.min(tall, Math.max(c + 1, Math.round(top)));
        const part = Math.min(1, (right - left) / (b - a)) * Math.min(1, (top - bottom) / (d - c));
        const row = width + 1;
        sums[c * row + a] += part;
        sums[c * row + b] -= part;
        sums[d * row + a] -= part;
        sums[d * row + b] += part;
      }
      if (at < boxes.count) { setTimeout(some, 0); return; }
      few = seen.length <= MOST_BOXES ? seen : null;
      raster = { view: { x0, x1, y0, y1 }, canvas: few ? null : shaded(sums, width, tall), sums, width, tall };
      entry.mode = few ? 'boxes' : 'busy';
      u.redraw(false, false);
    };
    some();
  }

  /// Sums of sums are how busy each point is.
  function shaded(sums, width, tall) {
    const canvas = el('canvas', { width, height: tall });
    const context = canvas.getContext('2d');
    const image = context.createImageData(width, tall);
    const colours = ramp();
    const above = new Float32Array(width + 1);
    for (let y = 0; y < tall; y++) {
      let across = 0;
      for (let x = 0; x < width; x++) {
        across += sums[y * (width + 1) + x];
        above[x] += across;
        const level = Math.max(0, Math.min(255, Math.round(above[x] * 255)));
        const place = 4 * ((tall - 1 - y) * width + x);
        image.data[place] = colours[3 * level];
        image.data[place + 1] = colours[3 * level + 1];
        image.data[place + 2] = colours[3 * level + 2];
        image.data[place + 3] = level === 0 ? 0 : 255;
      }
    }
    context.putImageData(image, 0, 0);
    return canvas;
  }

  function paint(u) {
    if (!raster) return;
    const { ctx, bbox } = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    const x = value => u.valToPos(value, 'x', true);
    const y = value => u.valToPos(value, 'y', true);
    if (raster.canvas) {
      const { x0, x1, y0, y1 } = raster.view;
      ctx.imageSmoothingEnabled = false;
      ctx.drawImage(raster.canvas, x(x0), y(y1), x(x1) - x(x0), y(y0) - y(y1));
    } else if (few) {
      for (const at of few) drawBox(ctx, at, x, y);
    }
    if (chosen >= 0) {
      ctx.strokeStyle = shade('--text');
      ctx.lineWidth = 2 * devicePixelRatio;
      const last = chosen + 1 < jobs.count ? first[chosen + 1] : boxes.count;
      for (let at = first[chosen]; at < last; at++) {
        const [left, top] = [x(boxes.from[at]), y(boxes.high[at])];
        ctx.strokeRect(left, top, Math.max(2, x(boxes.until[at]) - left), Math.max(2, y(boxes.low[at]) - top));
      }
    }
    ctx.restore();
  }

  function drawBox(ctx, at, x, y) {
    const job = boxes.job[at];
    const [left, right] = [x(boxes.from[at]), x(boxes.until[at])];
    const [top, bottom] = [y(boxes.high[at]), y(boxes.low[at])];
    const [wide, tall] = [right - left, bottom - top];
    ctx.globalAlpha = 0.75;
    ctx.fillStyle = states[job] === 1 ? colour(1) : colour([0, 2, 4, 6][job % 4]);
    const [edgeX, edgeY] = [wide > 3 ? 0.6 : 0, tall > 3 ? 0.6 : 0];
    ctx.fillRect(left + edgeX, top + edgeY, wide - 2 * edgeX, tall - 2 * edgeY);
    ctx.globalAlpha = 1;
    const size = 11 * devicePixelRatio;
    if (tall > size * 1.3) {
      const text = String(jobs.numbers[job]);
      ctx.font = `${size}px sans-serif`;
      const from = Math.max(left, u.bbox.left);
      const until = Math.min(right, u.bbox.left + u.bbox.width);
      if (until - from > ctx.measureText(text).width + 8 * devicePixelRatio) {
        ctx.fillStyle = theme.name === 'dark' ? '#000000' : '#ffffff';
        ctx.textAlign = 'center';
        ctx.textBaseline = 'middle';
        ctx.fillText(text, (from + until) / 2, (top + bottom) / 2);
      }
    }
  }

  /// Which nodes a job had, in short.
  function nodesOf(job) {
    const last = job + 1 < jobs.count ? first[job + 1] : boxes.count;
    const texts = [];
    for (let at = first[job]; at < last && texts.length < 8; at++) {
      const [low, high] = [Math.floor(boxes.low[at]), Math.ceil(boxes.high[at]) - 1];
      texts.push(low === high ? `${low}` : `${low}–${high}`);
    }
    return texts.join(', ') + (last - first[job] > 8 ? ', …' : '');
  }

  function explain(job) {
    const unit = contest.jobs.unit;
    const rows = [
      ['submitted', lasting(jobs.submitted[job])],
      ['waited', Number.isNaN(start[job]) ? '–' : lasting(start[job] - jobs.submitted[job])],
      ['ran', Number.isNaN(start[job]) ? '–' : lasting(end[job] - start[job])],
      ['said to run', lasting(jobs.requested[job])],
      ['takes', `${number(jobs.sizes[job])} ${jobs.sizes[job] === 1 ? unit.replace(/s$/, '') : unit}`],
      ['on node', nodesOf(job) || '–'],
      ['in the end', STATES[states[job]]],
    ];
    return { title: `Job ${jobs.numbers[job]}`, rows };
  }

  function jobAt(time, node) {
    for (let at = boxes.count - 1; at >= 0; at--) {
      if (boxes.from[at] <= time && time < boxes.until[at] && boxes.low[at] <= node && node < boxes.high[at]) return boxes.job[at];
    }
    return -1;
  }

  function point(u) {
    const { left, top } = u.cursor;
    if (left == null || left < 0 || top < 0) { tip.style.display = 'none'; return; }
    const job = jobAt(u.posToVal(left, 'x'), u.posToVal(top, 'y'));
    if (job < 0) { tip.style.display = 'none'; return; }
    const { title, rows } = explain(job);
    tip.replaceChildren(el('b', {}, title), ...rows.map(([name, value]) => el('div', { class: 'line' }, el('span', { class: 'soft' }, name), el('span', {}, value))));
    placeTip(tip, plot, left + u.bbox.left / devicePixelRatio, top + u.bbox.top / devicePixelRatio);
  }

  function show(x, y) {
    const inside = ([low, high], [least, most]) => {
      const size = Math.min(high - low, most - least);
      const from = Math.max(least, Math.min(low, most - size));
      return { min: from, max: from + size };
    };
    u.batch(() => {
      u.setScale('x', inside(x, whole.x));
      u.setScale('y', inside(y, whole.y));
    });
  }

  function showAll() { show(whole.x, whole.y); }

  function zoom(by) {
    const { x0, x1, y0, y1 } = view(u);
    const half = (low, high, least) => Math.max((high - low) / 2 * by, least);
    const [wide, tall] = [half(x0, x1, 0.5), half(y0, y1, 0.5)];
    show([(x0 + x1) / 2 - wide, (x0 + x1) / 2 + wide], [(y0 + y1) / 2 - tall, (y0 + y1) / 2 + tall]);
  }

  function move(right, up) {
    const { x0, x1, y0, y1 } = view(u);
    const [across, along] = [(x1 - x0) * right, (y1 - y0) * up];
    show([x0 + across, x1 + across], [y0 + along, y1 + along]);
  }

  function seek() {
    const wantedNumber = Number(find.value);
    const job = find.value.trim() === '' ? -1 : jobs.numbers.indexOf(wantedNumber);
    if (job < 0) { status.textContent = 'There is no job with this number.'; return; }
    const { title, rows } = explain(job);
    status.textContent = `${title}: ${rows.map(([name, value]) => `${name} ${value}`).join('; ')}.`;
    chosen = job;
    if (!Number.isNaN(start[job])) {
      const last = job + 1 < jobs.count ? first[job + 1] : boxes.count;
      let [low, high] = [Infinity, -Infinity];
      for (let at = first[job]; at < last; at++) {
        low = Math.min(low, boxes.low[at]);
        high = Math.max(high, boxes.high[at]);
      }
      const [long, tall] = [Math.max(end[job] - start[job], 1), Math.max(high - low, 4)];
      show([start[job] - long, end[job] + long], [low - tall, high + tall]);
    } else {
      u.redraw(false, false);
    }
  }

  find.addEventListener('keydown', event => { if (event.key === 'Enter') seek(); });
  plot.tabIndex = 0;
  plot.setAttribute('role', 'application');
  plot.setAttribute('aria-label', `${title}. Arrow keys move, plus and minus zoom, 0 shows all; a job is found by its number above.`);
  plot.addEventListener('keydown', event => {
    const act = { ArrowLeft: () => move(-0.2, 0), ArrowRight: () => move(0.2, 0), ArrowUp: () => move(0, 0.2), ArrowDown: () => move(0, -0.2), '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: showAll }[event.key];
    if (!act) return;
    act();
    event.preventDefault();
  });
  reset.addEventListener('click', showAll);
  watchSize(plot, u, height);
  theme.listeners.push(() => { if (box.isConnected) render(); });
}
