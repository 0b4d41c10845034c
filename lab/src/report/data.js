// What is packed in the page, unpacked.

const DATA = JSON.parse(document.getElementById('data').textContent);

/// Reads numbers of seven bits to a byte from base64.
class Unpacked {
  constructor(text) {
    this.bytes = atob(text);
    this.at = 0;
  }

  next() {
    let value = 0;
    let scale = 1;
    for (;;) {
      const byte = this.bytes.charCodeAt(this.at++);
      value += (byte & 127) * scale;
      if (byte < 128) return value;
      scale *= 128;
    }
  }

  /// A step from another number.
  step(from) {
    const twice = this.next();
    return twice % 2 === 0 ? from + twice / 2 : from - (twice + 1) / 2;
  }
}

/// As many numbers.
function column(text, count) {
  const from = new Unpacked(text);
  const values = new Float64Array(count);
  for (let at = 0; at < count; at++) values[at] = from.next();
  return values;
}

const STATES = [
  'completed', 'killed, its time was up', 'running when the run was stopped', 'waiting when the run was stopped',
  'not submitted before the run was stopped', 'rejected', 'failed', 'lost', 'orphaned',
];

/// The jobs of a contest; times in seconds.
function unpackJobs(jobs) {
  if (jobs.unpacked) return jobs.unpacked;
  const count = jobs.count;
  const numbers = new Float64Array(count);
  const steps = new Unpacked(jobs.numbers);
  let before = 0;
  for (let at = 0; at < count; at++) numbers[at] = before = steps.step(before);
  const submitted = column(jobs.submitted, count);
  let time = 0;
  for (let at = 0; at < count; at++) {
    time += submitted[at];
    submitted[at] = time / 1000;
  }
  const requested = column(jobs.requested, count).map(millis => millis / 1000);
  jobs.unpacked = { count, numbers, submitted, requested, sizes: column(jobs.sizes, count) };
  return jobs.unpacked;
}

/// Where the jobs of a run were: a box for each stretch of nodes that a job had.
function unpackPlaces(contest, places) {
  const jobs = unpackJobs(contest.jobs);
  const states = column(places.states, jobs.count);
  const times = new Unpacked(places.times);
  const nodes = new Unpacked(places.nodes);
  const start = new Float64Array(jobs.count).fill(NaN);
  const end = new Float64Array(jobs.count).fill(NaN);
  const first = new Float64Array(jobs.count);
  const boxes = { from: [], until: [], low: [], high: [], job: [] };
  for (let job = 0; job < jobs.count; job++) {
    first[job] = boxes.job.length;
    if (states[job] > 2) continue;
    start[job] = jobs.submitted[job] + times.next() / 1000;
    end[job] = start[job] + times.next() / 1000;
    let node = 0;
    for (let left = nodes.next(); left > 0; left--) {
      const low = nodes.step(node);
      node = low + nodes.next();
      boxes.from.push(start[job]);
      boxes.until.push(end[job]);
      boxes.low.push(low);
      boxes.high.push(node + 1);
      boxes.job.push(job);
    }
  }
  const packed = { count: boxes.job.length, job: Uint32Array.from(boxes.job) };
  for (const name of ['from', 'until', 'low', 'high']) packed[name] = Float64Array.from(boxes[name]);
  return { jobs, states, start, end, first, boxes: packed, overAt: places.over_at / 1000 };
}
