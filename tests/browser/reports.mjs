// Results to make pages of, and the pages.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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

// Nothing was measured.
export function empty() {
  const result = reference('churn');
  result.cases = [];
  result.assertions = [];
  result.warnings = [];
  return result;
}
