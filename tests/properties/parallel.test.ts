import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { writId } from '#authority';
import { canonicalize } from '#canon';
import type { Domain } from '#kernel';
import type { ProposalInput, Ruling, Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { cases } from '../support/cases.ts';
import { KEYS } from '../support/generated-domain.ts';
import { deskOf, soundState } from '../support/ledger-runtime.ts';
import { HandClock, runtimeOver, writFor } from '../support/runtime.ts';
import { type Happening, type Proposal, play, rules, type Step, shopState, step } from '../support/schedule.ts';
import { type Asked, type Fate, threadsOf } from '../support/threads.ts';
import { ward } from '../support/ward.ts';

// What is judged in parallel is ruled on, recorded and answered as if it were judged one after the other: the same entries
// with the same ids, whenever threads answer, and whether they do.

const user = fc.constantFrom(...KEYS);
const by = fc.integer({ min: -2, max: 4 });
/** Touches little, so that many have nothing to do with each other. */
const local: fc.Arbitrary<Proposal> = fc.record({
  agent: fc.nat(2),
  action: fc.oneof(
    { weight: 4, arbitrary: fc.record({ name: fc.constantFrom('count' as const, 'own' as const), user, by }) },
    { weight: 1, arbitrary: fc.record({ name: fc.constant('note' as const), by }) },
  ),
  evil: fc.constant('nothing' as const),
});
const burst: fc.Arbitrary<Step> = fc.record({
  do: fc.constant('propose' as const),
  proposals: fc.array(local, { minLength: 2, maxLength: 12 }),
});
const schedule = fc.array(fc.oneof({ weight: 2, arbitrary: burst }, { weight: 1, arbitrary: step }), {
  minLength: 1,
  maxLength: 8,
});

/** Mostly all goes well. */
const fates: fc.Arbitrary<Fate[]> = fc.array(
  fc.oneof({ weight: 30, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.constantFrom<Fate[]>('dies', 'hangs') }),
  { minLength: 1, maxLength: 12 },
);

const told = (outcome: Ruling | Error | undefined): unknown =>
  outcome instanceof Error ? `${outcome.name}: ${outcome.message}` : outcome;

function seen({ after, asked, resolved, junk, pending, state }: Happening): unknown {
  const resolution = resolved && { ...resolved, outcome: told(resolved.outcome) };
  return { after, asked: asked.map(({ outcome }) => told(outcome)), resolution, junk: told(junk), pending, state };
}

describe('what is judged in parallel is what is judged one after the other', () => {
  test('over generated domains, bursts, escalations, counselors, harmful code and threads that fail', async () => {
    const count: Asked = { asks: 0, answers: 0 };
    const run = fc.asyncProperty(
      rules,
      shopState,
      schedule,
      fates,
      fc.constantFrom('world' as const, 'footprint' as const),
      async (specs, start, steps, fate, freeze) => {
        const options = { freeze, override: true };
        const serial = await play(specs, start, steps, options);
        const parallel = await play(specs, start, steps, {
          ...options,
          runtime: (domain) => ({ parallel: threadsOf(domain, fate, {}, count) }),
        });
        expect(parallel.happenings.map(seen)).toEqual(serial.happenings.map(seen));
      },
    );
    await fc.assert(run, { numRuns: cases(500) });
    expect(count.answers).toBeGreaterThan(cases(500));
  });

  const act = fc.oneof(
    {
      weight: 6,
      arbitrary: fc.record({ id: fc.constantFrom('a', 'b', 'c', 'd'), do: fc.constantFrom('admit', 'note') }),
    },
    {
      weight: 2,
      arbitrary: fc.record({ id: fc.constantFrom('a', 'b', 'c'), do: fc.constantFrom('shift', 'dismiss', 'flag') }),
    },
    { weight: 1, arbitrary: fc.record({ erase: fc.constantFrom('a', 'b') }) },
    { weight: 1, arbitrary: fc.record({ resolve: fc.constantFrom('approve', 'reject') }) },
  );
  test('where values are sensitive and erased in between', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.array(act, { minLength: 1, maxLength: 8 }), { maxLength: 6 }),
      fates,
      async (bursts, fate) => {
        const serial = await onWard(bursts, undefined);
        expect(await onWard(bursts, fate)).toEqual(serial);
      },
    );
    await fc.assert(run, { numRuns: cases(200) });
  });

  type Act = { id: string; do: string } | { erase: string } | { resolve: string };

  async function onWard(bursts: readonly (readonly Act[])[], fate: readonly Fate[] | undefined): Promise<unknown> {
    const store = new MemoryStore();
    const nurse = writFor('nurse');
    const trajectory = await runtimeOver(store, [ward], {
      // The same salt for everything: how often there was one is no matter then.
      random: { bytes: (length) => new Uint8Array(length) },
      ...(fate && { parallel: threadsOf(ward, fate) }),
    }).create(ward, { trajectoryId: 't' });
    const outcomes: unknown[] = [];
    let count = 0;
    const one = async (what: Act): Promise<unknown> => {
      const text = `text ${count++}`;
      if ('erase' in what) return trajectory.erase({ at: [`/patients/${what.erase}`], reason: text, writ: nurse });
      if ('resolve' in what) {
        const id = trajectory.pending()[0]?.id ?? '0'.repeat(64);
        return trajectory[what.resolve as 'approve'](id, { principal: 'dr-who', method: 'test', reason: text });
      }
      const args = what.do === 'admit' ? { name: text } : ['note', 'flag'].includes(what.do) ? { text } : {};
      return trajectory.propose({
        action: what.do,
        role: { name: 'nurse', params: { id: what.id } },
        args,
        writ: nurse,
        idempotencyKey: text,
      });
    };
    for (const burst of bursts) {
      // An erasure waits for what is under way; what it finds depends on nothing else then.
      for (const what of burst.filter((what) => !('id' in what)))
        outcomes.push(await one(what).catch((error) => told(error)));
      outcomes.push(
        ...(await Promise.all(
          burst.filter((what) => 'id' in what).map((what) => one(what).catch((error) => told(error))),
        )),
      );
    }
    return { outcomes, rows: await store.entries('t', { limit: 10_000 }), state: await soundState(store, 't') };
  }

  test('an erasure that is faster: what was foreseen before it does not bring back what it erased', async () => {
    const nurse = writFor('nurse');
    const store = new MemoryStore();
    const count: Asked = { asks: 0, answers: 0 };
    const runtime = runtimeOver(store, [ward], { parallel: threadsOf(ward, [3], {}, count) });
    const trajectory = await runtime.create(ward, { trajectoryId: 't' });
    const by = (id: string, action: string, args: object): Promise<Ruling> =>
      trajectory.propose({ action, role: { name: 'nurse', params: { id } }, args, writ: nurse });
    for (const id of ['a', 'b']) await by(id, 'admit', { name: id });
    for (const text of ['first', 'second']) await by('a', 'note', { text });
    const underWay = [by('a', 'shift', {}), by('b', 'note', { text: 'another' })];
    const erased = await trajectory.erase({ at: ['/patients/a/notes'], reason: 'asked for', writ: nurse });
    const rulings = await Promise.all(underWay);
    expect([erased, ...rulings].map((ruling) => 'entry' in ruling && [ruling.ruling, ruling.entry.seq])).toEqual([
      ['committed', 5],
      ['committed', 6],
      ['committed', 7],
    ]);
    expect(count.answers).toBe(2);
    expect(canonicalize(trajectory.state())).not.toContain('second');
    expect(canonicalize(trajectory.state())).toBe(await soundState(store, 't'));
  });

  const spend = fc.oneof(
    fc.record({ usd: fc.integer({ min: 0, max: 40 }) }),
    fc.record({ box: fc.constantFrom('a', 'b', 'c', 'd', 'e') }),
    fc.record({ by: fc.integer({ min: -3, max: 4 }) }),
  );
  test('where budgets run out', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.array(spend, { minLength: 1, maxLength: 10 }), { maxLength: 4 }),
      fates,
      async (bursts, fate) => {
        expect(await onDesk(bursts, fate)).toEqual(await onDesk(bursts, undefined));
      },
    );
    await fc.assert(run, { numRuns: cases(200) });
  });

  async function onDesk(
    bursts: readonly (readonly ({ usd: number } | { box: string } | { by: number })[])[],
    fate: readonly Fate[] | undefined,
  ): Promise<unknown> {
    const desk = deskOf() as Domain;
    const store = new MemoryStore();
    const clock = new HandClock();
    const writ = writFor('payer', { trajectory: 't', budget: { usd: 100 } });
    const runtime = runtimeOver(store, [desk], { clock, ...(fate && { parallel: threadsOf(desk, fate) }) });
    const trajectory: Trajectory = await runtime.create(desk, { trajectoryId: 't', writs: [writ] });
    const inputs = (what: { usd: number } | { box: string } | { by: number }): ProposalInput => {
      if ('usd' in what) return { action: 'pay', role: 'worker', args: what, writ: writId(writ) };
      if ('by' in what) return { action: 'add', role: 'worker', args: what, writ };
      return { action: 'put', role: { name: 'filer', params: what }, args: { paper: 'paper' }, writ };
    };
    const outcomes: unknown[] = [];
    for (const burst of bursts) {
      clock.forward(1_000);
      outcomes.push(...(await Promise.all(burst.map((what) => trajectory.propose(inputs(what))))));
    }
    return { outcomes, state: canonicalize(trajectory.state()), sound: await soundState(store, 't') };
  }
});
