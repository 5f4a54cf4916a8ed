import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/internal/memory';
import type { Json } from 'assize/internal/base';
import { addMicros } from 'assize/internal/canon';
import { BELIEVE_ACTION } from 'assize/internal/kernel';
import { integrateLog, OPEN_END, OPEN_START, readRow } from 'assize/internal/ledger';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import type { Assize, Judge, Memory } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { clinic } from '../../../../tests/support/clinic/clinic.ts';
import {
  HandClock,
  operator,
  runtimeOver,
  START,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { type Agent, replayRun, runAgents } from './index.ts';

const MINUTE = 60_000_000;
const writ = writFor('scribe', {
  actions: ['assize.believe'],
  scopes: ['memory:ward:**', 'role:nurse'],
});
const others = writFor('nurse');

const said = (predicate: string, object: string, source?: string) => ({
  ...{
    verb: 'assert' as const,
    space: 'ward',
    subject: 'p7',
    predicate,
    object,
    valid: { from: START },
  },
  ...(source !== undefined && { source }),
});

/**
 * An agent's assertions, turn by turn. `meanwhile` runs while it decides, and does nothing in a
 * replay.
 */
function scribe(
  turns: readonly object[][],
  meanwhile: (turn: number) => Promise<void> = async () => undefined,
): Agent {
  let turn = 0;
  return {
    name: 'scribe',
    role: { name: 'nurse', params: {} },
    writ,
    decide: async () => {
      const sayings = turns[turn];
      await meanwhile(turn++);
      return sayings === undefined
        ? 'done'
        : { action: BELIEVE_ACTION, args: { sayings } as unknown as Json };
    },
  };
}

const TURNS = [
  [said('drug', 'aspirin', 'letter 1')],
  // Other writers contradict the agent in between, and the agent contradicts them.
  [said('drug', 'ibuprofen'), said('weight', '70 kg'), said('allergy', 'nuts')],
  // An assertion that was made before, next to a changed one.
  [said('drug', 'aspirin', 'letter 1'), said('allergy', 'dust')],
  [{ ...said('drug', 'salt'), verb: 'change', from: addMicros(START, MINUTE), valid: undefined }],
  // A human must choose between this assertion and those of other writers.
  [said('diagnosis', 'gout')],
  // A judge chooses.
  [said('triage', 'green')],
  [{ verb: 'retract', space: 'ward', subject: 'p7', predicate: 'weight', valid: { from: START } }],
].map((sayings) => sayings.map((saying) => JSON.parse(JSON.stringify(saying)) as object));

async function recorded(where: 'shared' | 'branch') {
  const store = new MemoryStore();
  const clock = new HandClock();
  const oracle = createOracle({ store, clock, mode: 'record' });
  const choose: Judge['choose'] = ({ members }) =>
    members.find(({ object }) => object === 'green')!.claim;
  const options = { ports: { clock }, oracle: store, memory: { judge: { oracle, choose } } };
  const assize = runtimeOver(store, [clinic], options);
  const beside = runtimeOver(store, [clinic], { ...options, ports: { clock: new HandClock() } });
  await assize.create(clinic, { trajectoryId: 't', writs: [others] });
  const source = await assize.open('t', clinic);
  if (where === 'branch')
    await source
      .memory({ space: 'ward', writ: others })
      .assert({ ...said('drug', 'tea'), source: 'before' });
  clock.forward(1_000);
  const trajectory =
    where === 'shared'
      ? await assize.open('t', clinic)
      : await assize.branch('t', source.head, { trajectoryId: 'b', note: 'try', writs: [others] });
  const other = await beside.create(clinic, { trajectoryId: 's', writs: [others] });
  const spoken: Memory[] = [
    other.memory({ space: 'ward', writ: others }),
    trajectory.memory({ space: 'ward', writ: others }),
  ];
  const names = { subject: 'p7', predicate: 'diagnosis' };
  const meanwhile = async (turn: number): Promise<void> => {
    clock.forward(1_000);
    const memory = spoken[turn % 2]!;
    if (turn < 4) await memory.assert(said('drug', `of others ${turn}`));
    if (turn === 3) for (const each of spoken) await each.assert(said('diagnosis', 'flu', 'round'));
    if (turn === 4) await memory.assert(said('triage', 'red'));
    if (turn === 4) await spoken[1]!.assert(said('triage', 'red'));
    // Later in the log, independently of the writer's clock. The correction changes facts that the
    // question concerned.
    if (turn === 6)
      await spoken[0]!.correct({ ...names, object: 'cold', valid: { from: START, to: OPEN_END } });
    if (turn === 6) await integrateLog(store);
    clock.forward(1_000);
  };
  const run = { oracle, clock, random: seededRandom('run') };
  const report = await runAgents(trajectory, [scribe(TURNS, meanwhile)], run);
  return { store, trajectory, report, assize };
}

const replayed = (
  store: MemoryStore,
  trajectoryId: string,
  from: MemoryStore = store,
  turns = TURNS,
) => {
  const oracle = createOracle({ store: from, clock: new HandClock(), mode: 'replay' });
  const choose = () => {
    throw new Error('asked');
  };
  const options = { anchors: [operator.publicKey], memory: { judge: { oracle, choose } } };
  return replayRun({ store, oracleStore: from, trajectoryId }, clinic, [scribe(turns)], options);
};

test.each(['shared', 'branch'] as const)(
  'a run of agents with memory replays next to concurrent writers: %s',
  async (where) => {
    const { store, trajectory, report } = await recorded(where);
    const kinds = (await store.entries(trajectory.id)).map(({ kind }) => kind);
    expect(kinds).toContain('pending_approval');
    expect(report.head).toBe(trajectory.head);
    const before = await store.facts({ space: 'ward', kind: 'all' });
    const replay = await replayed(store, trajectory.id);
    expect(replay.firstDifference).toBeUndefined();
    expect(replay).toMatchObject({ same: true, headId: trajectory.head });
    expect(replay.turns).toBeGreaterThanOrEqual(TURNS.length);
    // Nothing of the batch was written.
    expect(await store.facts({ space: 'ward', kind: 'all' })).toEqual(before);
    const changes = (await store.entries(trajectory.id)).flatMap((row) => {
      const payload = readRow(row).payload;
      return payload.kind === 'commit' ? payload.delta.beliefs : [];
    });
    expect(changes.length).toBeGreaterThan(8);
    expect(changes.some(({ insert }) => insert.some(({ row_kind }) => row_kind === 'audit'))).toBe(
      true,
    );
  },
);

test('a branch run replays although its source changed after an agent’s read', async () => {
  const store = new MemoryStore();
  const clock = new HandClock();
  const oracle = createOracle({ store, clock, mode: 'record' });
  const [assize, beside] = [0, 1].map(() =>
    runtimeOver(store, [clinic], { ports: { clock }, oracle: store }),
  ) as [Assize, Assize];
  const source = await assize.create(clinic, { trajectoryId: 't', writs: [others] });
  await source.memory({ space: 'ward', writ: others }).assert(said('drug', 'tea'));
  clock.forward(1_000);
  await source.memory({ space: 'ward', writ: others }).assert(said('weight', '70 kg'));
  const branch = await assize.branch('t', source.head, {
    trajectoryId: 'b',
    note: 'try',
    writs: [others],
  });
  const elsewhere = (await beside.open('t', clinic)).memory({ space: 'ward', writ: others });
  const past = { from: OPEN_START, to: addMicros(START, -MINUTE) };
  const turns = [
    [{ verb: 'retract', space: 'ward', subject: 'p7', predicate: 'drug', valid: past }],
    [said('drug', 'none')],
  ];
  const meanwhile = async (turn: number): Promise<void> => {
    clock.forward(1_000);
    if (turn === 1) await elsewhere.assert(said('drug', 'ibuprofen'));
  };
  const run = { oracle, clock, random: seededRandom('run') };
  const { head } = await runAgents(branch, [scribe(turns, meanwhile)], run);
  const replay = await replayed(store, 'b', store, turns);
  expect(replay.firstDifference).toBeUndefined();
  expect(replay).toMatchObject({ same: true, headId: head });
});

test('a changed statement of an agent is found at its turn', async () => {
  const { store } = await recorded('shared');
  const turns = TURNS.with(2, [said('allergy', 'mites')]);
  expect((await replayed(store, 't', store, turns)).firstDifference).toMatchObject({
    kind: 'decision',
    turn: 2,
  });
});

test('a store made from an export has another claim key, and no entry replays', async () => {
  const { store } = await recorded('shared');
  await integrateLog(store);
  const copy = new MemoryStore();
  async function* lines(): AsyncGenerator<string> {
    for await (const line of exportLines(store)) yield line.trimEnd();
  }
  await importLines(copy, lines());
  const difference = (await replayed(copy, 't', store)).firstDifference;
  expect(difference).toMatchObject({ kind: 'entry', turn: 0 });
  expect(difference?.cause).toMatchObject({
    code: 'wrong_state',
    message: expect.stringContaining('The run asserts facts, but the'),
  });
});
