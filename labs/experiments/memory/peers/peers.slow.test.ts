import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../../../../tests/support/process/command.ts';
import { blockOf } from '../../../../tests/support/process/guide-files.ts';
import type { Table } from '../../tables/index.ts';
import { startMem0Writer } from './mem0-writer.ts';
import { PEERS, type PeerFinding } from './peer.ts';
import { runPeer } from './run-peer.ts';

const root = join(import.meta.dirname, '../../../..');
const installed = join(root, 'peers');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-peers-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
}

/**
 * A sound memory. It asks the model once for each message, and records every message with its
 * outcome. It stores confidences separately. It refuses a change if another change followed the
 * read. All data is in a file that several processes open.
 */
const SOUND_MEM0 = `
const { appendFileSync, existsSync, readFileSync, writeFileSync } = require('node:fs');
exports.Memory = class {
  constructor({ llm, historyStore }) { this.file = historyStore.config.historyDbPath; this.base = llm.config.baseURL; }
  state() {
    const file = this.file + '.json';
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { changes: 0, said: [], held: [] };
  }
  keep(state) { writeFileSync(this.file + '.json', JSON.stringify(state)); }
  change(state, held, to) {
    if (this.read !== state.changes) throw new Error('It was changed since.');
    Object.assign(held, to);
    state.changes += 1;
    this.read = state.changes;
    this.keep(state);
  }
  async add([{ content }], { metadata }) {
    const memory = content.slice(2, -2);
    const state = this.state();
    if (metadata?.confidence !== undefined || memory.startsWith('It is believed')) {
      const isIt = (one) => one.memory.slice(0, 14) === memory.slice(0, 14) && (metadata === undefined || one.memory === memory);
      const held = state.held.find(isIt);
      if (held !== undefined) return this.change(state, held, { memory, ...(metadata && { metadata }) });
      state.held.push({ id: memory, memory, metadata });
      return this.keep(state);
    }
    if (state.said.includes(memory)) return;
    appendFileSync(this.file, memory + ' won against ' + state.said.at(-1));
    state.said.push(memory);
    this.keep(state);
    await fetch(this.base + '/chat/completions', { method: 'POST', body: JSON.stringify({ messages: [{ content }] }) });
  }
  async update(id, { text, metadata }) {
    const state = this.state();
    this.change(state, state.held.find((one) => one.id === id), { ...(text && { memory: text }), ...(metadata && { metadata }) });
  }
  async getAll() {
    const { changes, said, held } = this.state();
    this.read = changes;
    return { results: [...held, ...said.slice(-1).map((memory) => ({ id: memory, memory }))] };
  }
  async history() { return this.state().said; }
};
`;

/**
 * The output of module compilers for imports of a library, in short. `Own` is the output of one
 * compiler.
 */
const COMPILED = `
const load = () => require('a-library-that-nobody-has');
const define = (to, name, value) => Object.defineProperty(to, name, { enumerable: true, ...value });
const copy = (to, from) => {
  for (const name of Object.getOwnPropertyNames(from))
    if (!Object.hasOwn(to, name) && name !== 'default') define(to, name, { get: () => from[name] });
  return to;
};
// TypeScript, Babel, SWC
const importDefault = (found) => (found && found.__esModule ? found : { default: found });
const importStar = (found) =>
  found && found.__esModule ? found : define(copy({}, found), 'default', { value: found });
// esbuild and what is built on it, now and before
const toESM = (found, isNode) => {
  const to = found != null ? Object.create(Object.getPrototypeOf(found)) : {};
  return copy(isNode || !found || !found.__esModule ? define(to, 'default', { value: found }) : to, found);
};
const toModule = (found) => {
  const to = define(Object.create(Object.getPrototypeOf(found)), '__esModule', { value: true });
  const named = found && found.__esModule && 'default' in found;
  return copy(define(to, 'default', named ? { get: () => found.default } : { value: found }), found);
};
// Rollup
const orDefault = (found) => (found && typeof found === 'object' && 'default' in found ? found : { default: found });
const defaultOf = (found) =>
  found && found.__esModule && Object.hasOwn(found, 'default') ? found.default : found;

const forms = {
  'require': load(),
  'require, default': load().default,
  importDefault: importDefault(load()).default,
  importStar: importStar(load()),
  'importStar, default': importStar(load()).default,
  toESM: toESM(load()),
  'toESM, default': toESM(load()).default,
  'toESM of Node': toESM(load(), 1),
  'toESM of Node, default': toESM(load(), 1).default,
  toModule: toModule(load()),
  'toModule, default': toModule(load()).default,
  orDefault: orDefault(load()).default,
  defaultOf: defaultOf(load()),
};
const told = [];
for (const [form, { Client, Pool }] of Object.entries(forms)) {
  if (typeof Client !== 'function' || typeof Pool !== 'function') throw new Error(form + ': nothing stands there');
  if (forms[form] instanceof Map) throw new Error(form + ': it is everything');
  try { new Client(); } catch ({ message }) { told.push(message); }
}
if (told.length !== Object.keys(forms).length || new Set(told).size !== 1) throw new Error('not all are told: ' + told);
class Own extends forms.toESM.Client {}
// A late import comes through a promise.
const later = () => Promise.all([load(), importStar(load()), toESM(load()), toESM(load(), 1)]);
`;

/** Keeps every line that it is given, and says so. */
const SOUND_SERVER = `
const { appendFileSync } = require('node:fs');
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(process.env.MEMORY_FILE_PATH, line + '\\n');
  const { id } = JSON.parse(line);
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: {} }));
});
`;

/** Has one entity, and refuses changes whose caller has not read it again. */
const GRAPH = `
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const file = process.env.MEMORY_FILE_PATH;
const known = () => (existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : { changes: 0, name: 'manager', observations: [] });
let read;
const serve = (isRefused) => require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, params } = JSON.parse(line);
  if (id === undefined) return;
  const say = (text, isError) => console.log(JSON.stringify({ jsonrpc: '2.0', id, result: { content: [{ type: 'text', text }], isError } }));
  const entity = known();
  const { name, arguments: args } = params;
  if (name === undefined) return say('{}');
  if (name === 'read_graph') {
    read = entity.changes;
    return say(JSON.stringify({ entities: [entity] }));
  }
  if (name !== 'create_entities' && read !== undefined && isRefused(read, entity.changes)) return say('It was changed since.', true);
  entity.observations.push(...(args.entities?.[0].observations ?? args.observations?.[0].contents ?? []));
  const gone = args.deletions?.[0].observations ?? [];
  entity.observations = entity.observations.filter((text) => !gone.includes(text));
  entity.changes += 1;
  if (name !== 'create_entities') read = entity.changes;
  writeFileSync(file, JSON.stringify(entity));
  say('{}');
});
`;

function soundPeers(): void {
  for (const { path, version } of PEERS) {
    write(
      `node_modules/${path}/package.json`,
      JSON.stringify({ version, bin: { server: 'server.js' } }),
    );
    write(`node_modules/${path}/oss.js`, SOUND_MEM0);
    write(`node_modules/${path}/server.js`, SOUND_SERVER);
  }
}

async function verdicts(): Promise<{ readonly table: Table; readonly code: number | null }> {
  const { code, out, err } = await runCommand(
    folder,
    undefined,
    'assize-experiments',
    'memory',
    'verdicts',
    '--peers',
    '.',
    '--runs',
    '2',
    '--json',
  );
  expect(out, err).not.toBe('');
  const { experiments } = JSON.parse(out);
  return { code, table: experiments[0].tables[0] };
}

const rowOf = ({ rows }: Table, system: string) =>
  rows.find(({ keys: [key] }) => key === system)?.cells.map(({ measured }) => measured);

test('a memory that logs losers and asks once excludes all three anomalies', async () => {
  soundPeers();
  const { code, table } = await verdicts();
  expect(code).toBe(0);
  expect(rowOf(table, 'Assize, by source')).toEqual(['X', 'X', 'X']);
  expect(rowOf(table, 'Assize, by key')).toEqual(['X', 'X', 'X']);
  expect(rowOf(table, 'Assize, said again')).toEqual(['A', 'X', 'X']);
  expect(rowOf(table, 'mem0ai 2.4.6')).toEqual(['X', 'X', 'X']);
  expect(rowOf(table, 'mem0ai 3.3.1')).toEqual(['X', 'X', 'X']);
  expect(rowOf(table, '@modelcontextprotocol/server-memory 2026.8.31')).toEqual(['-', '-', 'X']);
  expect(rowOf(table, 'mem0 v3-I')).toEqual(['not run', 'not run', 'not run']);
  const notes = table.notes.join('\n');
  expect(notes).toContain('Of 8 observations that are added together 8 are kept.');
  expect(notes).toContain(
    'where both have read before either writes, Bob 0.7 and Carol 0.5 with Bob believed. One was refused: Error: It was changed since.',
  );
  // That server says of nothing what it has.
  expect(notes).toContain(
    'N2 is not applicable: of Bob 0.9 and Carol 0.5 with Bob believed, as it was said, nothing with nobody believed comes back.',
  );
  expect(readdirSync(folder)).toEqual(['node_modules']);
});

test('a peer that cannot run is named with its reason, the others are run', async () => {
  soundPeers();
  write('node_modules/mem0ai-v2/oss.js', `throw new Error('It does not load.');`);
  write('node_modules/mem0ai-v3/oss.js', `process.exit(3);`);
  const { code, table } = await verdicts();
  expect(code).toBe(0);
  for (const system of ['mem0ai 2.4.6', 'mem0ai 3.3.1'])
    expect(rowOf(table, system)).toEqual(['not run', 'not run', 'not run']);
  expect(rowOf(table, '@modelcontextprotocol/server-memory 2026.8.31')).toEqual(['-', '-', 'X']);
  expect(table.notes).toContain('mem0ai 2.4.6 could not be run: It does not load.');
  expect(table.notes).toContain('mem0ai 3.3.1 could not be run: its process ended with 3.');
});

test('an absent library is stubbed in all import forms of compiled code', async () => {
  soundPeers();
  write('node_modules/mem0ai-v2/oss.js', `${COMPILED}${SOUND_MEM0}`);
  const [v2] = PEERS;
  expect(await runPeer(folder, v2!)).toMatchObject({ found: { n1: 'X', n2: 'X', n3: 'X' } });
  write('node_modules/mem0ai-v2/oss.js', `${COMPILED}new Own();`);
  expect(await runPeer(folder, v2!)).toEqual({
    failed: 'The library is not installed among the peers.',
  });
  const awaiting = `exports.Memory = class { async add() { throw new Error((await later()).map(({ Client }) => typeof Client).join()); } };`;
  write('node_modules/mem0ai-v2/oss.js', `${COMPILED}${awaiting}`);
  expect(await runPeer(folder, v2!)).toEqual({ failed: 'function,function,function,function' });
});

test('a peer resolves no other host and gets no environment of its user', async () => {
  soundPeers();
  const reaching = `fetch('http://memory.example/').catch((error) => Promise.reject(error.cause ?? error))`;
  write(
    'node_modules/mem0ai-v3/oss.js',
    `exports.Memory = class { async add() { await ${reaching}; } };`,
  );
  const [, v3] = PEERS;
  expect(await runPeer(folder, v3!)).toEqual({
    failed: expect.stringContaining('memory.example is not resolved'),
  });
  write(
    'node_modules/mem0ai-v3/oss.js',
    `throw new Error(Object.keys(process.env).sort().join());`,
  );
  expect(await runPeer(folder, v3!)).toEqual({ failed: 'HOME,MEM0_DIR,MEM0_TELEMETRY' });
});

test('a process that cannot start is a reported failure, for peer and writer', async () => {
  soundPeers();
  const { execPath } = process;
  process.execPath = join(folder, 'no-node');
  onTestFinished(() => {
    process.execPath = execPath;
  });
  const [v2] = PEERS;
  expect(await runPeer(folder, v2!)).toEqual({
    failed: expect.stringMatching(/^its process ended with spawn .* ENOENT$/),
  });
  const writer = startMem0Writer();
  await expect(writer.read()).rejects.toThrow(/^Its process ended with spawn .* ENOENT\.$/);
  await expect(writer.read()).rejects.toThrow(/ENOENT/);
  await writer.end();
});

test('N2 is found if stale reads are accepted, not if serial order fails too', async () => {
  soundPeers();
  const [v2, v3, server] = PEERS;
  write(
    'node_modules/mem0ai-v3/oss.js',
    SOUND_MEM0.replace('this.read !== state.changes', 'false'),
  );
  expect(await runPeer(folder, v3!)).toMatchObject({ found: { n1: 'X', n2: 'A', n3: 'X' } });
  // This memory cannot replace the current fact, so no order leaves it right.
  write(
    'node_modules/mem0ai-v2/oss.js',
    SOUND_MEM0.replace('if (held !== undefined)', 'if (held !== undefined && metadata)'),
  );
  const stubborn = await runPeer(folder, v2!);
  expect(stubborn).toMatchObject({ found: { n2: '-' } });
  expect(JSON.stringify(stubborn)).toContain(
    'N2 is not applicable: also one after the other they leave Bob 0.7 and Carol 0.8 with Bob believed.',
  );
  write(`node_modules/${server!.path}/server.js`, `${GRAPH}serve(() => false);`);
  expect(await runPeer(folder, server!)).toMatchObject({ found: { n1: '-', n2: 'A' } });
  write(`node_modules/${server!.path}/server.js`, `${GRAPH}serve((read, now) => read !== now);`);
  const careful = await runPeer(folder, server!);
  expect(careful).toMatchObject({ found: { n1: '-', n2: 'X' } });
  expect(JSON.stringify(careful)).toContain('One was refused: Error: It was changed since.');
});

test('a folder without peers or with another version is misuse; nothing runs', async () => {
  const command = () =>
    runCommand(folder, undefined, 'assize-experiments', 'memory', 'verdicts', '--peers', '.');
  expect(await command()).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('. has no mem0ai 2.4.6. Install'),
  });
  const elsewhere = await runCommand(
    folder,
    undefined,
    'assize-experiments',
    'memory',
    'schema',
    '--peers',
    '.',
  );
  expect(elsewhere).toMatchObject({
    code: 2,
    err: expect.stringContaining('--peers is for the experiment verdicts'),
  });
  soundPeers();
  write('node_modules/mem0ai-v3/package.json', JSON.stringify({ version: '3.3.0' }));
  expect((await command()).err).toContain(
    '. has 3.3.0 and not mem0ai 3.3.1. Install the pinned version',
  );
});

test('the versions are the pinned ones, and the lockfile names no registry', () => {
  const { dependencies } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const pinned = PEERS.map(({ path, package: name, version }) => [
    path,
    path === name ? version : `npm:${name}@${version}`,
  ]);
  expect(dependencies).toMatchObject(Object.fromEntries(pinned));
  const lock = readFileSync(join(installed, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock);
  for (const { path, version } of PEERS)
    expect(packages[`node_modules/${path}`].version).toBe(version);
  expect(lock).not.toContain('"resolved"');
});

test.skipIf(!existsSync(join(installed, 'node_modules')))(
  'the pinned peers admit N2 and N3 (absent without npm ci --prefix peers)',
  async () => {
    const answers = [];
    for (const peer of PEERS) answers.push(await runPeer(installed, peer));
    expect(answers).toMatchObject([
      { found: { n1: 'A', n2: 'A', n3: 'A' } },
      { found: { n1: 'A', n2: 'A', n3: 'A' } },
      { found: { n1: '-', n2: 'A', n3: 'A' } },
    ]);
    // As the guide shows it. Its counts are of one machine.
    const shown = blockOf('labs/experiments/docs/anomalies-systems.md', 'text peers');
    for (const [n, { package: name, version }] of PEERS.entries()) {
      const { n1, n2, n3 } = (answers[n] as { found: PeerFinding }).found;
      const cells = [n1, n2, n3].map((verdict) => `${verdict}( \\[. .\\])?`).join(' +');
      expect(shown).toMatch(new RegExp(`^${name} ${version} +${cells}$`, 'm'));
    }
  },
);
