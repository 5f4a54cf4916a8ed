import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writId } from '#authority';
import type { Sink } from '#effects';
import { readRow } from '#ledger';
import { seededRandom } from '#oracle';
import { listWrits, type Transaction } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect as quickly } from '../support/quick-expect.ts';
import { expectEffectLogMatches } from '../support/tools/check-effect-log.ts';
import {
  type Fault,
  type Outside,
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../support/tools/effect-sink.ts';

// Transactions with a cost of compensation and with branches, through sink faults, crashes of the
// process and of its successors, and operators' decisions. In the end the ledger's spending equals
// the compensations in the sink's own log, times their cost.

const UNDOING = 3;
const GRANTED = 100;
const writ = writFor('alice', { trajectory: 't', budget: { usd: GRANTED } });

/**
 * Branches; one is chosen, or none if `chosen` names none of them. A single one is not a branch.
 */
interface Part {
  readonly branches: readonly number[];
  readonly chosen: number;
}

interface Life {
  readonly parts: readonly Part[];
  readonly ends: 'commit' | 'reject' | 'throw';
  /** How calls go, one after the other; well from then on. */
  readonly faults: readonly Fault[];
  /** Steps after which a process ends, one process after the other. */
  readonly crashes: readonly number[];
}

const part: fc.Arbitrary<Part> = fc.record({
  branches: fc.array(fc.integer({ min: 1, max: 2 }), { minLength: 1, maxLength: 3 }),
  chosen: fc.integer({ min: 0, max: 3 }),
});
const life: fc.Arbitrary<Life> = fc.record({
  parts: fc.array(part, { minLength: 1, maxLength: 2 }),
  ends: fc.constantFrom('commit', 'reject', 'throw'),
  faults: fc.array(
    fc.constantFrom<Fault>(
      'none',
      'none',
      'none',
      'fail',
      'fail_for_good',
      'lose',
      'lose',
      'lose_before',
    ),
    { maxLength: 12 },
  ),
  crashes: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
});

async function body(tx: Transaction, { parts, ends }: Life): Promise<void> {
  let calls = 0;
  const act = async (on: Transaction, times: number): Promise<void> => {
    for (let i = 0; i < times; i++)
      await on.call('with_cost.externalised', { what: `${calls++}` }).catch((error) => {
        if (error.code !== 'tool_failed') throw error;
      });
  };
  for (const { branches, chosen } of parts) {
    if (branches.length === 1) await act(tx, branches[0]!);
    else
      await tx
        .speculate(
          branches.map((times) => (on: Transaction) => act(on, times)),
          () => (chosen < branches.length ? chosen : undefined),
        )
        .catch((error) => {
          if (error.code !== 'no_branch') throw error;
        });
  }
  if (ends === 'throw') throw new Error('as drawn');
  tx.propose({ action: 'count', role: 'counter', args: ends === 'reject' ? 'forbidden' : 'order' });
}

async function lived(sort: Sink, drawn: Life) {
  const [store, sink] = [new MemoryStore(), new OutsideSink(sort)];
  await runtimeOver(store, [tally]).create(tally, { trajectoryId: 't', writs: [writ] });
  const faults = [...drawn.faults];
  const fault = (): Fault => faults.shift() ?? 'none';
  /** One process; false where it did not live to its end. */
  const process = async (
    endAt: number | undefined,
    live: (assize: ReturnType<typeof runtimeOver>) => Promise<unknown>,
  ) => {
    const steps = new Steps(endAt);
    const outside: Outside = { sink, steps, fault, undoCost: { usd: UNDOING } };
    const tools = [toolFor(outside, 'with_cost', 'externalised')];
    const assize = runtimeOver(storeOf(store, steps), [tally], { tools });
    await Promise.race([live(assize), steps.ended]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    return !steps.isDead;
  };
  const [first, ...more] = drawn.crashes;
  await process(first, async (assize) => {
    const trajectory = await assize.open('t');
    await trajectory
      .transaction({ writ, writes: ['test:**'], retries: 0 }, (tx) => body(tx, drawn))
      .catch(() => undefined);
  });
  for (const endAt of more) await process(endAt, (assize) => assize.recoverEffects());
  faults.length = 0;
  // People look at the sink, and have what stands undone where it is not to stand.
  const settled = await process(undefined, async (assize) => {
    for (const { epoch, n, key, phase } of await assize.recoverEffects()) {
      const retried = phase === 'unresolved' ? 'retry' : 'applied';
      const as = sink.has(key) ? retried : 'undone';
      await assize.resolveEffect({
        epoch,
        n,
        as,
        by: 'ops',
        writ: operatorWrit(),
        evidence: 'the books of the sink',
      });
    }
    quickly(await assize.recoverEffects()).toEqual([]);
    // Every reserved amount is spent or refunded: the whole rest can be reserved again.
    const left = GRANTED - UNDOING * undone(sink);
    const all = toolFor(
      { sink: new OutsideSink('keyed'), steps: new Steps(), undoCost: { usd: left } },
      'with_cost',
      'externalised',
    );
    await assize.close();
    const another = runtimeOver(store, [tally], {
      tools: [all],
      ports: { random: seededRandom('another') },
    });
    const trajectory = await another.open('t');
    const { ruling } = await trajectory.transaction({ writ, writes: ['test:**'] }, async (tx) => {
      await tx.call('with_cost.externalised', { what: 'all' });
      tx.propose({ action: 'count', role: 'counter', args: 'all' });
    });
    quickly(ruling.ruling).toBe('committed');
    await another.close();
  });
  quickly(settled).toBe(true);
  return { store, sink };
}

const undone = ({ log }: OutsideSink): number => log.filter(({ did }) => did === 'undo').length;

describe.each<Sink>(['keyed', 'queryable', 'blind'])('with a %s sink', (sort) => {
  test('the spent amount is the sink’s compensations times cost, on any fault', async () => {
    const seen = { undone: 0, discarded: 0, ruled: 0, crashed: 0 };
    await fc.assert(
      fc.asyncProperty(life, async (drawn) => {
        const { store, sink } = await lived(sort, drawn);
        const spent = UNDOING * undone(sink);
        const listed = (await listWrits(store, 't')).find(({ id }) => id === writId(writ));
        quickly(listed?.spent).toEqual(spent === 0 ? {} : { usd: spent });
        await expectEffectLogMatches(store, 't', []);
        const payloads = (await store.entries('t')).map((row) => readRow(row).payload);
        seen.undone += undone(sink);
        seen.crashed += drawn.crashes.length;
        seen.discarded += payloads.filter((each) =>
          JSON.stringify(each).includes('"discarded"'),
        ).length;
        seen.ruled += payloads.filter(
          (each) => each.kind === 'rejection' && each.detail === 'rejected',
        ).length;
      }),
      { numRuns: cases(300) },
    );
    if (hasUsualCases())
      for (const [what, times] of Object.entries(seen))
        expect([what, times > 0]).toEqual([what, true]);
  });
});
