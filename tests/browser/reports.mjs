// Results to make pages of, and the pages.
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const folder = mkdtempSync(join(tmpdir(), 'memsweep-browser-'));
const source = process.env.MEMSWEEP_SOURCE;

export const names = [
  '</script><script>globalThis.pwned = 1</script>',
  '<img src=x onerror="globalThis.pwned = 2">',
  '"quoted" \'and\' `ticks` \\ </details></table>',
  '\u202egnp.exe \u2066rtl\u2069 שלום',
  'datum.value]; globalThis.pwned = 3 //',
  'x'.repeat(300),
];

export const reference = (name) => JSON.parse(readFileSync(`${source}/results/reference/${name}.json`, 'utf8'));

// The path of the page that memsweep makes of a result.
export function pageOf(name, result) {
  const json = join(folder, `${name}.json`);
  const html = join(folder, `${name}.html`);
  writeFileSync(json, JSON.stringify(result));
  execFileSync(process.env.MEMSWEEP, ['report', json, '-f', 'html', '-o', html], { stdio: ['ignore', 'inherit', 'inherit'] });
  return html;
}

// The page that compares two results.
export function comparisonOf(name, base, candidate, ...options) {
  const files = [base, candidate].map((result, i) => {
    const json = join(folder, `${name}-${i}.json`);
    writeFileSync(json, JSON.stringify(result));
    return json;
  });
  const html = join(folder, `${name}.html`);
  const done = spawnSync(process.env.MEMSWEEP, ['compare', ...files, '-f', 'html', '-o', html, ...options], { stdio: ['ignore', 'inherit', 'inherit'] });
  if (![0, 1, 5].includes(done.status)) throw new Error(`compare: exit ${done.status}`);
  return html;
}

// The page of several results of one scenario.
export function historyOf(name, results) {
  const files = results.map((result, i) => {
    const json = join(folder, `${name}-${i}.json`);
    writeFileSync(json, JSON.stringify(result));
    return json;
  });
  const html = join(folder, `${name}.html`);
  execFileSync(process.env.MEMSWEEP, ['report', ...files, '-f', 'html', '-o', html], { stdio: ['ignore', 'inherit', 'inherit'] });
  return html;
}

// A later result of the same: times longer by a factor, an array more, and the scatter that `seed` gives.
export function later(result, seed, factor = 1) {
  let state = seed * 2654435761 + 1;
  const random = () => (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648;
  const copy = structuredClone(result);
  copy.run.id += `-${seed}`;
  copy.run.started = new Date(Date.UTC(2026, 0, 1 + seed)).toISOString();
  for (const one of copy.cases) {
    for (const metric of Object.values(one.metrics)) {
      if (metric.class !== 'noisy') continue;
      const scatter = 1 + 0.01 * (random() - 0.5);
      const scale = scatter * (metric.unit === 's' ? factor : 1);
      metric.values = metric.values.map((value) => (value === null ? null : value * scale));
      if (metric.summary) {
        for (const key of ['min', 'max', 'mean', 'median', 'mad']) metric.summary[key] *= scale;
        if (metric.summary.ci95) metric.summary.ci95 = metric.summary.ci95.map((end) => end * scale);
      }
    }
  }
  return copy;
}

// Two cases of it: a page has to be judged in each theme, and that takes as long as it has elements.
export function few(result = reference('churn')) {
  result.cases = result.cases.slice(0, 2);
  return result;
}

// 24 runs, slower by a fifth from the fifteenth on.
export const runs = (result) => Array.from({ length: 24 }, (_, i) => later(result, i, i < 14 ? 1 : 1.2));

// What `-f vega` writes of a result.
export function specOf(result) {
  const json = join(folder, 'spec.json');
  writeFileSync(json, JSON.stringify(result));
  return JSON.parse(execFileSync(process.env.MEMSWEEP, ['report', json, '-f', 'vega'], { maxBuffer: 1 << 28 }));
}

export function hostile() {
  const result = reference('churn');
  let next = 0;
  const name = () => names[next++ % names.length];
  result.run.scenario.name = name();
  result.machine.host = name();
  result.run.argv = names;
  for (const one of result.cases) {
    one.id += name();
    one.params.mode += name();
    one.params.collect_every = String(one.params.collect_every) + name();
    for (const phase of one.phases) phase.name += names[0];
    for (const point of one.points) point.name += names[1];
  }
  for (const warning of result.warnings) warning.message += name();
  return result;
}

// 80 cases of different settings, each with its curves.
export function many() {
  const result = reference('churn');
  const made = [];
  for (let setting = 0; made.length < 80; ++setting) {
    for (const one of result.cases.slice(0, 3)) {
      const copy = structuredClone(one);
      copy.params.collect_every = setting;
      copy.id = `churn/collect_every=${setting}/mode=${one.params.mode}`;
      made.push(copy);
    }
  }
  result.cases = made.slice(0, 80);
  return result;
}

// Curves of 100,000 samples.
export function long() {
  const result = reference('finalizer_repro');
  for (const one of result.cases) {
    one.series = one.series.filter((series) => series.repetition === 0);
    for (const series of one.series) {
      series.t = Array.from({ length: 100_000 }, (_, i) => i * 1e-5);
      series.v = series.t.map((t) => Math.round(4e8 * (1 + Math.sin(40 * t))));
    }
  }
  return result;
}

// A sweep over sizes.
export function swept() {
  const result = reference('churn');
  const [base] = result.cases;
  result.cases = [4096, 65536, 1048576, 16777216].flatMap((size) =>
    ['refcount', 'finalizer'].map((mode) => {
      const copy = structuredClone(base);
      copy.params = { mode, size };
      copy.id = `churn/mode=${mode}/size=${size}`;
      return copy;
    }),
  );
  return result;
}

// 49 cases on two axes: a map.
export function mapped() {
  const result = reference('churn');
  const [base] = result.cases;
  result.cases = Array.from({ length: 7 }, (_, i) => 4096 << (2 * i)).flatMap((size) =>
    ['refcount', 'finalizer', 'pool', 'deferred_batch', 'arena', 'leak', 'explicit'].map((mode) => {
      const copy = structuredClone(base);
      copy.params = { mode, size };
      copy.series = [];
      copy.id = `churn/mode=${mode}/size=${size}`;
      return copy;
    }),
  );
  return result;
}

// Four cases with names of 64 bytes, which differ in their last letters or in the middle.
export function longNamed() {
  const result = few();
  const policy = 'the_longest_case_name_somebody_writes_for_a_release_policy_';
  result.cases = [`${policy}00`, `${policy}01`, `the_longest_a_${policy}`, `the_longest_b_${policy}`].map((mode) => {
    const copy = structuredClone(result.cases[0]);
    copy.params = { mode, size: 4096 };
    copy.id = `churn/mode=${mode}`;
    return copy;
  });
  return result;
}

// Nothing was measured.
export function empty() {
  const result = reference('churn');
  result.cases = [];
  result.assertions = [];
  result.warnings = [];
  return result;
}

// What other commands than run make: of this machine, and of the trace that ships.
const memsweep = (...args) => {
  const done = spawnSync(process.env.MEMSWEEP, args, { cwd: folder, encoding: 'utf8', maxBuffer: 1 << 28 });
  if (![0, 1].includes(done.status)) throw new Error(`${args.join(' ')}: exit ${done.status}: ${done.stderr}`);
};
const madeBy = (name, command, ...args) => {
  const html = join(folder, `${name}.html`);
  memsweep(command, ...args.slice(0, args.indexOf('--') < 0 ? args.length : args.indexOf('--')), '-f', 'html', '-o', html,
    ...(args.indexOf('--') < 0 ? [] : args.slice(args.indexOf('--'))));
  return html;
};
const trace = `${source}/scenarios/traces/sqlite.mst`;

// A small trace with a clock: blocks of four sizes, of which every second is freed before the next ones come.
function imported() {
  const rows = ['Thread,Time,Action,Pointer,Size,Stream'];
  const row = (i, action, pointer, size) => rows.push(`1,00:00:00.${String(1000 + i).padStart(6, '0')},${action},0x${pointer.toString(16)},${size},0`);
  for (let i = 0; i < 400; ++i) {
    const size = [1000, 70_000, 300_000, 2_500_000][i % 4];
    row(2 * i, 'allocate', 0x10000000 * (i + 1), size);
    if (i % 2 === 1) row(2 * i + 1, 'free', 0x10000000 * i, [1000, 70_000, 300_000, 2_500_000][(i - 1) % 4]);
  }
  writeFileSync(join(folder, 'log.csv'), `${rows.join('\n')}\n`);
  memsweep('import', 'log.csv', '-o', 'log.mst', '-q');
  return 'log.mst';
}

// Into what half of the policies need at the most.
export function fitted() {
  memsweep('fit', imported(), '-f', 'json', '-o', 'fit.json');
  const needs = JSON.parse(readFileSync(join(folder, 'fit.json'), 'utf8')).policies.map((one) => one.capacity).sort((a, b) => a - b);
  return madeBy('fitted', 'fit', 'log.mst', '--capacity', `${needs[needs.length >> 1]}`, '--runs', '2');
}
// Who allocates in a program whose stacks another tool has logged.
export function callers() {
  memsweep('import', join(source, 'tests/trace/logs/heaptrack_v3.zst'), '-o', 'callers.mst', '-q');
  return madeBy('callers', 'report', 'callers.mst');
}
// The same of a made-up log with so many stacks.
export function callersOf(count) {
  const lines = ['v 10400 3', 's 3 app'];
  const functions = 5000;
  for (let i = 0; i < functions; ++i) {
    const name = `function_${i}`;
    lines.push(`s ${name.length.toString(16)} ${name}`, `i ${(4096 + i).toString(16)} 1 ${(i + 2).toString(16)}`);
  }
  for (let i = 1; i <= count; ++i) lines.push(`t ${((i * 7919) % functions + 1).toString(16)} ${Math.floor(i / 3).toString(16)}`, `a ${(i % 500 + 1).toString(16)} ${i.toString(16)}`);
  for (let i = 0; i < count; ++i) lines.push(`+ ${i.toString(16)}`);
  writeFileSync(join(folder, 'made.heaptrack'), lines.join('\n') + '\n');
  memsweep('import', 'made.heaptrack', '-o', 'made.mst', '-q');
  return madeBy('made', 'report', 'made.mst');
}
export const described = () => madeBy('described', 'info', trace);
export const replayed = () =>
  madeBy('replayed', 'replay', imported(), '--on', 'glibc,tlsf', '-n', '6', '--warmup', '0', '--settle', '10ms', '--no-latency', '-q');
// The same trace on six allocators, so close to each other in time and memory that their names would be in one place.
export function crowded() {
  memsweep('replay', imported(), '--on', 'glibc,tlsf', '-n', '6', '--warmup', '0', '--settle', '10ms', '--no-latency', '-q', '-o', 'crowded.json');
  const result = JSON.parse(readFileSync(join(folder, 'crowded.json'), 'utf8'));
  result.cases = Array.from({ length: 6 }, (_, i) => {
    const copy = structuredClone(result.cases[0]);
    copy.params.on = `allocator_${i}`;
    copy.id += `-${i}`;
    for (const name of ['time_per_event', 'resident_peak']) {
      for (const key of ['min', 'max', 'mean', 'median']) copy.metrics[name].summary[key] *= 1 + i / 1000;
    }
    return copy;
  });
  return pageOf('crowded', result);
}
export const watched = () => madeBy('watched', 'watch', '-i', '5ms', '--', 'sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do sleep 0.02; ls / >/dev/null; done');

// A recording of several processes, one after the other.
export function recorded() {
  memsweep('record', '-q', '-o', 'processes.mst', '--', '/bin/sh', '-c', 'for i in 1 2 3 4 5 6 7 8; do /bin/cat /dev/null; done');
  return madeBy('recorded', 'info', 'processes.mst');
}

export function leaking() {
  const program = join(dirname(process.env.MEMSWEEP), 'recorded_leak');
  memsweep('run', '--leaks', 'n=[100,200,400]', '-q', '-r', 'html=leaks.html', '--', program, '${n}', '1');
  return join(folder, 'leaks.html');
}

export function probed() {
  memsweep('probe', 'topology', 'latency', 'bandwidth', '--size', '1MiB', '--min-time', '1ms', '-n', '6', '-q', '-o', 'probe.json',
    '-k', 'topology|probe_latency/.*pages=4k/.*size=|kernel=(copy|read)/store=plain|kernel=copy/store=nt');
  return madeBy('probed', 'report', 'probe.json');
}

// 24 hosts like this machine, three of them with slow memory, and close to each other. After probed().
export function hosts() {
  const result = JSON.parse(readFileSync(join(folder, 'probe.json'), 'utf8'));
  result.cases = result.cases.filter((one) => one.status === 'ok' && Object.keys(one.metrics).length > 0);
  result.cases = result.cases.filter((_, i) => i % 4 === 0); // each has figures and tables of its own
  result.warnings = [];
  const files = Array.from({ length: 24 }, (_, host) => {
    const slow = host >= 21 ? 1.6 + host / 100 : 1;
    const copy = later(result, host);
    copy.run.placement = { node: `node${host}`, launcher: 'slurm', job: '1', nodes: 'node[0-23]', rank: host };
    copy.machine.host = `node${host}`;
    for (const one of copy.cases) {
      for (const metric of Object.values(one.metrics)) {
        if (metric.class !== 'noisy' || !metric.summary) continue;
        const middle = metric.summary.median; // what scatters here must not decide a test
        metric.values = metric.values.map((value, i) => (value === null ? null : middle * (1 + 0.002 * (i % 3)) * (metric.unit === 's' ? slow : 1 / slow)));
        const present = metric.values.filter((value) => value !== null).sort((a, b) => a - b);
        metric.summary = { ...metric.summary, min: present[0], max: present.at(-1), median: present[present.length >> 1], ci95: null };
      }
    }
    writeFileSync(join(folder, `node${host}.json`), JSON.stringify(copy));
    return `node${host}.json`;
  });
  memsweep('merge', ...files, '-o', 'fleet.json', '-q');
  return madeBy('fleet', 'report', 'fleet.json');
}

// The outliers that the fleet was found to have: a text for each case and metric.
export const outlyingQuantities = () => {
  const fleet = JSON.parse(readFileSync(join(folder, 'fleet.json'), 'utf8'));
  return new Set(fleet.judgement.outliers.map((one) => `${one.case}: ${one.metric}`));
};

// Where the memory of a program is that two sites have shared pages for.
export const explained = () => madeBy('explained', 'explain', '--', join(dirname(process.env.MEMSWEEP), 'recorded_memory'), 'pins');
