// The page: its head, its parts, and what leads to them.

const KIND_NAMES = { run: 'Run', compare: 'Comparison', sweep: 'Sweep', reproduce: 'Reproduction' };

function copyButton(text) {
  const button = el('button', { type: 'button' }, 'Copy');
  button.addEventListener('click', () => {
    const done = () => { button.textContent = 'Copied'; setTimeout(() => { button.textContent = 'Copy'; }, 1500); };
    const select = () => getSelection().selectAllChildren(button.previousElementSibling);
    if (navigator.clipboard) navigator.clipboard.writeText(text).then(done, select);
    else select();
  });
  return button;
}

function head() {
  document.title = `${DATA.title} – gridweave`;
  const dark = el('button', { type: 'button' }, 'Light or dark');
  dark.addEventListener('click', () => { theme.chosen = theme.name === 'dark' ? 'light' : 'dark'; theme.apply(); });
  document.getElementById('top').append(...[
    el('div', { class: 'row' }, el('div', {}, el('div', { class: 'soft small' }, `gridweave ${DATA.version} · ${KIND_NAMES[DATA.kind]}`), el('h1', {}, DATA.title)), dark),
    DATA.paper && el('p', {}, DATA.paper.title),
    DATA.partial && el('p', { class: 'alarm' }, DATA.sweep ? `Stopped early: ${DATA.sweep.missing} runs are missing.` : 'Stopped early: the figures cover the time until then.'),
    el('div', { class: 'command' }, el('span', { class: 'soft' }, DATA.config ? 'Repeat it, in the folder of this file:' : 'Repeat it:'), el('code', {}, DATA.command), copyButton(DATA.command)),
  ].filter(part => part));
}

function seedsOf(contest) {
  const seeds = [...new Set(contest.tracks.flatMap(track => track.summary.seed))];
  return seeds.length > 8 ? `${seeds[0]} to ${seeds[seeds.length - 1]}` : seeds.join(', ');
}

/// The parts that follow for one contest, in place of those of another.
function overviewOf(contest) {
  const part = el('div', {});
  if (contest.tracks.length === 1 && DATA.kind === 'run' && typeof contest.tracks[0].summary.seed === 'number') part.append(facts(contest.tracks[0]));
  else part.append(el('p', {}, `${contest.title}. Seed ${seedsOf(contest)}.`), summaryTable(contest));
  const organisations = organisationTable(contest);
  if (organisations) part.append(el('p', {}, 'By organisation:'), organisations);
  return part;
}

function drawContests(main) {
  const overview = el('div', {});
  const rest = el('div', {});
  const tabs = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Jobs' });
  const show = number => {
    forgetCharts(rest);
    together.clear();
    rest.replaceChildren();
    overview.replaceChildren(overviewOf(DATA.contests[number]));
    [...tabs.children].forEach((tab, at) => tab.setAttribute('aria-selected', String(at === number)));
    drawContest(rest, DATA.contests[number]);
    navigate();
    const several = DATA.contests[number].tracks.length > 1;
    document.getElementById('drawn').replaceChildren(...several ? [chips(DATA.contests[number])] : []);
  };
  if (DATA.contests.length > 1) {
    DATA.contests.forEach((contest, at) => tabs.append(el('button', { type: 'button', role: 'tab', onclick: () => show(at) }, contest.title.split(':')[0])));
  }
  main.append(el('section', { id: 'overview' }, el('h2', {}, 'Overview'), DATA.contests.length > 1 && tabs, overview), rest);
  show(0);
}

function navigate() {
  const sections = [...document.querySelectorAll('main section[id]')];
  document.getElementById('nav').replaceChildren(...sections.map(section => {
    const title = section.querySelector('h2').textContent;
    const name = DATA.paper && !['configuration', 'runs', 'overview'].includes(section.id) ? section.id : title;
    return el('a', { href: `#${section.id}` }, name);
  }));
}

function start() {
  theme.apply();
  const main = document.getElementById('content');
  main.replaceChildren();
  head();
  if (DATA.contests.length > 0) drawContests(main);
  if (DATA.sweep) {
    main.append(el('section', { id: 'overview' }, el('h2', {}, 'Overview'), el('p', {}, `${number(DATA.sweep.points.length)} runs over ${DATA.sweep.keys.join(', ')}.`)));
    drawSweep(main, DATA.sweep);
  }
  if (DATA.paper) {
    const runs = DATA.paper.runs;
    main.append(el('section', { id: 'overview' }, el('h2', {}, 'Overview'),
      el('p', {}, `${number(runs.length)} runs, seed ${DATA.paper.seeds.length > 1 ? `${DATA.paper.seeds[0]} to ${DATA.paper.seeds[DATA.paper.seeds.length - 1]}` : DATA.paper.seeds[0]}. Diamonds are published figures, dots are measured here.`)));
    drawPaper(main, DATA.paper);
    if (runs.length > 0) {
      main.append(el('section', { id: 'runs' }, el('h2', {}, 'Runs'), table([['run', true], ['scheduler', true], ['seed', false], ['digest', true]],
        runs.map(([name, scheduler, seed, digest]) => [name, scheduler, String(seed), el('code', {}, String(digest))]))));
    }
  }
  if (DATA.notes.length > 0 || DATA.config) {
    main.append(el('section', { id: 'configuration' }, el('h2', {}, 'Configuration'),
      DATA.notes.length > 0 && el('ul', { class: 'soft small' }, DATA.notes.map(note => el('li', {}, note))),
      DATA.config && el('pre', { class: 'config', tabindex: 0 }, DATA.config)));
  }
  navigate();
  document.getElementById('foot').append(`Made by gridweave ${DATA.version}. Charts by uPlot (MIT). This file is complete: it loads nothing.`);
}

/// For tests, and for a user with the browser's console.
window.gridweave = { data: DATA, charts };
start();
