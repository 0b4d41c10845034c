// A paper's tables, and charts of them: what was published beside what was measured.

const isNumber = cell => Array.isArray(cell);

function cellText(cell) {
  if (cell == null) return '–';
  if (!isNumber(cell)) return cell;
  const [mean, ci95, digits] = cell;
  const text = value => value.toLocaleString('en', { minimumFractionDigits: digits, maximumFractionDigits: digits });
  return ci95 > 0 ? `${text(mean)} ± ${text(ci95)}` : text(mean);
}

function drawPaper(parent, paper) {
  for (const part of paper.parts) {
    const grid = el('div', { class: 'grid' });
    const section = el('section', { id: part.name }, el('h2', {}, part.title));
    parent.append(section);
    section.append(grid);
    for (const one of part.tables) {
      if (one.shown) drawPairs(grid, one);
      else drawLines(grid, one);
    }
    if (!grid.hasChildNodes()) grid.remove();
    for (const one of part.tables.filter(one => one.shown)) {
      const text = one.columns.map((_, at) => one.rows.every(row => !isNumber(row[at])));
      section.append(el('h3', {}, one.title), table(one.columns.map((name, at) => [name, text[at]]), one.rows.map(row => row.map(cellText))));
    }
    if (part.notes.length > 0) section.append(el('ul', { class: 'soft small' }, part.notes.map(note => el('li', {}, note))));
  }
}

/// What a row is about: its first cell, and where that does not tell rows apart, its texts and then its numbers.
function rowNames(one, used) {
  const free = one.columns.map((_, at) => at).filter(at => !used.has(at));
  const isText = at => one.rows.every(row => !isNumber(row[at])) && one.rows.some(row => row[at] != null);
  let columns = free.slice(0, 1);
  const name = row => columns.map(at => cellText(row[at])).join(', ');
  const distinct = () => new Set(one.rows.map(name)).size === one.rows.length;
  for (const at of [...free.filter(isText), ...free.filter(at => !isText(at))]) {
    if (distinct()) break;
    if (!columns.includes(at)) columns = [...columns, at].sort((one, other) => one - other);
  }
  return { names: one.rows.map(name), label: columns.map(at => one.columns[at]).join(', ') };
}

/// Columns of which one was published and others were measured: those that are called so, or as if nothing had been published.
function pairsOf(one) {
  const some = at => one.rows.some(row => isNumber(row[at]));
  const pairs = [];
  one.columns.forEach((name, published) => {
    if (!/\bpublished\b/.test(name) || !some(published)) return;
    const wanted = name.replace(/\bpublished\b/, 'measured');
    const plain = name.replace(/\bpublished\b\s*/, '').trim();
    const all = one.columns.map((other, at) => [other, at]).filter(([, at]) => at !== published && some(at));
    for (const fits of [other => other === wanted, other => other.startsWith(wanted), other => other === plain]) {
      const measured = all.filter(([other]) => fits(other)).map(([, at]) => at);
      if (measured.length > 0) {
        pairs.push({ published, measured, what: plain });
        return;
      }
    }
  });
  return pairs;
}

/// A chart for each figure that was published and measured.
function drawPairs(grid, one) {
  const pairs = pairsOf(one);
  const used = new Set(pairs.flatMap(pair => [pair.published, ...pair.measured]));
  one.columns.forEach((name, at) => { if (/\b(published|measured)\b/.test(name)) used.add(at); });
  const { names, label } = rowNames(one, used);
  for (const { published, measured, what } of pairs) {
    const columns = [published, ...measured];
    const kept = one.rows.map((row, at) => [row, names[at]]).filter(([row]) => columns.some(at => isNumber(row[at])));
    const values = column => kept.flatMap(([row], at) => isNumber(row[column]) ? [[at, row[column][0]]] : []);
    const all = columns.flatMap(values).map(pair => pair[1]);
    const least = Math.min(...all);
    const log = least > 0 && Math.max(...all) / least > 50;
    const interval = column => (at, value) => {
      const cell = kept[at][0][column];
      return cell && cell[1] > 0 ? `${number(value)} ± ${number(cell[1])}` : number(value);
    };
    chart(grid, {
      title: what ? `${one.title}: ${what}` : one.title, legend: true, height: 260,
      x: { kind: 'count', label, names: kept.map(([, name]) => name), pad: 0.5 }, y: { kind: log ? 'power' : 'count' },
    }, [
      { name: 'published', number: 1, values: values(published), style: 'diamonds' },
      ...measured.map((column, at) => ({
        name: measured.length > 1 ? one.columns[column] : 'measured', number: [0, 2, 3, 4, 5, 6][at % 6], values: values(column), style: 'dots', text: interval(column),
      })),
    ]);
  }
}

/// Charts of data: its first numbers across, and a line for each other column; apart for each text before that.
function drawLines(grid, one) {
  if (one.rows.length < 2) return;
  const across = one.columns.findIndex((_, at) => one.rows.every(row => isNumber(row[at])));
  if (across < 0) return;
  const groups = new Map();
  for (const row of one.rows) {
    const name = row.slice(0, across).map(cellText).join(', ');
    if (!groups.has(name)) groups.set(name, []);
    groups.get(name).push(row);
  }
  const skipped = new Set(['until', 'jobs', 'count', 'bin']);
  const columns = one.columns.map((_, at) => at).filter(at => at > across && !skipped.has(one.columns[at]) && one.rows.some(row => isNumber(row[at])));
  if (columns.length === 0) return;
  const sizeOf = column => one.rows.reduce((most, row) => isNumber(row[column]) ? Math.max(most, Math.abs(row[column][0])) : most, 0);
  const unitOf = column => (one.columns[column].match(/(%|\bs|\bms|\bmin|\bh)$/) || [''])[0];
  // What is of another unit or size has a chart of its own.
  const charts = [];
  for (const column of columns) {
    const like = charts.find(list => unitOf(list[0]) === unitOf(column) && Math.max(sizeOf(list[0]), sizeOf(column)) <= 30 * Math.max(1e-9, Math.min(sizeOf(list[0]), sizeOf(column))));
    if (like && like.length < 7) like.push(column);
    else charts.push([column]);
  }
  const many = groups.size > 1;
  const draw = (title, lines, group) => {
    const xs = lines.flatMap(line => line.values.map(pair => pair[0]));
    const [low, high] = [xs.reduce((least, x) => Math.min(least, x), Infinity), xs.reduce((most, x) => Math.max(most, x), -Infinity)];
    const log = low > 0 && high / low > 30;
    const label = one.columns[across] === 'from' && group ? group : one.columns[across];
    chart(grid, {
      title, legend: true, nothing: 'There is nothing to show.', help: one.every > 1 ? `Every ${one.every}th row of the file is drawn.` : null,
      x: { kind: log ? 'power' : 'count', label, tell: value => `${label} ${number(value)}` }, y: { kind: 'count' },
    }, lines);
  };
  const values = (rows, column) => rows.filter(row => isNumber(row[column])).map(row => [row[across][0], row[column][0]]).sort((one, other) => one[0] - other[0]);
  for (const list of charts) {
    if (many && list.length === 1 && groups.size <= 14) {
      const lines = [...groups].map(([name, rows], number) => ({ name, number, values: values(rows, list[0]) })).filter(line => line.values.length > 0);
      if (lines.length > 0) draw(`${one.title}: ${one.columns[list[0]]}`, lines);
    } else {
      for (const [name, rows] of [...groups].slice(0, 14)) {
        const lines = list.map((column, number) => ({ name: one.columns[column], number, values: values(rows, column) })).filter(line => line.values.length > 0);
        if (lines.length > 0) draw(many ? `${one.title}: ${name}` : one.title, lines, name);
      }
    }
  }
}
