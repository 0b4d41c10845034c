// Runs of the same jobs: numbers, and charts with a line per run.

/// The number of each run's colour, the same in all parts of the page.
const numbers = new Map();
for (const contest of DATA.contests) {
  for (const track of contest.tracks) {
    if (!numbers.has(track.name)) numbers.set(track.name, numbers.size);
  }
}

/// A figure of a summary: one run's, or the mean of several with its interval.
function figure(summary, path, text) {
  const value = path.reduce((part, name) => part == null ? null : part[name], summary);
  if (value == null) return '–';
  if (typeof value === 'object' && 'mean' in value && 'ci95' in value) {
    return value.ci95 > 0 ? `${text(value.mean)} ± ${text(value.ci95)}` : text(value.mean);
  }
  return text(value);
}

const plain = value => number(value);
const FIGURES = [
  ['completed', ['jobs', 'completed'], plain],
  ['killed', ['jobs', 'killed'], plain],
  ['rejected', ['jobs', 'rejected'], plain],
  ['failed', ['jobs', 'failed'], plain],
  ['lost', ['jobs', 'lost'], plain],
  ['orphaned', ['jobs', 'orphaned'], plain],
  ['unfinished', ['jobs', 'unfinished'], plain],
  ['mean wait', ['wait', 'mean'], lasting],
  ['median wait', ['wait', 'median'], lasting],
  ['95 % waited at most', ['wait', 'p95'], lasting],
  ['mean bounded slowdown', ['bounded_slowdown', 'mean'], value => value.toFixed(2)],
  ['used', ['utilization', 'effective'], percent],
  ['messages', ['messages', 'total'], value => short(value)],
  ['messages per job', ['messages', 'per_job'], value => number(value, 1)],
  ['bytes', ['messages', 'bytes'], bytes],
  ['violations', ['violations'], plain],
];
/// Why jobs of a run were refused or failed, the most frequent reason first.
function reasons(summary) {
  const counts = Object.entries(summary.reasons || {}).map(([name, count]) => [name, count.mean ?? count]);
  counts.sort(([, one], [, other]) => other - one);
  return counts.map(([name, count]) => `${name} ${number(count)}`).join(', ');
}

const ALWAYS = new Set(['completed', 'mean wait', '95 % waited at most', 'mean bounded slowdown', 'used']);

/// Figures that are not the same nothing in all runs.
function figuresOf(tracks) {
  return FIGURES.filter(([name, path]) => ALWAYS.has(name) || tracks.some(track => {
    const value = path.reduce((part, name) => part == null ? null : part[name], track.summary);
    return value != null && (typeof value === 'object' ? value.mean !== 0 : value !== 0);
  }));
}

function digests(summary) {
  return [].concat(summary.digest || []);
}

function summaryTable(contest) {
  const shown = figuresOf(contest.tracks);
  const columns = [[DATA.kind === 'compare' ? 'scheduler' : 'run', true], ...shown.map(([name]) => [name, false]), ...(contest.tracks.some(track => reasons(track.summary)) ? [['why jobs did not run', true]] : []), ['digest', true]];
  const rows = contest.tracks.map(track => [
    el('span', {}, key(numbers.get(track.name)), track.report ? el('a', { href: track.report.split('/').map(encodeURIComponent).join('/') }, track.name) : track.name),
    ...shown.map(([, path, text]) => figure(track.summary, path, text)),
    ...(contest.tracks.some(other => reasons(other.summary)) ? [reasons(track.summary)] : []),
    el('code', {}, digests(track.summary).map(digest => digest.slice(0, 10)).slice(0, 3).join(' ') + (digests(track.summary).length > 3 ? ' …' : '')),
  ]);
  return table(columns, rows);
}

/// The jobs of each organisation in each run; nothing if no run has several.
function organisationTable(contest) {
  const of = track => Object.entries(track.summary.organisations || {});
  const tracks = contest.tracks.filter(track => of(track).length > 1);
  if (tracks.length === 0) return null;
  const columns = ['submitted', 'ran', 'rejected'].map(name => [name, [name], plain]);
  const shown = [...columns, ['mean wait', ['wait', 'mean'], lasting], ['95 % waited at most', ['wait', 'p95'], lasting]];
  const rows = tracks.flatMap(track => of(track).map(([name, own]) => [
    el('span', {}, key(numbers.get(track.name)), track.name), name, ...shown.map(([, path, text]) => figure(own, path, text)),
  ]));
  return table([['run', true], ['organisation', false], ...shown.map(([name]) => [name, false])], rows);
}

/// What is known about a single run, as large numbers.
function facts(track) {
  const list = el('dl', { class: 'facts' });
  const add = (name, value, wide) => list.append(el('div', { class: wide ? 'wide' : null }, el('dt', {}, name), el('dd', {}, value)));
  const { summary } = track;
  add('scheduler', summary.scheduler);
  add('workload', summary.workload);
  add('nodes', number(summary.nodes));
  add('jobs submitted', number(summary.jobs.submitted));
  add('seed', String(summary.seed));
  for (const [name, path, text] of figuresOf([track])) add(name, figure(summary, path, text));
  add('from first submission to last end', lasting(summary.makespan));
  add('digest', el('code', {}, String(summary.digest)), true);
  return list;
}

function lines(tracks, values, style) {
  return tracks.map(track => ({ name: track.name, number: numbers.get(track.name), track: track.name, values: values(track), style }));
}

/// A value for each window, until the end of the last.
const steps = (column, width) => [...column.map((value, at) => [at * width, value]), ...column.slice(-1).map(value => [column.length * width, value])];
/// A value at the end of each window.
const ends = (column, width) => column.map((value, at) => [(at + 1) * width, value]);

/// Draws everything about a contest.
function drawContest(parent, contest) {
  const { tracks } = contest;
  const single = tracks.length === 1;
  const lengths = tracks.map(track => track.over_time.effective.length * track.over_time.window);
  const end = Math.max(...lengths, 0);
  // Runs that take far longer than most would leave no room for them.
  const sorted = [...lengths].sort((one, other) => one - other);
  const usual = sorted[Math.floor((sorted.length - 1) * 0.7)] || 0;
  const time = { kind: 'time', label: 'time since the start', whole: [0, end], shown: end > 1.6 * usual && usual > 0 ? [0, usual] : null };
  const section = (name, title, help) => {
    const grid = el('div', { class: 'grid' });
    parent.append(el('section', { id: name }, el('h2', {}, title), help && el('p', { class: 'soft' }, help), grid));
    return grid;
  };

  const use = section('use', 'Utilisation', 'Requested: all the work of the jobs that are submitted in a window. Effective: the work done in the window. Both are divided by the work that all nodes could do in it.');
  const longest = tracks.reduce((most, track) => !most || track.over_time.requested.length > most.over_time.requested.length ? track : most, null);
  if (longest) {
    const requested = steps(longest.over_time.requested, longest.over_time.window);
    const most = longest.over_time.requested.reduce((most, value) => Math.max(most, value), 0);
    const top = Math.max(1, ...tracks.map(track => track.over_time.effective.reduce((most, value) => Math.max(most, value), 0))) * 1.5;
    const cut = most > top;
    chart(use, {
      title: 'Utilisation over time', grouped: true, wide: true, legend: single, x: time,
      help: cut ? `Requested utilisation goes up to ${percent(most)}; the chart ends at ${percent(top)}.` : null,
      y: { kind: 'share', atLeast: 1, atMost: top },
    }, [
      ...lines(tracks, track => steps(track.over_time.effective, track.over_time.window), 'steps').map(line => single ? { ...line, name: 'effective' } : line),
      { name: 'requested', number: 'soft', values: requested, style: 'steps' },
    ]);
    chart(use, { title: 'Jobs that wait', grouped: true, x: time, y: { kind: 'whole' }, help: 'At the end of each window.' },
      lines(tracks, track => ends(track.over_time.queue, track.over_time.window)));
    chart(use, { title: 'Idle nodes', grouped: true, x: time, y: { kind: 'whole' }, help: 'At the end of each window.' },
      lines(tracks, track => ends(track.over_time.idle, track.over_time.window)));
  }

  const waits = section('waits', 'Waiting time', 'Over the jobs that ran to their end. Axes of waits are logarithmic and begin at one second.');
  chart(waits, {
    title: 'Distribution of waits', help: 'The share of jobs that waited at most this long.',
    x: { kind: 'wait', label: 'wait', tell: wait => `at most ${lasting(wait)}` }, y: { kind: 'share', atMost: 1.03 },
  }, lines(tracks, track => track.waits.distribution));
  const statistic = el('select', {}, [['mean', 'mean'], ['median', 'median'], ['p95', '95th percentile']].map(([value, name]) => el('option', { value }, name)));
  const changing = el('div', { class: 'grid' });
  waits.parentElement.append(el('div', { class: 'bar' }, el('label', {}, 'Show waits by their', statistic)), changing);
  const unit = contest.jobs.unit;
  const drawBinned = () => {
    forgetCharts(changing);
    changing.replaceChildren();
    const name = statistic.value;
    const called = statistic.selectedOptions[0].textContent;
    const count = (bins, x) => bins.find(bin => x >= bin.from && x < bin.until);
    const binned = (of, x) => lines(tracks, track => of(track).map(bin => [x(bin), bin[name]])).map((line, at) => ({
      ...line, text: (x, value) => { const bin = count(of(tracks[at]), x); return bin && `${lasting(value)}, ${number(bin.jobs)} jobs`; },
    }));
    const middle = bin => Math.max(bin.from, Math.sqrt(bin.from * (bin.until - 1)));
    const range = of => (x, text) => { const bin = tracks.map(track => count(of(track), x)).find(bin => bin); return !bin ? text(x) : bin.until - bin.from > 1 ? `${text(bin.from)} to ${text(bin.until - 1)}` : text(bin.from); };
    const bySize = track => track.waits.by_size;
    const byDuration = track => track.waits.by_duration;
    chart(changing, {
      title: `Waits by ${unit}`, help: `The ${called} wait of the jobs that take this many ${unit}.`,
      x: { kind: 'power', label: unit, tell: x => `${range(bySize)(x, plain)} ${unit}` }, y: { kind: 'wait' },
    }, binned(bySize, middle));
    chart(changing, {
      title: 'Waits by duration', help: `The ${called} wait of the jobs that ran this long.`,
      x: { kind: 'wait', label: 'run time', tell: x => `ran ${range(byDuration)(x, lasting)}` }, y: { kind: 'wait' },
    }, binned(byDuration, middle));
    chart(changing, {
      title: 'Waits over time', wide: true, help: `The ${called} wait of the jobs submitted at this time.`, grouped: true,
      x: { ...time, label: 'time of submission' }, y: { kind: 'wait' },
    }, binned(track => track.waits.over_time, bin => (bin.from + bin.until) / 2));
  };
  drawBinned();
  statistic.addEventListener('change', drawBinned);
  chart(changing.parentElement.querySelector('.grid'), {
    title: 'Bounded slowdown', help: 'The share of jobs whose wait and run together took at most this many times their run time; a run time below report.slowdown_threshold counts as that.',
    x: { kind: 'slowdown', label: 'bounded slowdown', tell: value => `at most ${number(value, 2)}` }, y: { kind: 'share', atMost: 1.03 },
  }, lines(tracks, track => track.waits.slowdown));

  const senders = tracks.filter(track => track.sent.kinds.length > 0);
  if (senders.length > 0) drawTraffic(section('messages', 'Messages', 'Messages count when they are sent, also if they are lost. Bytes are those of the encoding, without the headers of a transport.'), senders, time, single);

  if (tracks.length > 0) drawGantts(section('gantt', 'Jobs on nodes'), contest);

  const linked = tracks.filter(track => Object.keys(track.in_degrees).length > 0);
  const mapped = tracks.filter(track => track.zones);
  if (linked.length + mapped.length > 0) {
    const overlay = section('overlay', 'Overlay');
    if (linked.length > 0) {
      chart(overlay, {
        title: 'In-degree of nodes', help: 'The number of nodes that this many other nodes have a link to, at the end of the run.', legend: false,
        x: { kind: 'whole', label: 'linked to by this many nodes', tell: degree => `linked to by ${number(degree)} nodes`, pad: 1 }, y: { kind: 'whole', label: 'nodes' },
      }, lines(linked, track => Object.entries(track.in_degrees).map(([degree, count]) => [Number(degree), count]), linked.length === 1 ? 'bars' : 'line'));
    }
    for (const track of mapped) drawZones(overlay, track);
  }
}

/// The most kinds of messages with a line of their own.
const MOST_KINDS = 6;

function drawTraffic(grid, tracks, time, single) {
  const rate = (track, columns) => {
    const length = Math.max(0, ...columns.map(column => column.length));
    return steps(Array.from({ length }, (_, at) => columns.reduce((sum, column) => sum + (column[at] || 0), 0) / track.sent.window), track.sent.window);
  };
  const rates = { messages: { kind: 'count', text: value => `${number(value)} per s`, label: 'messages per s' }, bytes: { kind: 'bytes', text: value => `${bytes(value)} per s`, label: 'bytes per s' } };
  if (!single) {
    for (const what of ['messages', 'bytes']) {
      chart(grid, { title: `All ${what}`, grouped: true, x: time, y: rates[what] }, lines(tracks, track => rate(track, track.sent[what]), 'steps'));
    }
  }
  const chosen = el('select', {}, tracks.map((track, at) => el('option', { value: at }, track.name)));
  const changing = el('div', { class: 'grid' });
  if (tracks.length > 1) grid.parentElement.append(el('div', { class: 'bar' }, el('label', {}, 'Kinds of messages of', chosen)));
  grid.parentElement.append(changing);
  const draw = () => {
    forgetCharts(changing);
    changing.replaceChildren();
    const track = tracks[Number(chosen.value)];
    for (const what of ['messages', 'bytes']) {
      const totals = track.sent[what].map((column, at) => [column.reduce((sum, value) => sum + value, 0), at]).sort((one, other) => other[0] - one[0]);
      const own = totals.slice(0, totals.length > MOST_KINDS + 1 ? MOST_KINDS : totals.length);
      const others = totals.slice(own.length);
      const series = own.map(([total, at], number) => ({ name: `${track.sent.kinds[at]} (${what === 'bytes' ? bytes(total) : short(total)})`, number, values: rate(track, [track.sent[what][at]]), style: 'steps' }));
      if (others.length > 0) {
        const total = others.reduce((sum, [own]) => sum + own, 0);
        series.push({ name: `${others.length} more kinds (${what === 'bytes' ? bytes(total) : short(total)})`, number: 'soft', values: rate(track, others.map(([, at]) => track.sent[what][at])), style: 'steps' });
      }
      chart(changing, { title: `${what === 'bytes' ? 'Bytes' : 'Messages'} by kind${tracks.length > 1 ? ', ' + track.name : ''}`, grouped: true, legend: true, x: time, y: rates[what] }, series);
    }
  };
  draw();
  chosen.addEventListener('change', draw);
}

/// Buttons that hide and show runs, in the colours of their lines.
function chips(contest) {
  return el('div', { class: 'chips', role: 'group', 'aria-label': 'Runs that are drawn' }, contest.tracks.map(track => {
    const button = el('button', { type: 'button', 'aria-pressed': String(!hidden.has(track.name)) }, key(numbers.get(track.name)), track.name);
    button.addEventListener('click', () => {
      const show = hidden.has(track.name);
      showTrack(track.name, show);
      button.setAttribute('aria-pressed', String(show));
    });
    return button;
  }));
}
