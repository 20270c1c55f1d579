// The licences of every package that went into the bundle, by esbuild's list of inputs, each text once:
//   node licenses.js inputs.json
import { readdirSync, readFileSync } from 'node:fs';

const inputs = Object.keys(JSON.parse(readFileSync(process.argv[2], 'utf8')).inputs);
const folders = new Set();
for (const input of inputs) {
  const found = input.match(/^.*node_modules\/(@[^/]+\/)?[^/]+(?=\/)/);
  if (found) folders.add(found[0]);
}

const packagesOf = new Map();
for (const folder of [...folders].sort()) {
  const about = JSON.parse(readFileSync(`${folder}/package.json`, 'utf8'));
  const file = readdirSync(folder).find((name) => /^(licen[cs]e|copying)/i.test(name));
  if (!file) throw new Error(`${folder} has no licence file`);
  const text = readFileSync(`${folder}/${file}`, 'utf8').replace(/\r/g, '').trim();
  packagesOf.set(text, [...(packagesOf.get(text) ?? []), `${about.name} ${about.version}`]);
}

const parts = [...packagesOf].map(([text, packages]) => `${packages.join(', ')}\n\n${text}\n`);
process.stdout.write(parts.join(`\n${'-'.repeat(80)}\n\n`));
