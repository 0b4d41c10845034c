// Colours that people tell apart, whatever they see, in light and in dark; with dashes where there are more lines than colours.

const PALETTE = {
  light: ['#0072b2', '#d55e00', '#008a64', '#b8548c', '#3a9bd9', '#b97a00', '#4a4f57'],
  dark: ['#4fa8e0', '#ff8a4c', '#2fc79a', '#e39bc6', '#a5d8fa', '#f2c14b', '#d5d9de'],
};
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3]];

/// The theme: that of the system until the user chooses one, and light on paper.
const theme = {
  chosen: null,
  system: matchMedia('(prefers-color-scheme: dark)'),
  printing: false,
  get name() {
    if (this.printing) return 'light';
    return this.chosen || (this.system.matches ? 'dark' : 'light');
  },
  listeners: [],
  apply() {
    document.documentElement.dataset.theme = this.name;
    this.listeners.forEach(listener => listener());
  },
};
theme.system.addEventListener('change', () => theme.apply());
addEventListener('beforeprint', () => { theme.printing = true; theme.apply(); fitToPaper(true); });
addEventListener('afterprint', () => { theme.printing = false; theme.apply(); fitToPaper(false); });

/// The colour and dashes of the line of this number.
function colour(number) {
  const palette = PALETTE[theme.name];
  return palette[number % palette.length];
}

function dash(number) {
  return DASHES[Math.floor(number / PALETTE.light.length) % DASHES.length];
}

/// A colour of the page.
function shade(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/// A small piece of the line of this number, for legends.
function key(number, shape) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('class', 'key');
  svg.setAttribute('width', '22');
  svg.setAttribute('height', '10');
  svg.setAttribute('aria-hidden', 'true');
  const mark = document.createElementNS(svg.namespaceURI, shape === 'diamond' ? 'path' : shape === 'dot' ? 'circle' : 'line');
  const attributes = shape === 'diamond' ? { d: 'M11 0.5 L15.5 5 L11 9.5 L6.5 5 Z', fill: 'none', 'stroke-width': 2 }
    : shape === 'dot' ? { cx: 11, cy: 5, r: 4, 'stroke-width': 1 }
    : { x1: 0, y1: 5, x2: 22, y2: 5, 'stroke-width': 3, 'stroke-dasharray': number === 'soft' ? '2 3' : dash(number).join(' ') };
  for (const [name, value] of Object.entries(attributes)) mark.setAttribute(name, value);
  const paint = () => {
    const own = number === 'soft' ? shade('--soft') : colour(number);
    mark.setAttribute('stroke', own);
    if (shape === 'dot') mark.setAttribute('fill', own);
  };
  paint();
  theme.listeners.push(paint);
  svg.append(mark);
  return svg;
}

/// Colours from the ground to a strong one, for 0 to 255.
function ramp() {
  const parse = text => {
    const hex = text.replace('#', '');
    return [0, 2, 4].map(at => parseInt(hex.slice(at, at + 2), 16));
  };
  const dark = theme.name === 'dark';
  const stops = dark ? ['#14171b', '#1f4e79', '#4fa8e0', '#f7e08a'] : ['#ffffff', '#c5e1f2', '#5aa9d8', '#005a91'];
  const colours = stops.map(parse);
  const table = new Uint8ClampedArray(256 * 3);
  for (let at = 0; at < 256; at++) {
    const place = at / 255 * (colours.length - 1);
    const low = Math.min(Math.floor(place), colours.length - 2);
    for (let part = 0; part < 3; part++) {
      table[3 * at + part] = colours[low][part] + (colours[low + 1][part] - colours[low][part]) * (place - low);
    }
  }
  return table;
}

/// A strip that explains the ramp.
function rampKey(low, high) {
  const strip = el('span', { class: 'ramp', role: 'img', 'aria-label': `from ${low} to ${high}` });
  const paint = () => {
    const table = ramp();
    const stops = [];
    for (let at = 0; at < 256; at += 15) stops.push(`rgb(${table[3 * at]},${table[3 * at + 1]},${table[3 * at + 2]})`);
    strip.style.background = `linear-gradient(to right, ${stops.join(',')})`;
  };
  paint();
  theme.listeners.push(paint);
  return el('span', { class: 'small' }, low + ' ', strip, ' ' + high);
}
