/**
 * The command of one copy of the package, given a domain or tools that import another copy:
 * refused, with advice.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryRow } from 'assize/internal/ledger';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, endOf } from '../../../tests/support/process/command.ts';
import { copyClone } from '../../../tests/support/process/repository-copy.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
let project: string;

const TILL = `
import { defineDomain, each, escalate, pass } from 'assize';
import { declareTool } from 'assize/effects';
import { z } from 'zod';

export const till = defineDomain({
  name: 'till',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ paid: z.record(z.string(), z.number()) }),
  initial: { paid: {} },
  processes: { paying: { writes: ['/paid'] } },
  roles: { teller: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ to: z.string(), amount: z.number() }),
      apply: (state, { to, amount }) => {
        state.paid[to] = amount;
      },
    },
  },
  invariants: [each('SMALL', '/paid/*', {}, (amount) => (amount < 10 ? pass : escalate('it is a lot')))],
  counselors: { boss: (principal) => principal === 'boss' },
});
export const look = declareTool({ name: 'look', input: z.object({}), class: 'read', execute: () => null });
`;

const BEGIN = `
import { writeFileSync } from 'node:fs';
import { Assize, generateKeys, issueWrit, openStore } from 'assize';
import { till } from './till.ts';
const { publicKey, privateKey } = generateKeys();
writeFileSync('world.db.anchors.json', JSON.stringify([publicKey]));
writeFileSync('root.key', privateKey, { mode: 0o600 });
const writ = issueWrit(
  {
    issuer: publicKey,
    subject: 'ann',
    actions: ['**'],
    scopes: ['**'],
    not_before: '2026-01-01T00:00:00.000000Z',
    expires: '2099-01-01T00:00:00.000000Z',
    max_depth: 0,
    nonce: 'ann',
  },
  privateKey,
);
const store = await openStore('sqlite:./world.db');
const trajectory = await new Assize({ store, domains: [till], anchors: [publicKey] }).create(till, { trajectoryId: 't' });
const ruling = await trajectory.propose({ action: 'pay', role: 'teller', args: { to: 'bob', amount: 10 }, writ });
console.log(ruling.pending);
await store.close();
`;

/** The command of one of the copies, in the project. */
function assize(copy: string, ...args: string[]): Promise<Ended> {
  const { ASSIZE_STORE: _, ...inherited } = process.env;
  const env = { ...inherited, NO_COLOR: '1' };
  const given = [join(copy, 'packages/cli/src/main.ts'), ...args, '--store', 'sqlite:./world.db'];
  return endOf(
    spawn(process.execPath, given, { cwd: project, env, stdio: ['ignore', 'pipe', 'pipe'] }),
  );
}

const DOMAIN = ['--domain', 'till.ts'];
let own: string;
let pending: string;

/** A project that has a copy of its own; not below node_modules, where Node runs no TypeScript. */
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-copies-')));
  own = join(folder, 'copy');
  copyClone(own);
  project = join(folder, 'project');
  mkdirSync(join(project, 'node_modules'), { recursive: true });
  for (const name of ['assize', '@assize'])
    symlinkSync(join(own, 'node_modules', name), join(project, 'node_modules', name));
  symlinkSync(realpathSync(join(root, 'node_modules/zod')), join(project, 'node_modules/zod'));
  for (const [name, text] of [
    ['package.json', '{"type":"module"}'],
    ['till.ts', TILL],
    ['tools.ts', "export { look } from './till.ts';\n"],
    ['begin.ts', BEGIN],
  ] as const)
    writeFileSync(join(project, name), text);
  pending = execFileSync(process.execPath, ['begin.ts'], { cwd: project, encoding: 'utf8' }).trim();
});
afterAll(() => rmSync(folder, { recursive: true }));

async function entries(): Promise<readonly EntryRow[]> {
  const store = await openStore(`sqlite:${join(project, 'world.db')}`, { mode: 'readonly' });
  try {
    return await store.entries('t');
  } finally {
    await store.close();
  }
}

test('every command refuses a domain or tools of another copy, writes nothing', async () => {
  const before = await entries();
  expect(before.map(({ kind }) => kind)).toEqual(['root', 'pending_approval']);
  await Promise.all(
    [
      ['approve', pending, '--as', 'boss', '--override', ...DOMAIN],
      ['verify', '--deep', ...DOMAIN],
      ['erase', 't', '--at', '/paid', '--reason', 'asked', '--key', 'root.key', ...DOMAIN],
      ['effects', 'recover', '--tools', 'tools.ts'],
    ].map(async (command) => {
      const { code, err } = await assize(root, ...command);
      const what = command.includes('--tools') ? 'The tool look' : 'The domain till';
      expect([code, err]).toEqual([
        2,
        expect.stringContaining(`${what} was not created by this copy`),
      ]);
      expect(err).toContain(
        `at file://${root}/packages/assize, but by the one at file://${own}/packages/assize, and mixed copies`,
      );
      expect(err).toContain('npx assize');
    }),
  );
  expect(await entries()).toEqual(before);
});

test('the project’s own command takes it', async () => {
  expect(await assize(own, 'verify', '--deep', ...DOMAIN)).toMatchObject({ code: 0, err: '' });
});
