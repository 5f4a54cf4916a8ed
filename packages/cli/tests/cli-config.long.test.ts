/** Every command uses the config of the project. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../../..');
const at = (path: string): string => pathToFileURL(join(root, path)).href;

/** An action with a tool call, a policy that denies an action, and two agents. */
const CONFIG = `
import { call, defineConfig, defineDomain, pass, reject, ruleTable } from '${at('packages/assize/src/public/index.ts')}';
import { declareTool } from '${at('packages/assize/src/public/effects.ts')}';
import { z } from '${at('node_modules/zod/index.js')}';
import { appendFileSync } from 'node:fs';
console.log('a print of the config');
const note = declareTool({
  name: 'desk.note', input: z.object({ text: z.string() }), writes: ['desk:notes'],
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  execute: ({ text }) => appendFileSync(process.env['NOTES'], text + '\\n'),
});
const desk = defineDomain({
  name: 'desk', version: '1', state: z.object({ notes: z.array(z.string()) }), initial: { notes: [] },
  processes: { noting: { writes: ['/notes'] } }, roles: { clerk: { processes: ['noting'] } },
  actions: {
    note: { process: 'noting', args: z.object({ text: z.string() }),
      apply: (state, { text }) => { state.notes.push(text); }, calls: (_state, { text }) => [call(note, { text })] },
    clear: { process: 'noting', args: z.object({}), apply: (state) => { state.notes = []; } },
  },
  invariants: ({ invariant }) => [
    invariant('FEW', ['/notes'], ({ notes }) => (notes.length < 4 ? pass : reject('too many notes'))),
  ],
});
export default defineConfig({
  store: 'sqlite:./desk.db',
  domains: [desk],
  tools: [note],
  policy: ruleTable({ id: 'desk', otherwise: 'allow', rules: [{ id: 'no-clear', actions: ['clear'], effect: 'deny' }] }),
  worlds: { front: { domain: 'desk', initial: { notes: ['first'] }, note: 'the front desk' } },
  principals: {
    'agent:scout': { kinds: ['agent'], grants: [{ actions: ['note', 'desk.note', 'clear'] }] },
    'agent:other': { kinds: ['agent'], grants: [{ trajectories: ['back'], actions: ['**'] }] },
    'manager:grace': { kinds: ['counselor'] },
  },
});
`;

let folder: string;
let notes: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-config-'));
  mkdirSync(join(folder, '.git'));
  notes = join(folder, 'notes.txt');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function assize(
  given: readonly string[],
  { cwd = folder, env = {} }: { cwd?: string; env?: object } = {},
) {
  const {
    ASSIZE_STORE: _store,
    ASSIZE_ROOT_KEY: _key,
    ASSIZE_ROOT_KEY_FILE: _file,
    ...rest
  } = process.env;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [join(root, 'packages/cli/src/main.ts'), ...given],
    {
      cwd,
      env: { ...rest, NO_COLOR: '1', NOTES: notes, ...env },
      encoding: 'utf8',
    },
  );
  return { status, out: stdout, err: stderr };
}

const project = (text = CONFIG, name = 'assize.config.ts'): void =>
  writeFileSync(join(folder, name), text);
const noting = (text: string, ...more: readonly string[]): readonly string[] => [
  ...['propose', 'front', 'note', '--role', 'clerk', '--args', JSON.stringify({ text }), '--json'],
  ...more,
];

test('store, domain, initial state, tools and policy come from the config', () => {
  project();
  const created = assize(['create', 'front', '--json']);
  expect(created).toMatchObject({
    status: 0,
    err: expect.stringContaining('a print of the config'),
  });
  expect(JSON.parse(created.out)).toMatchObject({
    trajectory_id: 'front',
    domain: { name: 'desk' },
  });
  expect(existsSync(join(folder, 'desk.db'))).toBe(true);
  expect(assize(['log']).out).toContain('the front desk');

  const noted = assize(noting('tea', '--as', 'agent:scout', '--key', 'k'));
  expect(JSON.parse(noted.out)).toMatchObject({ ruling: 'committed', effects: 'settled' });
  expect(readFileSync(notes, 'utf8')).toBe('tea\n');
  const again = assize(noting('tea', '--as', 'agent:scout', '--key', 'k'));
  expect(JSON.parse(again.out)).toEqual(JSON.parse(noted.out));
  expect(readFileSync(notes, 'utf8')).toBe('tea\n');
  expect(JSON.parse(assize(['state', 'front', '--json']).out)).toMatchObject({
    state: { notes: ['first', 'tea'] },
  });

  const clear = [
    'propose',
    'front',
    'clear',
    '--role',
    'clerk',
    '--args',
    '{}',
    '--as',
    'agent:scout',
    '--json',
  ];
  expect(JSON.parse(assize(clear).out)).toMatchObject({
    ruling: 'rejected',
    reason: 'policy_denied',
  });
  expect(assize(['verify', '--deep']).status).toBe(0);
  expect(assize(['effects', 'recover']).status).toBe(0);
});

test('a policy may be the path of a rule table beside the config', () => {
  const table = { id: 'desk', otherwise: 'deny', rules: [] };
  writeFileSync(join(folder, 'rules.json'), JSON.stringify(table));
  project(CONFIG.replace(/policy: ruleTable\([^\n]*\),/, "policy: './rules.json',"));
  const below = join(folder, 'a');
  mkdirSync(below);
  expect(assize(['create', 'front'], { cwd: below }).status).toBe(0);
  const refused = assize(noting('tea', '--as', 'agent:scout'), { cwd: below });
  expect(JSON.parse(refused.out)).toMatchObject({ ruling: 'rejected', reason: 'policy_denied' });
  writeFileSync(join(folder, 'rules.json'), '{"id":');
  const damaged = assize(noting('tea', '--as', 'agent:scout'), { cwd: below });
  expect([damaged.status, JSON.parse(damaged.out).error.code]).toEqual([2, 'bad_input']);
});

test('from a folder below, the store is that of the config', () => {
  project();
  const below = join(folder, 'a/b');
  mkdirSync(below, { recursive: true });
  expect(assize(['create', 'front'], { cwd: below }).status).toBe(0);
  expect(existsSync(join(folder, 'desk.db'))).toBe(true);
  const beside = join(folder, 'beside');
  mkdirSync(join(beside, '.git'), { recursive: true });
  expect(assize(['log'], { cwd: beside }).status).toBe(2);
  expect(assize(['log', '--config', '../assize.config.ts'], { cwd: beside }).status).toBe(0);
});

test('--store comes before ASSIZE_STORE, and both before the config', () => {
  project();
  const env = { ASSIZE_STORE: 'sqlite:./env.db' };
  expect(assize(['create', 'front'], { env }).status).toBe(0);
  expect([existsSync(join(folder, 'env.db')), existsSync(join(folder, 'desk.db'))]).toEqual([
    true,
    false,
  ]);
  expect(assize(['create', 'front', '--store', 'sqlite:./line.db'], { env }).status).toBe(0);
  expect(existsSync(join(folder, 'line.db'))).toBe(true);
});

test('an agent acts under its grants, and no other name acts', () => {
  project();
  assize(['create', 'front']);
  for (const name of ['agent:stranger', 'manager:grace']) {
    const refused = assize(noting('tea', '--as', name));
    expect([refused.status, JSON.parse(refused.out).error.code]).toEqual([2, 'not_found']);
  }
  expect(assize(noting('tea', '--as', 'agent:other')).err).toContain(
    'grants agent:other nothing in front',
  );
  expect(existsSync(notes)).toBe(false);
});

test('--as is refused for a server, and without a root key', () => {
  project();
  const server = assize(
    noting('tea', '--as', 'agent:scout', '--store', 'postgres://127.0.0.1:1/none'),
  );
  expect(server).toMatchObject({
    status: 2,
    err: expect.stringContaining('--as is for local stores'),
  });
  for (const decision of [['approve'], ['reject', '--reason', 'no']]) {
    const [command = '', ...more] = decision;
    const decided = assize([
      command,
      'a'.repeat(64),
      '--as',
      'boss',
      ...more,
      '--store',
      'postgres://127.0.0.1:1/none',
    ]);
    expect(decided).toMatchObject({
      status: 2,
      err: expect.stringContaining('decide with assize api'),
    });
  }
  const early = assize(noting('tea', '--as', 'agent:scout'));
  expect(early).toMatchObject({ status: 2, err: expect.stringContaining('does not exist') });
  assize(['create', 'front']);
  rmSync(join(folder, 'desk.db.root.key'));
  const keyless = assize(noting('tea', '--as', 'agent:scout'));
  expect(keyless).toMatchObject({ status: 2, err: expect.stringContaining('no root key') });
  const both = assize(noting('tea', '--as', 'agent:scout', '--writ', 'w.json'));
  expect(both).toMatchObject({ status: 2, err: expect.stringContaining("'--writ <file>'") });
});

test('a root key that others may read is used by no command', () => {
  project();
  assize(['create', 'front']);
  chmodSync(join(folder, 'desk.db.root.key'), 0o644);
  const refused = assize(noting('tea', '--as', 'agent:scout'));
  expect([refused.status, JSON.parse(refused.out).error.code]).toEqual([2, 'bad_key']);
  // It would check the seals.
  expect(assize(['log'])).toMatchObject({ status: 2, err: expect.stringContaining('root.key') });
});

test('the root key of the environment signs, and is an anchor', () => {
  project();
  const env = { ASSIZE_ROOT_KEY: 'ab'.repeat(32) };
  expect(assize(['create', 'front'], { env }).status).toBe(0);
  expect(existsSync(join(folder, 'desk.db.root.key'))).toBe(false);
  expect(JSON.parse(assize(noting('tea', '--as', 'agent:scout'), { env }).out)).toMatchObject({
    ruling: 'committed',
  });
});

test.each([
  ['bad_config', 'export default { stor: 1 };', 'the nearest is store'],
  ['bad_config', 'throw new Error("no luck")', 'no luck'],
  ['bad_config', 'export const x = 1', 'no default export'],
])('%s exits with 2 and a document: %s', (code, text, says) => {
  project(text, 'assize.config.mjs');
  const { status, out } = assize(['log', '--json']);
  expect([status, JSON.parse(out).error]).toEqual([
    2,
    { code, message: expect.stringContaining(says) },
  ]);
});

test('a config that never settles does not hang the command', () => {
  project('await new Promise(() => undefined);', 'assize.config.mjs');
  expect(assize(['log'])).toMatchObject({
    status: 2,
    err: expect.stringContaining('never settles'),
  });
});

test('commands without a store read no config', () => {
  project('throw new Error("read")', 'assize.config.mjs');
  expect(assize(['--version']).status).toBe(0);
  expect(assize(['log', '--help']).status).toBe(0);
});

test('without a config, create needs a domain, and makes the key of seals', () => {
  expect(assize(['create', 'x'])).toMatchObject({
    status: 2,
    err: expect.stringContaining('Pass --domain'),
  });
  expect(existsSync(join(folder, 'assize.db'))).toBe(false);
  expect(assize(['create', 'x', '--domain', 'budget']).status).toBe(0);
  expect(existsSync(join(folder, 'assize.db.root.key'))).toBe(true);
});
