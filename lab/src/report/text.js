// Numbers as people read them, and elements from what they hold.

/// An element with attributes and children; texts become text, never markup.
function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value != null) element.setAttribute(name, value);
  }
  element.append(...children.flat().filter(child => child != null && child !== false));
  return element;
}

/// A number with few digits, and thousands apart.
function number(value, digits) {
  if (value == null || !Number.isFinite(value)) return '–';
  if (digits == null) {
    const size = Math.abs(value);
    digits = Number.isInteger(value) || size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 3 : 5;
    if (value !== 0 && size < 1e-4) return value.toExponential(1);
  }
  return value.toLocaleString('en', { minimumFractionDigits: 0, maximumFractionDigits: digits });
}

/// A number in as few letters as an axis has room for.
function short(value) {
  const size = Math.abs(value);
  for (const [unit, letter] of [[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e3, 'k']]) {
    if (size >= unit) return trimmed(value / unit) + ' ' + letter;
  }
  return trimmed(value);
}

function trimmed(value) {
  return String(parseFloat(value.toPrecision(3)));
}

function percent(part) {
  return part == null ? '–' : number(100 * part, 1) + ' %';
}

function bytes(value) {
  return value == null ? '–' : short(value) + (Math.abs(value) < 1000 ? ' B' : 'B');
}

const UNITS = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];

/// A duration in its two largest units.
function lasting(seconds) {
  if (seconds == null || !Number.isFinite(seconds)) return '–';
  if (seconds < 0) return '-' + lasting(-seconds);
  if (seconds < 60) return number(seconds, seconds < 10 ? 2 : 1) + ' s';
  for (let at = 0; at < 3; at++) {
    const [unit, name] = UNITS[at];
    if (seconds >= unit) {
      const [below, belowName] = UNITS[at + 1];
      let whole = Math.floor(seconds / unit);
      let rest = Math.round((seconds - whole * unit) / below);
      if (rest * below >= unit) { whole += 1; rest = 0; }
      return rest > 0 ? `${number(whole)} ${name} ${rest} ${belowName}` : `${number(whole)} ${name}`;
    }
  }
}

/// A moment on an axis whose marks are so far apart.
function moment(seconds, step) {
  if (seconds === 0) return '0';
  if (step >= 86400) return `${number(seconds / 86400)} d`;
  const parts = [];
  let rest = Math.round(seconds);
  for (const [unit, name] of UNITS) {
    const whole = Math.floor(rest / unit);
    rest -= whole * unit;
    if (whole > 0) parts.push(`${whole} ${name}`);
  }
  return parts.slice(-2).join(' ');
}

/// A table; cells are texts, numbers already as texts, or elements. Columns: [heading, is it text].
function table(columns, rows) {
  const cell = (tag, value, text, heading) => el(tag, { class: text ? 'text' : null, scope: heading ? 'col' : null }, value == null ? '–' : value);
  return el('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': 'table' }, el('table', {},
    el('thead', {}, el('tr', {}, columns.map(([heading, text]) => cell('th', heading, text, true)))),
    el('tbody', {}, rows.map(row => el('tr', {}, row.map((value, at) => cell('td', value, columns[at][1])))))));
}
