/**
 * For any fault, and wherever a process ends, the effect log matches the ledger's record of
 * effects.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { afterAll, describe, test } from 'vitest';
import type { Delivery, Reversibility, Sink } from '#effects';
import type { EffectStore, LedgerStore } from '#ledger';
import { type Assize, verifyStore } from '#runtime';
import { openSqlite } from '#stores';
import { cases } from '../support/cases.ts';
import { operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect as quickly } from '../support/quick-expect.ts';
import { type Fault, OutsideSink, Steps, storeOf, toolFor } from '../support/tools/effect-sink.ts';
import { orders } from '../support/tools/orders.ts';

const folder = mkdtempSync(join(tmpdir(), 'assize-told-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Store = LedgerStore & EffectStore;
let files = 0;
const STORES: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => new MemoryStore(),
  sqlite: () => openSqlite({ path: join(folder, `${files++}.db`) }),
};

const TOOLS: readonly (readonly [Reversibility, Delivery])[] = [
  ['reversible', 'externalised'],
  ['with_cost', 'externalised'],
  ['reversible', 'buffered'],
  ['irreversible', 'buffered'],
];

/** The calls of one transaction, its end, and its name. `in`: its trajectory. */
const attempt = fc.record({
  in: fc.constantFrom('t', 'u'),
  name: fc.constantFrom(undefined, 'one', 'other'),
  calls: fc.array(fc.nat({ max: TOOLS.length - 1 }), { minLength: 1, maxLength: 4 }),
  ends: fc.constantFrom('order', 'order', 'count', 'forbidden', 'throw'),
});
const life = fc.record({
  attempts: fc.array(attempt, { minLength: 1, maxLength: 4 }),
  faults: fc.array(
    fc.constantFrom<Fault>('none', 'none', 'none', 'fail', 'fail_for_good', 'lose', 'lose_before'),
    {
      maxLength: 16,
    },
  ),
  crashes: fc.array(fc.integer({ min: 1, max: 40 }), { maxLength: 3 }),
  decisions: fc.array(fc.constantFrom('applied', 'undone', 'retry', 'residue'), {
    minLength: 1,
    maxLength: 4,
  }),
});

async function lived(
  store: Store,
  sort: Sink,
  drawn: typeof life extends fc.Arbitrary<infer T> ? T : never,
) {
  const sink = new OutsideSink(sort);
  const faults = [...drawn.faults];
  const decisions = [...drawn.decisions];
  const writ = writFor('alice');
  const agree = async (): Promise<void> => {
    for (const { fault } of await verifyStore(store)) quickly(fault).toBe(undefined);
  };
  const process = async (
    endAt: number | undefined,
    live: (assize: Assize) => Promise<unknown>,
  ): Promise<void> => {
    const steps = new Steps(endAt);
    const outside = { sink, steps, fault: () => faults.shift() ?? 'none' };
    const tools = TOOLS.map(([reversibility, delivery]) =>
      toolFor(outside, reversibility, delivery),
    );
    const assize = runtimeOver(storeOf(store, steps), [orders], {
      tools,
      effects: { maxAttempts: 2 },
    });
    await Promise.race([Promise.all([live(assize), agree()]), steps.ended]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    await agree();
  };
  await process(undefined, (assize) =>
    Promise.all(['t', 'u'].map((trajectoryId) => assize.create(orders, { trajectoryId }))),
  );
  const [first, ...more] = drawn.crashes;
  await process(first, (assize) =>
    Promise.all(
      drawn.attempts.map(async ({ in: trajectoryId, name, calls, ends }) => {
        const trajectory = await assize.open(trajectoryId);
        const options = {
          writ,
          writes: [`test:${trajectoryId}`],
          retries: 0,
          ...(name !== undefined && { name }),
        };
        await trajectory
          .transaction(options, async (tx) => {
            for (const call of calls)
              await tx
                .call(TOOLS[call]!.join('.'), { what: ends, at: trajectoryId })
                .catch((error) =>
                  quickly(error.code === 'tool_failed' || error.code === 'outcome_unknown').toBe(
                    true,
                  ),
                );
            if (ends === 'throw') throw new Error('it is not to be');
            tx.propose({
              action: ends === 'order' ? 'order' : 'count',
              role: 'counter',
              args: ends,
            });
          })
          .catch(() => undefined);
      }),
    ),
  );
  for (const endAt of more) await process(endAt, (assize) => assize.recoverEffects());
  // People decide, as they come to it.
  for (const as of decisions)
    await process(undefined, async (assize) => {
      const [left] = await assize.recoverEffects();
      if (left === undefined) return;
      const { epoch, n } = left;
      await assize
        .resolveEffect({
          epoch,
          n,
          as: as as never,
          by: 'ops',
          writ: operatorWrit(),
          evidence: 'looked',
          confirm: true,
        })
        .catch((error) => quickly(error.reason).toBe('bad_resolution'));
    });
}

describe.each(Object.keys(STORES))('on %s', (name) => {
  test.each<Sink>(['keyed', 'queryable', 'blind'])('with a %s sink', async (sort) => {
    await fc.assert(
      fc.asyncProperty(life, async (drawn) => {
        const store = await STORES[name]!();
        await lived(store, sort, drawn);
        await store.close();
      }),
      { numRuns: name === 'memory' ? cases(150) : cases(25) },
    );
  });
});
