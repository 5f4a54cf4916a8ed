import { MemoryStore } from '@assize/testing/memory';
import { expect } from 'vitest';
import type { Delivery, Reversibility, Sink } from '#effects';
import type { Domain } from '#kernel';
import { type Assize, type UnresolvedEffect, verifyStore } from '#runtime';
import { runtimeOver } from '../ledger/runtime.ts';
import { type Outside, OutsideSink, Steps, storeOf, toolFor } from './effect-sink.ts';

/** A store and a sink that outlive processes. Processes over them may end at any of their steps. */
export abstract class OutlivingWorld {
  readonly store = new MemoryStore();
  readonly sink: OutsideSink;
  /** How calls go; well, unless said otherwise. */
  fault: NonNullable<Outside['fault']> = () => 'none';
  readonly #domain: Domain;
  readonly #classes: readonly (readonly [Reversibility, Delivery])[];

  /** `classes`: of the tools that its processes have. */
  constructor(
    sort: Sink,
    domain: Domain,
    classes: readonly (readonly [Reversibility, Delivery])[],
  ) {
    this.sink = new OutsideSink(sort);
    this.#domain = domain;
    this.#classes = classes;
  }

  /** Creates the trajectory `t`. */
  async begin(): Promise<this> {
    await runtimeOver(this.store, [this.#domain]).create(this.#domain, { trajectoryId: 't' });
    return this;
  }

  /** One process, from start to end: it ends at step `endAt`, or when `live` has finished. */
  async process<T>(endAt: number | undefined, live: (assize: Assize) => Promise<T>) {
    const steps = new Steps(endAt);
    const outside: Outside = { sink: this.sink, steps, fault: (of, what) => this.fault(of, what) };
    const tools = this.#classes.map(([reversibility, delivery]) =>
      toolFor(outside, reversibility, delivery),
    );
    const assize = runtimeOver(storeOf(this.store, steps), [this.#domain], { tools });
    const value = await Promise.race([live(assize), steps.ended.then(() => undefined)]);
    if (!steps.isDead) await Promise.race([assize.close(), steps.ended]);
    // After every crash, the ledger and the effect log agree, before another process resumes the
    // work.
    if (steps.isDead)
      for (const { fault } of await verifyStore(this.store)) expect(fault).toBeUndefined();
    return { value, isDead: steps.isDead };
  }

  /** The unresolved effects after another process has resumed all abandoned transactions. */
  async recovered(): Promise<readonly UnresolvedEffect[]> {
    return (await this.process(undefined, (assize) => assize.recoverEffects()))
      .value as readonly UnresolvedEffect[];
  }

  /** The invariants after everything possible is resolved, after this number of crashes. */
  abstract check(left: readonly UnresolvedEffect[], crashes: number): Promise<unknown>;

  /** Whether an entry has these words. */
  async hasEntryWith(words: string): Promise<boolean> {
    return (await this.entriesWith(words)) > 0;
  }

  async entriesWith(words: string): Promise<number> {
    return (await this.store.entries('t')).filter(({ payload }) => payload.includes(words)).length;
  }
}

/**
 * Ends a process at each step of `live`, and the next process at each step of the recovery. Each
 * case has its own world, checked after a third process has recovered. Returns the number
 * of cases in which both processes ended early. `every`: ends the first process at each such step
 * only.
 */
export async function crashedTwice<World extends OutlivingWorld>(
  begun: () => Promise<World>,
  live: (world: World, assize: Assize) => Promise<unknown>,
  every = 1,
): Promise<number> {
  let twice = 0;
  for (let endAt = 1; ; endAt += every) {
    let wasDead = false;
    for (let again = 1; ; again++) {
      const world = await begun();
      ({ isDead: wasDead } = await world.process(endAt, (assize) => live(world, assize)));
      if (!wasDead) return twice;
      const { isDead } = await world.process(again, (assize) => assize.recoverEffects());
      await world.check(await world.recovered(), isDead ? 2 : 1);
      if (!isDead) break;
      twice++;
    }
  }
}
