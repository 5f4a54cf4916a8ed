/** `assize halt` and `assize halt --end` on a ledger with a delegation. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';
import { budget } from '../src/domains/budget/index.ts';

const STORE = 'sqlite:./a.db';
const anchor = generateKeys(new Uint8Array(32).fill(7));
const lead = keysOf(11);
const years = { not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' };
const why = ['--reason', 'the agents pay twice', '--key', 'anchor.key'];
let folder: string;

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-halt-'));
  for (const [name, key] of Object.entries({ anchor, lead }))
    writeFileSync(join(folder, `${name}.key`), key.privateKey);
  writeFileSync(join(folder, 'a.db.anchors.json'), JSON.stringify([anchor.publicKey]));
  const store = await openStore(`sqlite:${join(folder, 'a.db')}`);
  const runtime = runtimeOver(store, [budget], { ports: { clock: systemClock } });
  const parent = writFor(lead.publicKey, years);
  const trajectory = await runtime.create(budget, { trajectoryId: 't', writs: [parent] });
  await runtime.create(budget, { trajectoryId: 'u' });
  await trajectory.delegations.delegate({
    ...{ task: 'count', writ: parent, childTrajectoryId: 'c' },
    ...{ subject: 'helper', privateKey: lead.privateKey },
  });
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test('halt and resume one trajectory, with its children, in text and JSON', async () => {
  expect(await assize('halt', 't', ...why)).toEqual({
    code: 0,
    out: expect.stringMatching(/^halted t by [0-9a-f]{12}, seq 2\n {2}applied in c\n$/),
    err: '',
  });
  expect(await json(0, 'halt', 't', ...why)).toMatchObject({
    trajectories: [
      {
        trajectory_id: 't',
        outcome: 'halted',
        seq: 2,
        propagated: [{ trajectory_id: 'c', applied: true }],
      },
    ],
  });
  expect((await assize('log', 't')).out).toMatch(
    /assize\.halt +committed +halted by operator: the agents pay twice\n$/,
  );
  expect((await assize('log', 'c')).out).toMatch(
    /halted by operator, in t: the agents pay twice\n$/,
  );
  expect((await assize('pending', 't')).out).toMatch(
    /^Halted, no approval counts: t, by operator since \S+: the agents pay twice\nNo decision is pending\.\n$/,
  );
  expect(await json(0, 'pending')).toMatchObject({
    pending: [],
    halted: [
      { trajectory_id: 't', principal: 'operator' },
      { trajectory_id: 'c', principal: 'operator' },
    ],
  });
  expect((await assize('verify', '--deep')).code).toBe(0);
  expect(await json(0, 'halt', '--end', 't', ...why)).toMatchObject({
    trajectories: [{ outcome: 'resumed', seq: 3 }],
  });
  expect(await json(0, 'pending')).toMatchObject({ halted: [] });
  expect((await assize('halt', '--end', 't', ...why)).err).toMatch(
    /t is not halted\. Nothing needs to be resumed\./,
  );
});

test('halt without a name halts all, and --end --all ends all halts', async () => {
  const { trajectories } = await json(0, 'halt', '--key', 'anchor.key');
  expect(trajectories.map((one: any) => `${one.trajectory_id} ${one.outcome}`)).toEqual([
    't halted',
    'u halted',
    'c halted',
  ]);
  const resumed = await json(0, 'halt', '--end', '--all', ...why);
  expect(resumed.trajectories.map(({ outcome }: any) => outcome)).toEqual([
    'resumed',
    'resumed',
    'resumed',
  ]);
  const again = await json(0, 'halt', '--end', '--all', ...why);
  expect(again.trajectories.map(({ outcome }: any) => outcome)).toEqual([
    'skipped',
    'skipped',
    'skipped',
  ]);
  expect((await assize('verify')).code).toBe(0);
});

test('without --key the root key of the store halts and resumes', async () => {
  expect(await assize('halt', 'u', '--reason', 'r')).toMatchObject({
    code: 2,
    err: expect.stringMatching(/no root key/),
  });
  writeFileSync(join(folder, 'a.db.root.key'), anchor.privateKey, { mode: 0o600 });
  expect(await assize('halt', 'u', '--reason', 'r')).toMatchObject({ code: 0, err: '' });
  expect(await assize('halt', '--end', 'u', '--reason', 'r')).toMatchObject({ code: 0, err: '' });
});

test('a writ that gives no right is negative; a wrong call is misuse', async () => {
  const held = { writ: writFor(lead.publicKey, years), chain: [] };
  writeFileSync(join(folder, 'lead.json'), JSON.stringify(held));
  const byLead = ['--reason', 'r', '--key', 'lead.key', '--by', 'lead.json'];
  expect(await json(1, 'halt', 't', ...byLead)).toMatchObject({
    trajectories: [{ outcome: 'rejected' }],
  });
  const office = {
    writ: writFor(lead.publicKey, { ...years, actions: ['assize.halt'], scopes: ['halt:**'] }),
    chain: [],
  };
  writeFileSync(join(folder, 'lead.json'), JSON.stringify(office));
  expect((await assize('halt', 't', ...byLead)).code).toBe(0);
  for (const [args, message] of [
    [['halt', '--end', ...why], /Name one trajectory, or pass --all\./],
    [['halt', 't', '--all', ...why], /Name one trajectory, or pass --all\./],
    [
      ['halt', 't', '--reason', 'r', '--key', 'lead.key'],
      /Pass the private key of an anchor to halt without --by/,
    ],
    [
      ['halt', '--end', 't', '--reason', 'r', '--key', 'anchor.key', '--by', 'lead.json'],
      /The key does not belong to/,
    ],
    [['halt', 'nowhere', ...why], /nowhere/],
  ] as const)
    expect(await assize(...args)).toMatchObject({ code: 2, err: expect.stringMatching(message) });
  expect(readFileSync(join(folder, 'anchor.key'), 'utf8')).toBe(anchor.privateKey);
});
