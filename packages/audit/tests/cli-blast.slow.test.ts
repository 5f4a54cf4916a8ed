/** `assize blast --propose` and `assize blast carry-out`, with `assize approve` between them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { budget } from '@assize/cli/unstable/domains/budget';
import { writId } from 'assize/internal/authority';
import { generateKeys } from 'assize/internal/canon';
import { systemClock } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { operator, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { type Ended, runCommand } from '../../../tests/support/process/command.ts';

const STORE = 'sqlite:./a.db';
const years = { not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' };
const [bad, good] = ['agent:bad', 'agent:good'].map((name) => writFor(name, years)) as [
  never,
  never,
];
let folder: string;

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, STORE, ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-blast-'));
  writeFileSync(join(folder, 'anchor.key'), operator.privateKey);
  writeFileSync(join(folder, 'other.key'), generateKeys(new Uint8Array(32).fill(8)).privateKey);
  writeFileSync(join(folder, 'a.db.anchors.json'), JSON.stringify([operator.publicKey]));
  const store = await openStore(`sqlite:${join(folder, 'a.db')}`);
  const runtime = runtimeOver(store, [budget], { ports: { clock: systemClock } });
  const trajectory = await runtime.create(budget, { trajectoryId: 't', writs: [bad, good] });
  for (const [agent, writ] of [
    ['ada', bad],
    ['ben', good],
  ] as const)
    await trajectory.propose({
      action: 'spend',
      role: { name: 'spender', params: { agent } },
      args: { amount: 5 },
      writ,
    });
  await store.close();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const START = ['blast', '--principal', 'agent:bad'];
const PROPOSE = [...START, '--propose', '--because', 'the key leaked', '--key', 'anchor.key'];

test('a response is proposed, approved and carried out once', async () => {
  const id = writId(bad);
  expect((await assize(...START, '--plan')).out).toMatch(
    new RegExp(`^1 step\\n {2}revoke the writ ${id} in t\\n2 items that no step undoes\\n`),
  );
  const proposed = await json(0, ...PROPOSE);
  expect(proposed).toMatchObject({
    trajectory_id: 'incidents',
    steps: [{ kind: 'revoke', trajectory: 't', writ: id }],
  });
  const early = await assize('blast', 'carry-out', proposed.incident, '--key', 'anchor.key');
  expect(early.code).toBe(2);
  expect(early.err).toContain(
    `The incident ${proposed.incident} in incidents waits for a person. Approve its proposal`,
  );
  const unknown = await assize('blast', 'carry-out', 'none', '--key', 'anchor.key');
  expect([unknown.code, unknown.err]).toEqual([
    2,
    expect.stringContaining('There is no incident none'),
  ]);
  const twice = await assize(...PROPOSE);
  expect(twice.out).toContain(
    `Nothing was proposed: the open incident ${proposed.incident} has the same plan.\n`,
  );
  expect(twice.out).toContain(`assize approve ${proposed.pending.slice(0, 12)} --as human:NAME`);
  const pending = await assize('pending');
  expect(pending.out).toMatch(/ NEEDS_APPROVAL: \/incidents\/\w+: the key leaked \(steps: 1, /);
  expect(pending.out.match(/ proposes open as opener /g)).toHaveLength(1);
  expect((await assize('blast', 'carry-out', '--key', 'anchor.key')).out).toBe(
    'No approved incident is open.\n',
  );
  expect((await assize('approve', proposed.pending, '--as', 'operator')).code).not.toBe(0);
  expect((await assize('approve', proposed.pending, '--as', 'human:ida')).code).toBe(0);
  const done = await json(0, 'blast', 'carry-out', '--key', 'anchor.key');
  expect(done.incidents).toMatchObject([
    {
      id: proposed.incident,
      approved_by: 'human:ida',
      steps: [{ kind: 'revoke', outcome: 'done' }],
      closed_at: expect.any(String),
    },
  ]);
  const again = await assize('blast', 'carry-out', proposed.incident, '--key', 'anchor.key');
  expect(again.out).toContain(`done revoke the writ ${id} in t\n`);
  expect(again.out).toMatch(/^Nothing was done: it was carried out before, by \d{4}-/m);
  expect((await json(0, ...START, '--plan')).steps).toEqual([]);
  expect((await assize(...START, '--plan')).out).toMatch(/^No step is needed\.\n/);
  const none = await assize(...PROPOSE);
  expect([none.code, none.err]).toEqual([
    2,
    expect.stringContaining('no step that is still needed'),
  ]);
  expect((await assize('log', 't')).out).toMatch(/assize\.revoke +committed/);
  expect((await assize('verify')).code).toBe(0);
});

test('entries affected after the plan are named when it is carried out', async () => {
  const { pending } = await json(0, ...PROPOSE);
  const store = await openStore(`sqlite:${join(folder, 'a.db')}`);
  const runtime = runtimeOver(store, [budget], { ports: { clock: systemClock } });
  const role = { name: 'spender', params: { agent: 'ada' } } as const;
  const { entry } = (await (
    await runtime.open('t')
  ).propose({
    ...{ action: 'spend', role, args: { amount: 7 }, writ: bad },
  } as never)) as { entry: { id: string } };
  await store.close();
  expect((await assize('approve', pending, '--as', 'human:ida')).code).toBe(0);
  const { out } = await assize('blast', 'carry-out', '--key', 'anchor.key');
  expect(out).toContain(
    `not in the plan: 1 entry affected since it was made: ${entry.id.slice(0, 12)}\n`,
  );
  expect(out).toContain('Make a new plan for them: assize blast --principal agent:bad --plan\n');
});

test('a proposal names its reason, and the key of an anchor', async () => {
  for (const [args, text] of [
    [[...START, '--propose', '--key', 'anchor.key'], 'Pass --because TEXT'],
    [[...START, '--propose', '--plan', '--because', 'b'], 'not both'],
    [[...START, '--because', 'b'], '--because is for --propose'],
    [
      [...START, '--propose', '--because', 'b', '--key', 'other.key'],
      'is not an anchor of the store',
    ],
  ] as const) {
    const { code, err } = await assize(...args);
    expect(code).toBe(2);
    expect(err).toContain(text);
  }
  expect((await json(0, 'log')).trajectories).toHaveLength(1);
});
