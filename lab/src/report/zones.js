// The zones of a CAN, as a map of two of its dimensions with load as colour.

function drawZones(parent, track) {
  const { zones } = track;
  const depth = zones.dimensions.length;
  const title = `Zones, ${track.name}`;
  const { box, plot, reset, tip } = frame(parent, title, 'Each box is the zone of one node. A coordinate goes from zero to the most that any node has, on a logarithmic scale; each node draws its virtual coordinates at random. If zones lie behind each other, the colour is the mean of their loads.');
  reset.remove();
  const shapes = column(zones.shapes, zones.count * depth * 2);
  const moments = zones.moments.map(moment => {
    const from = new Unpacked(moment.nodes);
    let node = 0;
    const nodes = Array.from({ length: moment.count }, () => {
      node = from.step(node);
      return { node, shape: from.next(), running: from.next(), waiting: from.next(), used: from.next() };
    });
    return { at: moment.at, nodes };
  });
  const select = (options, value) => {
    const list = el('select', {}, options.map(([value, name]) => el('option', { value }, name)));
    list.value = value;
    return list;
  };
  const named = zones.dimensions.map((name, at) => [String(at), name]);
  // Those that are cut most often show most.
  const cuts = dimension => new Set(Array.from({ length: zones.count }, (_, at) => shapes[(at * depth + dimension) * 2])).size;
  const [finest, next] = named.map(([at]) => [cuts(Number(at)), at]).sort((one, other) => other[0] - one[0] || one[1] - other[1]).map(([, at]) => at);
  const across = select(named, finest);
  const along = select(named, next || finest);
  const load = select([['used', 'cores in use'], ['running', 'jobs that run'], ['waiting', 'jobs that wait']], 'used');
  const slider = el('input', { type: 'range', min: 0, max: moments.length - 1, step: 1, value: Math.floor((moments.length - 1) / 2), 'aria-label': 'moment' });
  const when = el('output', {});
  const scale = el('span', {});
  plot.before(el('div', { class: 'bar' }, el('label', {}, 'across', across), el('label', {}, 'up', along), el('label', {}, 'colour', load), scale),
    el('div', { class: 'bar' }, slider, when));
  const most = { used: 100 };
  for (const what of ['running', 'waiting']) most[what] = Math.max(1, ...moments.map(moment => moment.nodes.reduce((most, node) => Math.max(most, node[what]), 0)));
  const height = 380;
  const axis = name => ({ ...axisOf(KINDS.count, { label: name }), values: (u, values) => values.map(trimmed) });
  const u = new uPlot({
    width: Math.max(plot.clientWidth, 200),
    height,
    padding: [10, 14, 0, 4],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false } },
    scales: { x: { time: false, range: () => [0, 1] }, y: { range: () => [0, 1] } },
    axes: [{ ...axis('across'), size: 34 }, { ...axis('up'), size: 48 }],
    series: [{}, { scale: 'y', paths: () => null, points: { show: false } }],
    hooks: { draw: [paint], setCursor: [point] },
  }, [[0, 1], [0, 1]], plot);
  plot.append(tip);
  charts.push({ title, points: moments.reduce((sum, moment) => sum + moment.nodes.length, 0), u, box, moments: moments.length });

  const current = () => moments[Number(slider.value)];
  const part = (node, dimension) => {
    const at = (node.shape * depth + dimension) * 2;
    return [shapes[at] / 65535, (shapes[at] + shapes[at + 1]) / 65535];
  };

  function paint(u) {
    const { ctx, bbox } = u;
    const [width, tall] = [Math.max(1, Math.round(bbox.width)), Math.max(1, Math.round(bbox.height))];
    const row = width + 1;
    const loads = new Float32Array(row * (tall + 1));
    const counts = new Float32Array(row * (tall + 1));
    const [dx, dy, what] = [Number(across.value), Number(along.value), load.value];
    const { nodes } = current();
    for (const node of nodes) {
      const [left, right] = part(node, dx).map(at => Math.round(at * width));
      const [low, high] = part(node, dy).map(at => Math.round(at * tall));
      if (right <= left || high <= low) continue;
      for (const [sums, value] of [[loads, node[what] / most[what]], [counts, 1]]) {
        sums[low * row + left] += value;
        sums[low * row + right] -= value;
        sums[high * row + left] -= value;
        sums[high * row + right] += value;
      }
    }
    const image = ctx.createImageData(width, tall);
    const colours = ramp();
    const [sumLoad, sumCount] = [new Float32Array(row), new Float32Array(row)];
    for (let y = 0; y < tall; y++) {
      let [rowLoad, rowCount] = [0, 0];
      for (let x = 0; x < width; x++) {
        rowLoad += loads[y * row + x];
        rowCount += counts[y * row + x];
        sumLoad[x] += rowLoad;
        sumCount[x] += rowCount;
        const level = sumCount[x] > 0.5 ? Math.max(0, Math.min(255, Math.round(255 * sumLoad[x] / sumCount[x]))) : 0;
        const place = 4 * ((tall - 1 - y) * width + x);
        for (let colour = 0; colour < 3; colour++) image.data[place + colour] = colours[3 * level + colour];
        image.data[place + 3] = 255;
      }
    }
    const canvas = el('canvas', { width, height: tall });
    canvas.getContext('2d').putImageData(image, 0, 0);
    ctx.drawImage(canvas, bbox.left, bbox.top);
    ctx.save();
    ctx.strokeStyle = shade('--ground');
    ctx.globalAlpha = nodes.length > 500 ? 0.3 : 0.6;
    ctx.lineWidth = devicePixelRatio * 0.7;
    for (const node of nodes) {
      const [left, right] = part(node, dx).map(at => u.valToPos(at, 'x', true));
      const [low, high] = part(node, dy).map(at => u.valToPos(at, 'y', true));
      ctx.strokeRect(left, high, right - left, low - high);
    }
    ctx.restore();
  }

  function point(u) {
    const { left, top } = u.cursor;
    if (left == null || left < 0) { tip.style.display = 'none'; return; }
    const [x, y] = [u.posToVal(left, 'x'), u.posToVal(top, 'y')];
    const within = ([from, to], at) => from <= at && at < to;
    const here = current().nodes.filter(node => within(part(node, Number(across.value)), x) && within(part(node, Number(along.value)), y));
    if (here.length === 0) { tip.style.display = 'none'; return; }
    const shown = here.slice(0, 6);
    tip.replaceChildren(el('b', {}, here.length === 1 ? 'One zone' : `${here.length} zones, one behind the other`),
      ...shown.map(node => el('div', { class: 'line' }, el('span', {}, `node ${node.node}`), el('span', {}, `${node.used} % used, ${node.running} run, ${node.waiting} wait`))),
      here.length > shown.length ? el('div', {}, '…') : '');
    placeTip(tip, plot, left + u.bbox.left / devicePixelRatio, top + u.bbox.top / devicePixelRatio);
  }

  function change() {
    const { at, nodes } = current();
    when.textContent = `after ${lasting(at)}, ${number(nodes.length)} zones`;
    scale.replaceChildren(rampKey('0', load.value === 'used' ? '100 %' : String(most[load.value])));
    u.axes[0].label = zones.dimensions[Number(across.value)];
    u.axes[1].label = zones.dimensions[Number(along.value)];
    u.redraw(false, true);
  }
  for (const input of [across, along, load]) input.addEventListener('change', change);
  slider.addEventListener('input', change);
  plot.tabIndex = -1;
  change();
  watchSize(plot, u, height);
}
