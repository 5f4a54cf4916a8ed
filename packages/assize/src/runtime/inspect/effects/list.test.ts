import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import type { EffectsQuery, EffectTransaction } from '#runtime';
import {
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';

const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

async function stage() {
  const store = new MemoryStore();
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: () => 'lose_before' as const,
  };
  const held = toolFor(outside, 'irreversible', 'buffered');
  const worker = runtimeOver(store, [tally], { tools: [held] });
  for (const trajectoryId of ['one', 'two']) {
    const trajectory = await worker.create(tally, { trajectoryId });
    await trajectory.transaction(
      { writ: writFor('alice'), writes: [`test:${trajectoryId}`], name: `order-${trajectoryId}` },
      async (tx) => {
        await tx.call(held.name, { what: 'a', at: trajectoryId });
        tx.propose(COUNT);
      },
    );
  }
  return { store, worker, reader: runtimeOver(store, [tally]) };
}

test('open transactions are listed without tools, under another lease', async () => {
  const { reader, store } = await stage();
  const listed = await reader.effects();
  expect(listed.map(({ epoch }) => epoch)).toEqual([1, 2]);
  const committed = (await store.entries('one')).find(({ kind }) => kind === 'commit');
  expect(listed[0]).toMatchObject({
    epoch: 1,
    trajectoryId: 'one',
    name: 'order-one',
    principal: 'alice',
    writId: expect.stringMatching(/^[0-9a-f]{64}$/),
    phase: 'committed',
    entry: committed?.id,
    claims: [{ access: 'write', scope: { text: 'test:one' } }],
    effects: [
      {
        n: 0,
        tool: 'irreversible.buffered',
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
        key: expect.stringMatching(/^[0-9a-f]{64}$/),
        phase: 'in_doubt',
        failures: 0,
      },
    ],
  });
  expect((await reader.effects({ trajectoryId: 'two' })).map(({ epoch }) => epoch)).toEqual([2]);
  expect(await reader.effects({ trajectoryId: 'three' })).toEqual([]);
});

test('an ended transaction is listed if its epoch is requested', async () => {
  const { reader, worker } = await stage();
  await worker.resolveEffect({
    epoch: 1,
    n: 0,
    as: 'undone',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it is not there',
  });
  expect((await reader.effects()).map(({ epoch }) => epoch)).toEqual([2]);
  const [ended] = await reader.effects({ epoch: 1 });
  expect(ended).toMatchObject({
    phase: 'settled',
    effects: [{ phase: 'undone', resolved: { as: 'undone', by: 'ops' } }],
  });
  expect(await reader.effects({ epoch: 1, trajectoryId: 'two' })).toEqual([]);
  expect(await reader.effects({ epoch: 99 })).toEqual([]);
});

test('all are listed from the youngest on, in pages, where that is asked for', async () => {
  const { reader, worker } = await stage();
  await worker.resolveEffect({
    epoch: 1,
    n: 0,
    as: 'undone',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'it is not there',
  });
  const epochs = async (query: EffectsQuery) =>
    (await reader.effects(query)).map(({ epoch }) => epoch);
  expect(await epochs({ all: true })).toEqual([2, 1]);
  expect(await epochs({ all: false })).toEqual([2]);
  expect(await epochs({ all: true, limit: 1 })).toEqual([2]);
  expect(await epochs({ all: true, limit: 1, before: 2 })).toEqual([1]);
  expect(await epochs({ all: true, before: 1 })).toEqual([]);
  expect(await epochs({ all: true, limit: 1, trajectoryId: 'one' })).toEqual([1]);
  expect((await reader.effects({ all: true, before: 2 }))[0]).toEqual(
    (await reader.effects({ epoch: 1 }))[0],
  );
  for (const query of [{ limit: 1 }, { before: 2 }, { all: true, epoch: 1 }])
    await expect(reader.effects(query)).rejects.toMatchObject({
      code: 'bad_argument',
      message: expect.stringContaining('are for all transactions; leave them out with an epoch.'),
      name: 'RuntimeError',
    });
});

test('why something is undone is said', async () => {
  const store = new MemoryStore();
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: () => 'lose' as const,
  };
  const worker = runtimeOver(store, [tally], {
    tools: [toolFor(outside, 'reversible', 'externalised')],
  });
  const trajectory = await worker.create(tally, { trajectoryId: 't' });
  const made = trajectory.transaction({ writ: writFor('alice'), writes: ['test:**'] }, (tx) =>
    tx.call('reversible.externalised', { what: 'a' }),
  );
  await expect(made).rejects.toMatchObject({ code: 'outcome_unknown' });
  const [listed] = await worker.effects();
  expect(listed).toMatchObject({ phase: 'aborting', cause: 'outcome_unknown' });
  expect(listed).not.toHaveProperty('entry');
});

test('a store without an effect log is refused, and so is an invalid query', async () => {
  const { leaseEffects: _, ...rest } = Object.fromEntries(
    ['leaseEffects', 'head', 'commit'].map((name) => [name, () => undefined]),
  );
  await expect(runtimeOver(rest as never, [tally]).effects()).rejects.toMatchObject({
    code: 'bad_argument',
    message: expect.stringContaining('effect'),
  });
  const { reader } = await stage();
  for (const query of [
    null,
    { epoch: 1.5 },
    { epoch: 0 },
    { epoch: '1' },
    { trajectoryId: 1 },
    { all: 'yes' },
    { all: true, limit: 0 },
    { all: true, before: 1.5 },
  ])
    await expect(reader.effects(query as never)).rejects.toMatchObject({ code: 'bad_argument' });
});

test('a call is listed with its branch, a call outside branches without one', async () => {
  const store = new MemoryStore();
  const act = toolFor(
    { sink: new OutsideSink('keyed'), steps: new Steps() },
    'reversible',
    'externalised',
  );
  const trajectory = await runtimeOver(store, [tally], { tools: [act] }).create(tally);
  await trajectory.transaction({ writ: writFor('alice'), writes: ['test:**'] }, async (tx) => {
    await tx.speculate(
      ['a', 'b'].map((at) => (branch) => branch.call(act.name, { what: at, at })),
      () => 1,
    );
    await tx.call(act.name, { what: 'c', at: 'c' });
    tx.propose(COUNT);
  });
  const [{ effects }] = (await runtimeOver(store, [tally]).effects({ epoch: 1 })) as [
    EffectTransaction,
  ];
  expect(effects.map(({ branch, phase }) => [branch, phase])).toEqual([
    ['0.0', 'undone'],
    ['0.1', expect.stringMatching(/executed|applied/)],
    [undefined, expect.stringMatching(/executed|applied/)],
  ]);
});
