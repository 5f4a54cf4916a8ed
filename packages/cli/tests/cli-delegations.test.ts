/** How the command tells of delegations, over a ledger that has each of their entries. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EntryRow } from 'assize/internal/ledger';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { allEntries, deskOf } from '../../../tests/support/ledger/desk.ts';
import { keysOf } from '../../../tests/support/ledger/rows.ts';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../tests/support/process/command.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-cli-delegations-'));
const url = `sqlite:${join(folder, 'a.db')}`;
const lead = keysOf(11);
const desk = deskOf();
const LONG = `count the apples\u001b[31m, ${'and the pears, '.repeat(30)}`;

let parent: EntryRow[];
let child: EntryRow[];

beforeAll(async () => {
  const store = await openStore(url);
  const writ = writFor(lead.publicKey, { trajectory: 'parent', budget: { usd: 10 } });
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 'parent',
    writs: [writ],
  });
  const delegate = (name: string, task: string) =>
    trajectory.delegations.delegate({
      task,
      writ,
      childTrajectoryId: name,
      subject: 'helper',
      privateKey: lead.privateKey,
    });
  await delegate('done', 'count the pears');
  const initial = { ...desk.initial, data: 'x'.repeat(20_000) };
  const rest = { subject: 'helper', privateKey: lead.privateKey, initial };
  await trajectory.delegations.delegate({ task: LONG, writ, childTrajectoryId: 'open', ...rest });
  const [first] = trajectory.delegations.open();
  await trajectory.delegations.conclude(first?.id as string, {
    finalAnswer: { pears: 'y'.repeat(20_000) },
  });
  parent = await allEntries(store, 'parent');
  child = await allEntries(store, 'done');
  await store.close();
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function assize(...args: string[]): Promise<string> {
  const { code, out, err } = await runCommand(folder, undefined, ...args, '--store', url);
  expect(code, err).toBe(0);
  return out;
}

const json = async (...args: string[]): Promise<any> => JSON.parse(await assize(...args, '--json'));
const idOf = (rows: readonly EntryRow[], seq: number): string => rows[seq]?.id as string;

test('log shows the child, the task and the status of each delegation', async () => {
  const { log } = await json('log', 'parent');
  const [done, open] = [idOf(parent, 1), idOf(parent, 2)];
  expect(log.map(({ ruling }: { ruling: string }) => ruling)).toEqual([
    'begun',
    'delegated',
    'delegated',
    'concluded',
  ]);
  expect(log[1].delegation).toEqual({
    step: 'start',
    child: 'done',
    task: 'count the pears',
    started_by: done,
    concluded_by: idOf(parent, 3),
  });
  expect(log[2].delegation).toMatchObject({
    step: 'start',
    child: 'open',
    task: LONG,
    started_by: open,
    concluded_by: null,
  });
  expect(log[3].delegation).toMatchObject({ step: 'conclusion', child: 'done', started_by: done });

  const [, , first, second, third] = (await assize('log', 'parent')).split('\n');
  expect(first).toMatch(
    new RegExp(
      `delegated .*to done, concluded by ${idOf(parent, 3).slice(0, 12)}: count the pears$`,
    ),
  );
  expect(second).toMatch(/delegated .*to open, open: count the apples/);
  expect(second).not.toContain('\u001b[31m,');
  expect(second?.length).toBeLessThan(300);
  expect(third).toMatch(
    new RegExp(`concluded .*concludes ${done.slice(0, 12)} of done: count the pears$`),
  );
  // Also where the page ends before the conclusion.
  expect(
    (await json('log', 'parent', '--from', '1', '--limit', '1')).log[0].delegation.concluded_by,
  ).toBe(idOf(parent, 3));
});

test('log of a child shows its parent, and its final answer', async () => {
  const { log } = await json('log', 'done');
  expect(log).toMatchObject([
    { ruling: 'begun', detail: 'desk@1, delegated from parent' },
    {
      ruling: 'answered',
      delegation: { step: 'answer', child: 'done', started_by: idOf(parent, 1) },
    },
  ]);
  expect(await assize('log', 'done')).toMatch(
    /answered .*final answer to [0-9a-f]{12}: count the pears/,
  );
  const { trajectories } = await json('log');
  expect(trajectories).toMatchObject([
    { trajectory_id: 'parent', delegated_from: null },
    { trajectory_id: 'done', delegated_from: 'parent' },
    { trajectory_id: 'open', delegated_from: 'parent' },
  ]);
  expect(await assize('log')).toMatch(/open .*delegated from parent/);
});

test('show says where a delegation stands, with the large values when asked', async () => {
  const [start, other, end] = [1, 2, 3].map((seq) => idOf(parent, seq)) as [string, string, string];
  const answer = idOf(child, 1);
  expect(await assize('show', start)).toMatch(
    `Delegates to done; concluded by ${end}.\nTask: count the pears\n`,
  );
  expect(await assize('show', other)).toMatch(/Delegates to open; open\.\nTask: count the apples/);
  expect(await assize('show', end)).toContain(`Concludes the delegation ${start} to done.`);
  expect(await assize('show', answer)).toContain(
    `The final answer of done to the delegation ${start}.`,
  );
  expect(await json('show', other)).toMatchObject({
    delegation: { step: 'start', concluded_by: null },
    values: [{ pointer: '/begins/initial_state' }],
  });
  const whole = await json('show', end, '--blobs');
  expect(whole.values).toMatchObject([
    { pointer: '/final_answer', value: { pears: 'y'.repeat(20_000) } },
  ]);
});
