// What the runs of a sweep cost as the number of nodes grows.

const COSTS = [
  ['cpu_s', 'Processor time', { kind: 'power', label: 'seconds', text: value => `${number(value)} s` }, 'time'],
  ['peak_rss_bytes', 'Peak of memory', { kind: 'amount', text: bytes }, 'memory'],
  ['messages_per_node_hour', 'Messages per node and hour', { kind: 'power' }, 'messages per node'],
  ['events', 'Events', { kind: 'power' }, 'events'],
];

function drawCosts(parent, curves) {
  const names = [...new Set(curves.map(curve => curve.name))];
  const drawn = names.slice(0, MOST_LINES);
  const grid = el('div', { class: 'grid' });
  const curveOf = (figure, name) => curves.find(curve => curve.figure === figure && curve.name === name);
  const power = curve => curve.exponent == null ? '–' : curve.exponent.toFixed(2);
  parent.append(el('section', { id: 'costs' }, el('h2', {}, 'Cost'),
    el('p', { class: 'soft' }, 'Measured on the machine that made the runs, each in a process of its own, so no two reports have the same. An exponent is the slope of the straight line that fits best on these axes: with 1, twice the nodes take twice as much.',
      names.length > drawn.length && ` The first ${drawn.length} of ${names.length} lines are drawn.`),
    grid, table([['', true], ...COSTS.map(([, , , short]) => [`exponent of ${short}`, false]), ['most nodes', false], ['bytes per node', false]], names.map(name => {
      const [nodes, most] = curveOf('peak_rss_bytes', name).points.slice(-1)[0] || [null, null];
      return [name, ...COSTS.map(([figure]) => power(curveOf(figure, name))), number(nodes), most == null ? '–' : number(most / nodes, 0)];
    }))));
  const sizes = [...new Set(curves.flatMap(curve => curve.points.map(([nodes]) => nodes)))].sort((one, other) => one - other);
  for (const [figure, title, y] of COSTS) {
    const lines = drawn.map((name, at) => ({ ...curveOf(figure, name), number: at }));
    chart(grid, {
      title: `${title} by nodes`, legend: true, height: 300, nothing: 'There is nothing to show.',
      x: { kind: 'power', label: 'nodes', at: sizes.length <= 8 ? sizes : null, tell: value => `${number(value)} nodes` }, y,
    }, lines.filter(line => line.points.length > 0).map(line => ({
      name: line.exponent == null ? line.name : `${line.name}, exponent ${power(line)}`, number: line.number, values: line.points,
      text: figure === 'peak_rss_bytes' ? (nodes, value) => `${bytes(value)}, ${bytes(value / nodes)} per node` : null,
    })));
  }
}
