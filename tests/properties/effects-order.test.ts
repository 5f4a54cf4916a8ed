import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { type CallContext, declareTool, type Tool } from '#effects';
import { seededRandom } from '#oracle';
import type { Assize, Trajectory, Transaction } from '#runtime';
import { cases, hasUsualCases } from '../support/cases.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';
import { expect as quickly } from '../support/quick-expect.ts';
import { tally } from '../support/tools/effect-sink.ts';

// Work that starts in one order and reaches its gate in another random order. The test judges the
// log of the places that the work accesses: arrivals and departures, by epoch.

const writ = writFor('alice');
const COUNT = { action: 'count', role: 'counter', args: 'order' } as const;

/** An arrival at a place or a departure. A writer must be alone at its place. */
interface Passing {
  readonly at: string;
  readonly epoch: number;
  readonly did: 'read' | 'do' | 'undo';
  readonly is: 'in' | 'out';
}

/** Places, and tools that stay there for as long as `delay` has them wait. */
class Places {
  readonly log: Passing[] = [];
  readonly tools: readonly Tool[];
  readonly #delay: () => Promise<unknown>;

  constructor(delay: () => Promise<unknown>) {
    this.#delay = delay;
    const input = z.strictObject({ at: z.string() });
    const here = (did: Passing['did']) => (given: { at: string }, call: CallContext) =>
      this.#pass(given.at, call, did);
    const undo = async (given: { at: string }, _: unknown, call: CallContext) => {
      await this.#pass(given.at, call, 'undo');
      return { undone: 'all' as const };
    };
    const writes = ['place:{at}'];
    this.tools = [
      declareTool({
        name: 'place.read',
        input,
        class: 'read',
        reads: ['place:{at}'],
        execute: here('read'),
      }),
      declareTool({
        name: 'place.act',
        input,
        class: { reversibility: 'reversible', delivery: 'externalised', sink: 'keyed' },
        writes,
        execute: here('do'),
        compensate: undo,
      }),
      declareTool({
        name: 'place.hold',
        input,
        class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
        writes,
        execute: here('do'),
      }),
    ];
  }

  async #pass(at: string, { epoch = 0 }: CallContext, did: Passing['did']): Promise<void> {
    this.log.push({ at, epoch, did, is: 'in' });
    await this.#delay();
    this.log.push({ at, epoch, did, is: 'out' });
  }

  /** How often an epoch did something there that stands. */
  standing(epoch: number): number {
    const done = this.log.filter((each) => each.epoch === epoch && each.is === 'in');
    return (
      done.filter(({ did }) => did === 'do').length -
      done.filter(({ did }) => did === 'undo').length
    );
  }
}

/** Arrivals during a conflicting visit, and arrivals after a visit with a higher epoch. */
function faultsOf(log: readonly Passing[]): string[] {
  const faults: string[] = [];
  const inside: Passing[] = [];
  const before: Passing[] = [];
  const meet = (a: Passing, b: Passing): boolean =>
    a.at === b.at && a.epoch !== b.epoch && (a.did !== 'read' || b.did !== 'read');
  for (const each of log) {
    if (each.is === 'out') {
      inside.splice(
        inside.findIndex(
          ({ at, epoch, did }) => at === each.at && epoch === each.epoch && did === each.did,
        ),
        1,
      );
      continue;
    }
    for (const other of inside)
      if (meet(each, other)) faults.push(`${said(each)} meets ${said(other)}`);
    for (const other of before)
      if (meet(each, other) && other.epoch > each.epoch)
        faults.push(`${said(each)} comes after ${said(other)}`);
    inside.push(each);
    before.push(each);
  }
  return faults;
}

function said({ epoch, did, at }: Passing): string {
  return `${epoch} ${did} at ${at}`;
}

const step = fc.record({
  tool: fc.constantFrom('place.read', 'place.act', 'place.hold'),
  at: fc.constantFrom('a', 'b', 'c'),
  /** Whether it was claimed from the beginning, or is when it comes to that. */
  claimed: fc.constantFrom('first', 'first', 'late'),
});
type Drawn = { tool: string; at: string; claimed: 'first' | 'late' };
const work = fc.record({
  steps: fc.array(step as fc.Arbitrary<Drawn>, { minLength: 1, maxLength: 4 }),
  ends: fc.constantFrom('commit', 'commit', 'commit', 'throw'),
});

const claimsOf = (steps: readonly Drawn[]) => ({
  reads: steps.filter(({ tool }) => tool === 'place.read').map(({ at }) => `place:${at}`),
  writes: steps.filter(({ tool }) => tool !== 'place.read').map(({ at }) => `place:${at}`),
});

describe.each([
  [1, 1_000],
  [2, 300],
])('for any order in which work of %i processes reaches its gate', (count, usual) => {
  test('scopes run by epoch, one at a time; late work is stale and restarts', async () => {
    let [stale, ofOthers] = [0, 0];
    await fc.assert(
      fc.asyncProperty(
        fc.array(work, { minLength: 2, maxLength: 6 }),
        fc.scheduler(),
        async (works, scheduler) => {
          const letGo = () => scheduler.schedule(Promise.resolve());
          const places = new Places(letGo);
          const processes = await begun(count, places.tools);
          const late: number[] = [];
          let gaveUp = 0;
          const run = async (
            { steps, ends }: (typeof works)[number],
            i: number,
          ): Promise<number | undefined> => {
            const first = claimsOf(steps.filter(({ claimed }) => claimed === 'first'));
            const outcome = await processes[i % count]!.trajectory.transaction(
              { writ, ...first, retries: 20 },
              async (tx) => {
                for (const each of steps) {
                  await letGo();
                  if (each.claimed === 'late') await claimed(tx, each, late);
                  await tx.call(each.tool, { at: each.at });
                }
                await letGo();
                if (ends === 'throw') throw new Error('as drawn');
                tx.propose(COUNT);
              },
            ).catch((error: Error & { readonly code?: string }) => {
              // Two transactions that claim each other's places late may make each other stale on
              // every restart.
              if (error.code === 'stale') gaveUp++;
              else if (error.message !== 'as drawn') throw error;
            });
            return outcome?.epoch;
          };
          const epochs = await scheduler.waitFor(Promise.all(works.map(run)));
          quickly(faultsOf(places.log)).toEqual([]);
          for (const epoch of late) quickly(places.standing(epoch)).toBe(0);
          for (const [i, { steps, ends }] of works.entries()) {
            if (epochs[i] === undefined) continue;
            quickly(ends).toBe('commit');
            quickly(places.standing(epochs[i])).toBe(
              steps.filter(({ tool }) => tool !== 'place.read').length,
            );
          }
          const throwing = works.filter(({ ends }) => ends === 'throw').length;
          quickly(
            epochs.filter((epoch) => epoch === undefined).length - throwing,
          ).toBeLessThanOrEqual(gaveUp);
          for (const { assize } of processes) await assize.close();
          stale += late.length;
          ofOthers += epochs.length;
        },
      ),
      { numRuns: cases(usual) },
    );
    // Else nothing of it was tried.
    if (hasUsualCases()) expect(stale).toBeGreaterThan(0);
    if (count === 1) expect(stale).toBeLessThan(ofOthers);
  });
});

/** Processes on one store, each with a chance of its own. */
async function begun(count: number, tools: readonly Tool[]) {
  const store = new MemoryStore({ shared: count > 1 });
  const processes: { assize: Assize; trajectory: Trajectory }[] = [];
  for (let i = 0; i < count; i++) {
    const assize = runtimeOver(store, [tally], {
      tools,
      ports: { random: seededRandom(`process ${i}`) },
    });
    if (i === 0) await assize.create(tally, { trajectoryId: 't' });
    processes.push({ assize, trajectory: await assize.open('t') });
  }
  return processes;
}

/** Claims the place of a step. Notes the epochs that are too late for their claim. */
async function claimed(tx: Transaction, step: Drawn, late: number[]): Promise<void> {
  try {
    await tx.expand(claimsOf([step]));
  } catch (error) {
    if ((error as { code?: string }).code === 'stale') late.push(tx.epoch);
    throw error;
  }
}
