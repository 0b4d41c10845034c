// Charts: axes, lines, what is under the pointer, and zoom.

/// All charts of the page, so that a test can look at them.
const charts = [];

const FONT = '12px system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif';
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 345600, 604800, 1209600, 2419200, 4838400, 9676800, 31536000, 63072000, 157680000];
const FINE_WAITS = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000, 86400, 172800, 432000, 864000, 1728000, 4320000, 8640000, 17280000, 43200000, 86400000, 864000000];
const WAITS = [1, 10, 60, 600, 3600, 36000, 86400, 864000, 8640000, 86400000];

/// What an axis shows: how its scale is laid out, how a mark and how a value is written.
const KINDS = {
  time: { incrs: SECONDS, marks: (values, step) => values.map(value => moment(value, step)), text: lasting },
  share: { marks: values => values.map(value => `${trimmed(100 * value)} %`), text: percent },
  count: { marks: values => values.map(short), text: value => number(value) },
  whole: { incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4, 1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 1e8, 1e9], marks: values => values.map(short), text: value => number(value) },
  bytes: { marks: values => values.map(value => value === 0 ? '0' : bytes(value)), text: bytes },
  wait: { log: true, splits: [WAITS, FINE_WAITS], least: 1, marks: values => values.map(value => lasting(value)), text: lasting },
  power: { log: true, least: null, marks: values => values.map(short), text: value => number(value) },
  amount: { log: true, least: null, marks: values => values.map(bytes), text: bytes },
  slowdown: { log: true, least: 1, marks: values => values.map(short), text: value => number(value, 2) },
};

/// Marks of a logarithmic axis of so many points of the screen: those given, or powers of ten and what lies between if those
/// are few; and of each two that are too close, the first.
function logMarks(kind, min, max, length, room) {
  const inside = marks => marks.filter(mark => mark >= min * 0.999 && mark <= max * 1.001);
  let marks = [];
  if (kind.splits) {
    marks = kind.splits.map(inside).find(marks => marks.length > 3) || inside(kind.splits[kind.splits.length - 1]);
  } else {
    const decades = Math.log10(max / min);
    const between = decades > 3 ? [1] : decades > 1.2 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9];
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++) {
      marks.push(...inside(between.map(part => part * 10 ** power)));
    }
  }
  const place = mark => Math.log(mark / min) / Math.log(max / min) * length;
  const kept = [];
  for (const mark of marks) {
    if (kept.length === 0 || place(mark) - place(kept[kept.length - 1]) >= room) kept.push(mark);
  }
  return kept;
}

/// The range of a logarithmic axis around some values: from mark to mark where there are any given, never too narrow.
function logRange(kind, min, max) {
  if (!kind.splits) {
    const low = kind.least == null ? min / 1.3 : Math.max(kind.least, min / 1.3);
    return [low, Math.max(low * 2, max * 1.3)];
  }
  const marks = kind.splits[kind.splits.length - 1];
  let low = marks.findLastIndex(mark => mark <= min);
  let high = marks.findIndex(mark => mark >= max);
  if (high < 0) return [marks[Math.max(low, 0)], max * 1.3];
  while (high - low < 3) {
    if (low > 0) low -= 1;
    if (high < marks.length - 1) high += 1;
  }
  return [marks[Math.max(low, 0)], marks[high]];
}

function scaleOf(kind, options) {
  const scale = { time: false };
  if (kind.log) {
    scale.distr = 3;
    scale.range = (u, min, max) => min == null || max == null ? [1, 10] : options.exact ? [min, max] : logRange(kind, min, max);
  } else if (options.exact) {
    scale.range = (u, min, max) => min == null ? [0, 1] : min === max ? [min - 0.5, max + 0.5] : [min, max];
  } else {
    scale.range = (u, min, max) => {
      const top = max == null ? 1 : Math.max(max * 1.06, options.atLeast || 0);
      return [Math.min(0, min || 0), Math.min(options.atMost || Infinity, top) || 1];
    };
  }
  return scale;
}

function axisOf(kind, options) {
  const axis = {
    label: options.label,
    labelFont: FONT,
    font: FONT,
    stroke: () => shade('--soft'),
    grid: { stroke: () => shade('--grid'), width: 1 },
    ticks: { stroke: () => shade('--grid'), width: 1, size: 5 },
    labelSize: 22,
    labelGap: 2,
    values: (u, values, at, space, step) => options.names
      ? values.map(value => Number.isInteger(value) && options.names[value] != null ? cut(options.names[value]) : '')
      : kind.marks(values, step),
  };
  if (kind.incrs) axis.incrs = kind.incrs;
  if (options.names) {
    axis.splits = () => options.names.map((name, at) => at);
    axis.filter = (u, values) => values;
  }
  if (options.at) {
    axis.splits = (u, at, min, max) => options.at.filter(mark => mark >= min && mark <= max);
    axis.values = (u, values) => values.map(value => number(value));
  }
  if (kind.log) {
    const marked = options.at ? { ...kind, splits: [options.at] } : kind;
    axis.splits = (u, at, min, max) => at === 0 ? logMarks(marked, min, max, u.bbox.width / devicePixelRatio, 44) : logMarks(marked, min, max, u.bbox.height / devicePixelRatio, 17);
    axis.filter = axis.grid.filter = axis.ticks.filter = (u, values) => values;
  }
  return axis;
}

/// A name as far as an axis has room for it.
function cut(name) {
  return name.length > 30 ? name.slice(0, 29) + '…' : name;
}

/// The widest of some texts, in points of the screen.
function widest(texts) {
  const context = widest.context || (widest.context = document.createElement('canvas').getContext('2d'));
  context.font = FONT;
  return texts.reduce((most, text) => Math.max(most, context.measureText(text).width), 0);
}

/// Charts whose time axes move together.
const together = new Set();
let moving = false;

function moveTogether(from, min, max) {
  if (moving) return;
  moving = true;
  for (const other of together) {
    if (other.u !== from) {
      other.u.setScale('x', { min, max });
      other.mark();
    }
  }
  moving = false;
}

/// A frame with a title, room for a plot and a button that undoes zooming.
function frame(parent, title, help, legend, wide) {
  const reset = el('button', { class: 'reset', type: 'button' }, 'Show all');
  const plot = el('div', { class: 'plot' });
  const box = el('section', { class: wide ? 'chart wide' : 'chart', 'aria-label': title },
    el('div', { class: 'head' }, el('div', {}, el('h3', {}, title), help && el('div', { class: 'soft small' }, help)), reset), legend, plot);
  parent.append(box);
  const tip = el('div', { class: 'tip', role: 'status' });
  return { box, plot, reset, tip };
}

/// Keeps a text beside the pointer and inside the plot.
function placeTip(tip, plot, left, top) {
  tip.style.display = 'block';
  const room = plot.clientWidth;
  const beside = left + 16 + tip.offsetWidth > room ? left - tip.offsetWidth - 16 : left + 16;
  tip.style.left = Math.max(0, Math.min(beside, room - tip.offsetWidth)) + 'px';
  tip.style.top = Math.max(0, top - tip.offsetHeight / 2) + 'px';
}

/// Makes charts as wide as a sheet of paper has room for, or as wide as they were.
function fitToPaper(printing) {
  for (const { u, box } of charts) {
    if (!u) continue;
    const width = !printing ? u.root.parentElement.clientWidth : box.classList.contains('wide') ? 660 : 318;
    u.setSize({ width, height: u.height });
  }
}

function watchSize(plot, u, height) {
  let width = plot.clientWidth;
  new ResizeObserver(() => {
    if (!theme.printing && plot.clientWidth !== width && plot.clientWidth > 0) {
      width = plot.clientWidth;
      u.setSize({ width, height });
    }
  }).observe(plot);
  theme.listeners.push(() => u.redraw(true, true));
}

/// A line chart.
///
/// options: title, help, x and y ({ kind, label, … }), height, grouped (whether its time axis moves with others), legend.
/// series: name, number (its colour), values ([x, y] pairs), track (what hides it), style (line, dots, diamonds, bars), text of a value.
function chart(parent, options, series) {
  const legend = options.legend && el('div', { class: 'legend' }, series.map(one =>
    el('span', {}, key(one.number, one.style === 'diamonds' ? 'diamond' : one.style === 'dots' ? 'dot' : 'line'), one.name)));
  const { box, plot, reset, tip } = frame(parent, options.title, options.help, legend, options.wide);
  const points = series.reduce((sum, one) => sum + one.values.length, 0);
  const entry = { title: options.title, points, u: null, box };
  charts.push(entry);
  if (points === 0) {
    plot.append(el('div', { class: 'empty' }, options.nothing || 'There is nothing to show: no job ran to an end.'));
    return entry;
  }
  const xKind = KINDS[options.x.kind];
  const yKind = KINDS[options.y.kind];
  const floor = kind => value => value == null || kind.least == null ? value : Math.max(value, kind.least);
  const [floorX, floorY] = [floor(xKind), floor(yKind)];
  const tables = series.map(one => [one.values.map(pair => floorX(pair[0])), one.values.map(pair => floorY(pair[1]))]);
  const real = uPlot.join(series.map((one, at) => [tables[at][0], one.values.map(pair => pair[1])]));
  const data = uPlot.join(tables);
  const xs = data[0];
  const xOptions = { exact: true, ...options.x };
  const line = (one, at) => {
    const style = one.style || 'line';
    const dotted = style === 'dots' || style === 'diamonds';
    const stroke = () => one.number === 'soft' ? shade('--soft') : colour(one.number);
    const few = one.values.length <= 40;
    return {
      label: one.name,
      scale: 'y',
      stroke,
      width: dotted ? 0 : style === 'bars' ? 0 : one.number === 'soft' ? 1.5 : 2,
      dash: one.number === 'soft' ? [2, 3] : dash(one.number),
      spanGaps: true,
      fill: style === 'bars' ? stroke : undefined,
      paths: dotted ? () => null : style === 'bars' ? uPlot.paths.bars({ size: [0.8, 40] }) : style === 'steps' ? uPlot.paths.stepped({ align: 1 }) : undefined,
      points: style === 'diamonds' ? { show: true, paths: diamonds, stroke, fill: () => shade('--ground'), width: 2 } : { show: style === 'bars' ? false : dotted || few, size: dotted ? 8 : 5, fill: stroke, stroke, width: 1 },
    };
  };
  const nearest = (u, at, index) => {
    const column = data[at];
    if (column == null || column[index] != null) return index;
    for (let off = 1; off < column.length; off++) {
      if (column[index - off] != null) return index - off;
      if (column[index + off] != null) return index + off;
    }
    return index;
  };
  const [lowest, highest] = [xs[0], xs[xs.length - 1]];
  const whole = () => options.x.whole || (xKind.log && (options.x.kind === 'power' || lowest === highest) ? [lowest / 1.15, highest * 1.15]
    : options.x.pad ? [lowest - options.x.pad, highest + options.x.pad] : lowest === highest ? [lowest - 0.5, highest + 0.5] : [lowest, highest]);
  const names = options.x.names;
  const longest = names ? widest(names.map(cut)) : 0;
  // Names stand beside each other if there is room.
  const aslant = width => names != null && longest + 8 > (width - 90) / (names.length - 1 + 2 * (options.x.pad || 0));
  const xAxis = axisOf(xKind, options.x);
  xAxis.space = names ? 10 : options.x.kind === 'time' ? 76 : 56;
  if (names) {
    xAxis.rotate = u => aslant(u.width) ? 35 : 0;
    xAxis.size = u => aslant(u.width) ? longest * 0.6 + 24 : 34;
  } else {
    xAxis.size = 34;
  }
  const height = (options.height || 260) + (aslant(plot.clientWidth) ? longest * 0.6 - 10 : 0);
  const yAxis = axisOf(yKind, options.y);
  yAxis.size = (u, values) => Math.ceil(widest(values || [])) + 18;
  const u = new uPlot({
    width: Math.max(plot.clientWidth, 200),
    height,
    padding: [12, 14, 0, 4],
    legend: { show: false },
    cursor: {
      dataIdx: nearest,
      drag: { x: true, y: false, setScale: true },
      points: { size: 8, fill: (u, at) => u.series[at].stroke(u, at) },
      bind: { dblclick: () => () => { showAll(); } },
      focus: { prox: 30 },
    },
    focus: { alpha: 1 },
    scales: { x: scaleOf(xKind, xOptions), y: scaleOf(yKind, options.y) },
    axes: [xAxis, yAxis],
    series: [{}, ...series.map(line)],
    hooks: {
      setCursor: [u => tell(u)],
      setScale: [(u, name) => {
        if (name === 'x' && u.status === 1) {
          mark();
          if (options.grouped) moveTogether(u, u.scales.x.min, u.scales.x.max);
        }
      }],
    },
  }, data, plot);
  plot.append(tip);

  function tell(u) {
    const { left, top, idxs, idx } = u.cursor;
    if (left == null || left < 0 || idx == null) { tip.style.display = 'none'; return; }
    const shown = series.map((one, at) => [one, real[at + 1][idxs[at + 1]], at + 1, xs[idxs[at + 1]]])
      .filter(([, value, at]) => u.series[at].show && value != null);
    // Lines that have ended are not told of.
    const reach = (u.scales.x.max - u.scales.x.min) / 20;
    const near = xKind.log || names ? shown.filter(([,,, x]) => x === xs[idx]) : shown.filter(([,,, x]) => Math.abs(x - xs[idx]) <= reach);
    if (near.length === 0) { tip.style.display = 'none'; return; }
    const text = value => (options.y.text || yKind.text)(value);
    const at = names ? names[xs[idx]] : options.x.tell ? options.x.tell(xs[idx]) : xKind.text(xs[idx]);
    near.sort((one, other) => other[1] - one[1]);
    tip.replaceChildren(el('b', {}, at), ...near.map(([one, value, , x]) => el('div', { class: 'line' },
      el('span', {}, key(one.number, one.style === 'diamonds' ? 'diamond' : one.style === 'dots' ? 'dot' : 'line'), one.name),
      el('span', {}, (one.text ? one.text(x, value) : null) || text(value)))));
    placeTip(tip, plot, left + u.bbox.left / devicePixelRatio, top + u.bbox.top / devicePixelRatio);
  }

  function mark() {
    const [min, max] = whole();
    const { min: low, max: high } = u.scales.x;
    const wide = max - min;
    box.classList.toggle('zoomed', low > min + wide * 1e-6 || high < max - wide * 1e-6);
  }

  function showAll() {
    const [min, max] = whole();
    u.setScale('x', { min, max });
  }

  function zoom(by) {
    const { min, max } = u.scales.x;
    const [low, high] = whole();
    if (xKind.log) {
      const [from, to] = [Math.log(min), Math.log(max)];
      const middle = (from + to) / 2;
      u.setScale('x', { min: Math.max(low, Math.exp(middle - (to - from) / 2 * by)), max: Math.min(high, Math.exp(middle + (to - from) / 2 * by)) });
    } else {
      const middle = u.cursor.idx != null && u.cursor.left >= 0 ? xs[u.cursor.idx] : (min + max) / 2;
      u.setScale('x', { min: Math.max(low, middle - (middle - min) * by), max: Math.min(high, middle + (max - middle) * by) });
    }
  }

  plot.tabIndex = 0;
  plot.setAttribute('role', 'application');
  plot.setAttribute('aria-label', `${options.title}. Arrow keys read values, plus and minus zoom, 0 shows all.`);
  plot.addEventListener('keydown', event => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (step) {
      const { min, max } = u.scales.x;
      let at = u.cursor.left >= 0 && u.cursor.idx != null ? u.cursor.idx + step : xs.findIndex(x => x >= min);
      at = Math.max(0, Math.min(xs.length - 1, at));
      if (xs[at] >= min && xs[at] <= max) u.setCursor({ left: u.valToPos(xs[at], 'x'), top: u.over.clientHeight / 2 });
    } else if (event.key === '+' || event.key === '=') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') showAll();
    else if (event.key === 'Escape') u.setCursor({ left: -10, top: -10 });
    else return;
    event.preventDefault();
  });
  plot.addEventListener('blur', () => u.setCursor({ left: -10, top: -10 }));
  reset.addEventListener('click', showAll);

  const [min, max] = options.x.shown || whole();
  moving = true;
  u.setScale('x', { min, max });
  moving = false;
  entry.u = u;
  entry.mark = mark;
  // Scales are set when all of this is done.
  queueMicrotask(mark);
  if (options.grouped) together.add(entry);
  series.forEach((one, at) => {
    if (one.track == null) return;
    if (hidden.has(one.track)) u.setSeries(at + 1, { show: false });
    entry.hide = entry.hide || [];
    entry.hide.push([one.track, at + 1]);
  });
  watchSize(plot, u, height);
  return entry;
}

/// Hollow diamonds, for what others published.
function diamonds(u, at, first, last) {
  const path = new Path2D();
  const size = 6 * devicePixelRatio;
  for (let index = first; index <= last; index++) {
    const value = u.data[at][index];
    if (value == null) continue;
    const x = u.valToPos(u.data[0][index], 'x', true);
    const y = u.valToPos(value, 'y', true);
    path.moveTo(x, y - size);
    path.lineTo(x + size, y);
    path.lineTo(x, y + size);
    path.lineTo(x - size, y);
    path.closePath();
  }
  return { stroke: path, fill: path, clip: null, flags: 3 };
}

/// The names of runs that are not drawn.
const hidden = new Set();

function showTrack(name, show) {
  if (show) hidden.delete(name);
  else hidden.add(name);
  for (const entry of charts) {
    for (const [track, at] of entry.hide || []) {
      if (track === name) entry.u.setSeries(at, { show });
    }
  }
}

/// Forgets charts that are no longer in the page.
function forgetCharts(inside) {
  for (let at = charts.length - 1; at >= 0; at--) {
    if (inside.contains(charts[at].box)) {
      together.delete(charts[at]);
      if (charts[at].u) charts[at].u.destroy();
      charts.splice(at, 1);
    }
  }
}
