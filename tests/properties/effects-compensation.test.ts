import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CallContext, DidNothing, declareTool, readTransaction, type Sink } from '#effects';
import type { EffectTransaction } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { operatorWrit, runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect as quickly } from '../support/quick-expect.ts';
import { orders } from '../support/tools/orders.ts';

// Transactions that abort after executed effects, or fail permanently after their commit. Sinks
// cause faults during the compensation, and take a fee for it. The unresolved effects in the effect
// log must match the sink.

/**
 * The cause of a compensation: the body throws, or another effect fails permanently after the
 * commit.
 */
type Ends = 'aborted' | 'failed';

type Trouble = 'refuse' | 'refuse_for_good' | 'lose' | 'lose_before';

interface Deed {
  readonly sort: 'reversible' | 'with_cost';
  /** How tries to undo it go, one after the other; well from then on. */
  readonly undoes: readonly Trouble[];
}

/** A bank, with its own records: the charges, and the fees for compensating them. */
class Bank {
  readonly sort: Sink;
  readonly stands = new Map<string, string>();
  readonly fees = new Map<string, number>();
  readonly #trouble: Map<string, Trouble[]>;

  constructor(sort: Sink, deeds: readonly Deed[]) {
    this.sort = sort;
    this.#trouble = new Map(deeds.map(({ undoes }, i) => [`${i}`, [...undoes]]));
  }

  tool(reversibility: Deed['sort']) {
    return declareTool({
      name: `bank.${reversibility}`,
      input: z.strictObject({ what: z.string() }),
      class: { reversibility, delivery: 'externalised', sink: this.sort },
      writes: ['bank:{what}'],
      execute: ({ what }, { key }) => {
        this.stands.set(key, what);
      },
      compensate: ({ what }, _, { key }: CallContext) => {
        const trouble = this.#trouble.get(what)!.shift();
        if (trouble === 'refuse' || trouble === 'refuse_for_good')
          throw new DidNothing('not now', { final: trouble === 'refuse_for_good' });
        if (trouble === 'lose_before') throw new Error('the line was dead');
        if (this.stands.delete(key) && reversibility === 'with_cost')
          this.fees.set(key, 1 + Number(what));
        if (trouble === 'lose') throw new Error('the line went dead');
        const fee = this.fees.get(key);
        return fee === undefined ? { undone: 'all' } : { undone: 'partly', residue: { fee } };
      },
      ...(this.sort === 'queryable'
        ? {
            reconcile: (_: unknown, { key }: CallContext) =>
              this.stands.has(key)
                ? { happened: true as const, result: null }
                : { happened: false as const },
          }
        : {}),
    });
  }
}

/** A tool that fails after the commit. */
const refusing = declareTool({
  name: 'bank.refuse',
  input: z.strictObject({}),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank:refused'],
  execute: () => {
    throw new DidNothing('never', { final: true });
  },
  uncompensated: 'it is never done',
});

const deed: fc.Arbitrary<Deed> = fc.record({
  sort: fc.constantFrom('reversible', 'with_cost'),
  undoes: fc.array(
    fc.constantFrom<Trouble>('refuse', 'refuse', 'refuse_for_good', 'lose', 'lose_before'),
    {
      maxLength: 4,
    },
  ),
});

/** Executes effects that are then reverted. Returns the effect log's record of them. */
async function undone(sort: Sink, deeds: readonly Deed[], ends: Ends) {
  const bank = new Bank(sort, deeds);
  const store = new MemoryStore();
  const tools = [bank.tool('reversible'), bank.tool('with_cost'), refusing];
  const assize = runtimeOver(store, [orders], { tools });
  const trajectory = await assize.create(orders, { trajectoryId: 't' });
  await trajectory
    .transaction({ writ: writFor('alice'), writes: ['bank:*'], retries: 0 }, async (tx) => {
      for (const [i, { sort: how }] of deeds.entries())
        await tx.call(`bank.${how}`, { what: `${i}` });
      if (ends === 'aborted') throw new Error('as drawn');
      await tx.call('bank.refuse', {});
      tx.propose({ action: 'order', role: 'counter', args: 'it' });
    })
    .catch((error: Error) => quickly(error.message).toBe('as drawn'));
  const left = await assize.recoverEffects();
  // For later readers: after close, the last update is written.
  await assize.close();
  const [logged] = await assize.effects({ epoch: 1 });
  const { done } = (await runtimeOver(store, [orders]).open('t')).state() as {
    done: Record<string, number>;
  };
  return { bank, store, left, logged: logged!, tools, done };
}

/** The residues of compensations, by key, from the log. */
async function residues(
  store: MemoryStore,
  { effects }: EffectTransaction,
): Promise<Map<string, unknown>> {
  const found = new Map<string, unknown>();
  for (const { key, residue } of effects) {
    if (residue === undefined) continue;
    found.set(key, JSON.parse((await store.blob(residue.$blob))!).value);
  }
  return found;
}

const passes = (undoes: readonly Trouble[]): boolean =>
  undoes.length < 3 && !undoes.includes('refuse_for_good') && new Set(undoes).size <= 1;

const CASES = (['keyed', 'queryable', 'blind'] as const).flatMap((sort) =>
  (['aborted', 'failed'] as const).map((ends) => ({ sort, ends })),
);

describe.each<{ sort: Sink; ends: Ends }>(CASES)(
  'with a $sort sink, where it has $ends',
  ({ sort, ends }) => {
    test('a pass ends clean, a failure is listed, and the list matches the sink', async () => {
      const seen = { clean: 0, unresolved: 0, in_doubt: 0, fees: 0 };
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 5 }), async (deeds) => {
          const { bank, store, left, logged, done } = await undone(sort, deeds, ends);
          const listed = new Map(left.map(({ key, phase }) => [key, phase]));
          const known = await residues(store, logged);
          const [ended, waiting] =
            ends === 'aborted' ? ['aborted', 'aborting'] : ['settled', 'failing'];
          quickly(logged.phase).toBe(left.length === 0 ? ended : waiting);
          // It is answered for when all is undone, and not before.
          if (ends === 'failed')
            quickly(done).toEqual(left.length === 0 ? { it: 1, 'no it': 1 } : { it: 1 });
          quickly(logged.effects.slice(deeds.length).map(({ phase }) => phase)).toEqual(
            ends === 'failed' ? ['dropped'] : [],
          );
          for (const [i, { key, phase, residue }] of logged.effects
            .slice(0, deeds.length)
            .entries()) {
            const { undoes } = deeds[i]!;
            const isBlindDoubt = sort === 'blind' && undoes.some((each) => each.startsWith('lose'));
            if (passes(undoes) && !isBlindDoubt) quickly([i, phase]).toEqual([i, 'undone']);
            // Every effect that stands is listed, and a permanently refused one stands.
            if (phase === 'undone') quickly(bank.stands.has(key)).toBe(false);
            else quickly(listed.get(key)).toBe(phase);
            if (phase === 'unresolved') quickly(bank.stands.has(key)).toBe(true);
            // The recorded cost is the bank's fee, or is reported as unknown after a lost answer.
            if (phase !== 'undone') continue;
            const fee = bank.fees.get(key);
            const said = known.get(key) as { fee?: number; unknown?: string } | undefined;
            if (said?.unknown === undefined) quickly([i, said?.fee]).toEqual([i, fee]);
            else
              quickly([sort, fee !== undefined, undoes.includes('lose')]).toEqual([
                'queryable',
                true,
                true,
              ]);
            if (residue !== undefined) seen.fees++;
          }
          const phases = [...listed.values()];
          seen.clean += phases.length === 0 ? 1 : 0;
          seen.unresolved += phases.filter((phase) => phase === 'unresolved').length;
          seen.in_doubt += phases.filter((phase) => phase === 'in_doubt').length;
        }),
        { numRuns: cases(300) },
      );
      // A sink that always answers when it is asked leaves no doubt.
      const isNever = (what: string): boolean => what === 'in_doubt' && sort === 'queryable';
      if (hasUsualCases())
        for (const [what, times] of Object.entries(seen))
          expect([what, times > 0]).toEqual([what, !isNever(what)]);
    });

    test('the sink still has only effects accepted as residue', async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(deed, { minLength: 1, maxLength: 4 }), async (deeds) => {
          const { bank, store, left, tools } = await undone(sort, deeds, ends);
          const assize = runtimeOver(store, [orders], { tools });
          for (const { epoch, n, key } of left) {
            const as = bank.stands.has(key) ? 'residue' : 'undone';
            await assize.resolveEffect({
              epoch,
              n,
              as,
              by: 'ops',
              writ: operatorWrit(),
              evidence: 'the books of the bank',
            });
          }
          quickly(await assize.recoverEffects()).toEqual([]);
          await assize.close();
          const accepted = readTransaction((await store.effectsOf(1))!).state.effects.flatMap(
            ({ phase }, n) => (phase === 'accepted' ? [n] : []),
          );
          const [logged] = await assize.effects({ epoch: 1 });
          quickly(accepted.map((n) => logged!.effects[n]!.key).sort()).toEqual(
            [...bank.stands.keys()].sort(),
          );
        }),
        { numRuns: cases(120) },
      );
    });
  },
);
