import {
  type Claim,
  ClaimIndex,
  Coordinator,
  claimsOf,
  EffectError,
  isLeft,
  type KnownTransaction,
  type Registration,
  readTransaction,
  type Tool,
  type TransactionBody,
  type Work,
} from '#effects';
import type { EffectStore, Hash, Tenure } from '#ledger';
import type { Pause, Random } from '#oracle';
import { Run, type RunPorts } from './run.ts';
import { Trails } from './trails.ts';

export interface EffectsOptions {
  readonly store: EffectStore;
  readonly tools: readonly Tool[];
  readonly random: Random;
  readonly pause: Pause;
  readonly callMs: number;
  readonly blob: (hash: Hash) => Promise<string | undefined>;
}

/** An effect that waits for a person. */
export interface LeftEffect {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** Its place in the transaction. */
  readonly n: number;
  readonly tool: string;
  readonly key: Hash;
  readonly phase: string;
  /** Nobody acts there before it is resolved. */
  readonly claims: readonly Claim[];
}

/**
 * What this process has at work with tools, in all trajectories of a store: it takes over what an earlier one left, and no other
 * process works on effects there as long as this one holds them.
 */
export class Effects {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly #options: EffectsOptions;
  #held: Promise<Held> | undefined;

  /** @throws EffectError `invalid_tool` for two of one name */
  constructor(options: EffectsOptions) {
    this.#options = options;
    const tools = new Map<string, Tool>();
    for (const tool of options.tools) {
      if (tools.has(tool.name))
        throw new EffectError('invalid_tool', `Two tools are named ${tool.name}; give one of them another name.`);
      tools.set(tool.name, tool);
    }
    this.tools = tools;
  }

  /** Takes the tenure, and what is left of those before; the first call waits for whoever has it. */
  held(signal?: AbortSignal): Promise<Held> {
    this.#held ??= this.#hold(signal).catch((error: unknown) => {
      this.#held = undefined;
      throw error;
    });
    return this.#held;
  }

  /** Somebody else has taken over: what is in memory is worth nothing. */
  lost(): void {
    this.#held = undefined;
  }

  /** Waits for what is under way and gives the tenure up. */
  async close(): Promise<void> {
    const held = await this.#held?.catch(() => undefined);
    this.#held = undefined;
    await held?.close();
  }

  async #hold(signal: AbortSignal | undefined): Promise<Held> {
    const { store, random, pause, callMs, blob } = this.#options;
    const tenure = await store.holdEffects(signal);
    try {
      const left = (await store.openEffects()).map(readTransaction);
      const { fence } = tenure;
      const trails = new Trails(store, fence);
      const ports = { store, fence, tools: this.tools, random, pause, callMs, blob, trails };
      return new Held(tenure, ports, left);
    } catch (error) {
      await tenure.release();
      throw error;
    }
  }
}

/** What is at work under one tenure. */
export class Held {
  readonly coordinator: Coordinator;
  readonly ports: RunPorts;
  readonly #tenure: Tenure;
  /** What waits for a person, by the epoch of its transaction. */
  readonly #left = new Map<number, { readonly run: Run; readonly registrations: readonly Registration[] }>();
  readonly #doubts = new ClaimIndex();
  readonly #underWay = new Set<Promise<void>>();

  constructor(tenure: Tenure, ports: RunPorts, left: readonly KnownTransaction[]) {
    this.#tenure = tenure;
    this.ports = ports;
    this.coordinator = new Coordinator(tenure.lastEpoch);
    // All of it is registered before any of it goes on, and before anybody else begins.
    const works = left.map((known) => this.coordinator.resume(known.epoch, claimsOf(known.body)));
    for (const [i, known] of left.entries()) this.#goOn(Run.of(ports, known), works[i]!);
  }

  begin(
    trajectoryId: string,
    claims: readonly Claim[],
    body: TransactionBody,
  ): { readonly run: Run; readonly work: Work } {
    this.checkDoubts(claims);
    const work = this.coordinator.begin(claims);
    return { work, run: new Run(this.ports, work.epoch, trajectoryId, body) };
  }

  /** @throws EffectError `resource_in_doubt` where something waits for a person */
  checkDoubts(claims: readonly Claim[]): void {
    for (const claim of claims) {
      const epoch = this.#doubts.least(claim);
      if (!Number.isFinite(epoch)) continue;
      throw new EffectError(
        'resource_in_doubt',
        `What transaction ${epoch} did at ${claim.scope.text} waits for a person; see to that first (assize effects list).`,
        { evidence: { epoch, scope: claim.scope.text } },
      );
    }
  }

  /**
   * Does what is left to do about a transaction that has no body any more. What it claimed is free when this returns, or
   * quarantined.
   */
  async finish(run: Run, work: Work): Promise<'ended' | 'person'> {
    let end: 'ended' | 'person' = 'person';
    try {
      if ((await run.move(false)) === 'ended') end = 'ended';
    } finally {
      this.#track(run.settled());
      // Also where the log could not be written: nobody knows what stands there then.
      if (end === 'person') this.#quarantine(run, work);
      else this.coordinator.end(work);
    }
    return end;
  }

  /** A transaction of which nothing is in the log. */
  drop(work: Work): void {
    this.coordinator.end(work);
  }

  /** Effects that wait for a person. */
  left(): LeftEffect[] {
    return [...this.#left.values()].flatMap(({ run }) =>
      run.state.effects.flatMap(({ phase }, n) => {
        const { tool, key } = run.effects[n]!;
        if (!isLeft(phase)) return [];
        return [{ epoch: run.epoch, trajectoryId: run.trajectoryId, n, tool, key, phase, claims: claimsOf(run.body) }];
      }),
    );
  }

  /** A run that waits for a person, to be told what they decided. */
  leftRun(epoch: number): Run | undefined {
    return this.#left.get(epoch)?.run;
  }

  /** Goes on with what waited for a person, after they decided. */
  async goOnWith(epoch: number): Promise<'ended' | 'person'> {
    const left = this.#left.get(epoch);
    if (left === undefined || (await left.run.move(false)) !== 'ended') return 'person';
    for (const registration of left.registrations) this.#doubts.delete(registration);
    this.#left.delete(epoch);
    return 'ended';
  }

  /** When everything that was left by others was seen to, as far as this process can. */
  async recovered(): Promise<void> {
    await Promise.all(this.#underWay);
  }

  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
    await this.ports.trails.flush();
    await this.#tenure.release();
  }

  #goOn(run: Run, work: Work): void {
    const done = this.finish(run, work).then(
      () => undefined,
      // It is quarantined, and whoever writes next meets the same store.
      () => undefined,
    );
    this.#track(done);
  }

  /** Is waited for before the tenure ends. */
  #track(done: Promise<void>): void {
    this.#underWay.add(done);
    void done.then(() => this.#underWay.delete(done));
  }

  #quarantine(run: Run, work: Work): void {
    const registrations = work.claims.map((claim) => ({ epoch: work.epoch, claim }));
    for (const registration of registrations) this.#doubts.add(registration);
    this.#left.set(work.epoch, { run, registrations });
    this.coordinator.end(work);
  }
}
