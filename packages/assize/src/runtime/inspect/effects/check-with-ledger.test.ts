import { MemoryStore } from '@assize/testing/memory';
import { beforeAll, expect, test } from 'vitest';
import { checkRow, type EffectPage } from '#ledger';
import { allEntries } from '../../../../../../tests/support/ledger/desk.ts';
import { runtimeOver, writFor } from '../../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  tally,
  toolFor,
} from '../../../../../../tests/support/tools/effect-sink.ts';
import { EffectLogCheck } from './check-with-ledger.ts';
import { LedgerEffects } from './compare-with-ledger.ts';

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const store = new MemoryStore();
let epochs: ReadonlyMap<string, number>;

/** Trajectories with one, two, three, one... in-doubt effects, each in a commit. */
beforeAll(async () => {
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: () => 'lose' as const,
  };
  const assize = runtimeOver(store, [tally], {
    tools: [toolFor(outside, 'irreversible', 'buffered')],
    effects: { maxAttempts: 1 },
  });
  for (const [i, trajectoryId] of NAMES.entries()) {
    const trajectory = await assize.create(tally, { trajectoryId });
    await trajectory.transaction(
      { writ: writFor('alice'), writes: [`test:${trajectoryId}`], retries: 0 },
      async (tx) => {
        for (let n = 0; n <= i % 3; n++)
          await tx.call('irreversible.buffered', { what: `${n}`, at: trajectoryId });
        tx.propose({ action: 'count', role: 'counter', args: trajectoryId });
      },
    );
  }
  await assize.close();
  epochs = new Map(
    (await store.listEffects({ limit: 100 })).map((each) => [each.trajectory_id, each.epoch]),
  );
});

async function toldOf(trajectoryId: string): Promise<LedgerEffects> {
  const told = new LedgerEffects();
  for (const row of await allEntries(store, trajectoryId)) told.addEntry(checkRow(row));
  return told;
}

/**
 * The store, with a log that lacks some transactions, and the number of reads of the log from its
 * start.
 */
function lacking(lost: ReadonlySet<number>) {
  const reads = { count: 0 };
  const listEffects = async (page: EffectPage) => {
    if (page.before === undefined && page.trajectoryId === undefined) reads.count += 1;
    return (await store.listEffects(page)).filter(({ epoch }) => !lost.has(epoch));
  };
  const get = (_: MemoryStore, name: keyof MemoryStore): unknown => {
    const member = name === 'listEffects' ? listEffects : store[name];
    return typeof member === 'function' ? member.bind(store as never) : member;
  };
  return { reads, store: new Proxy(store, { get: get as never }) };
}

test.each([1, 4, 1_000])(
  'a limit of %i effects in memory beside one trajectory alters no finding',
  async (max) => {
    const { reads, store: there } = lacking(new Set([epochs.get('b')!, epochs.get('g')!]));
    const check = new EffectLogCheck(there, new Set(NAMES), max);
    let effects = 0;
    for (const name of NAMES) {
      const told = await toldOf(name);
      effects += told.size;
      await check.add(name, told);
      expect(check.effects).toBeLessThan(max);
    }
    // Each effect is in a commit, and unresolved.
    expect(effects).toBe(2 * (1 + 2 + 3 + 1 + 2 + 3 + 1));
    const faults = await check.end();
    expect([...faults.keys()].sort()).toEqual(['b', 'g']);
    expect(reads.count).toBeLessThanOrEqual(Math.ceil(effects / max) + 1);
  },
);

test('a trajectory created in the meantime has no finding, nor an unlisted one', async () => {
  const { store: there } = lacking(new Set());
  const known = NAMES.slice(1);
  expect((await new EffectLogCheck(there, new Set(known)).end()).size).toBe(0);
  const gone = new Proxy(there, {
    get: (target, name) => (name === 'head' ? async () => undefined : Reflect.get(target, name)),
  });
  expect([...(await new EffectLogCheck(gone, new Set(known)).end()).keys()]).toEqual(['a']);
  expect((await new EffectLogCheck(gone, undefined).end()).size).toBe(0);
});
