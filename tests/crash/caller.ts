import { expect } from 'vitest';
import type { Writ } from '#authority';
import { AssizeError, isAssizeError, type Json } from '#base';
import type { EntryRow, LedgerStore } from '#ledger';
import { createOracle, seededRandom } from '#oracle';
import { type Assize, type Ruling, rulingOf, type Trajectory } from '#runtime';
import type { Store } from '#stores';
import { desk } from '../support/ledger/desk.ts';
import { HandClock, runtimeOver } from '../support/ledger/runtime.ts';

/** How often a caller tries before it gives up; faults are fewer. */
const TRIES_MAX = 25;

/** A commit with an unknown outcome, and the later answer of `resolve`. */
export interface Doubt {
  readonly id: string;
  readonly written: boolean;
}

export interface CallerOptions {
  /** Opens the store again, as after a crash. */
  readonly open: () => Promise<Store>;
  /** Another handle on the same store, without faults: the real content. */
  readonly witness: LedgerStore;
  /** The store keeps to its port: an error means that nothing was written. */
  readonly errorsAreDefinite: boolean;
}

/**
 * A correct caller of the runtime. It retries with the same idempotency key or name, settles doubts
 * by the entry's id, and reopens the store when its handle is dead. It also checks the witness:
 * answered entries exist, and a definite failure has written nothing.
 */
export class Caller {
  /** The answered entries, by step. */
  readonly answered = new Map<string, EntryRow>();
  readonly doubts: Doubt[] = [];
  failures = 0;
  reopened = 0;
  /**
   * Several calls are in flight, so another call can have written entries that a failed call did
   * not.
   */
  atOnce = false;
  readonly #options: CallerOptions;
  #store!: Store;
  #assize!: Assize;
  #opening: Promise<void> | undefined;

  private constructor(options: CallerOptions) {
    this.#options = options;
  }

  static async over(options: CallerOptions): Promise<Caller> {
    const caller = new Caller(options);
    await caller.#open();
    return caller;
  }

  /** Begins a trajectory, or finds that it has. */
  create(name: string, writs: readonly Writ[]): Promise<void> {
    return this.#begin(name, () => this.#assize.create(desk, { trajectoryId: name, writs }));
  }

  branch(name: string, source: string, writs: readonly Writ[]): Promise<void> {
    return this.#begin(name, async () => {
      const rows = await this.#store.entries(source);
      const commit = rows.findLast(({ kind }) => kind === 'commit')!;
      return this.#assize.branch(source, commit.id, {
        trajectoryId: name,
        writs,
        note: 'a branch',
      });
    });
  }

  /** The key names the step too. */
  async propose(
    name: string,
    key: string,
    action: string,
    args: unknown,
    writ: Writ,
    more: object = {},
  ): Promise<Ruling> {
    const ruling = await this.#insist(async () => {
      const input = { action, role: 'worker', args, writ, idempotencyKey: key, ...more };
      return (await this.#assize.open(name)).propose(input);
    });
    await this.#note(key, ruling);
    return ruling;
  }

  async resolve(
    name: string,
    step: string,
    way: 'approve' | 'reject',
    pending: string,
  ): Promise<Ruling> {
    const ruling = await this.#insist(
      async (tries) => {
        const trajectory = await this.#assize.open(name);
        try {
          return await trajectory.approvals[way](pending, {
            principal: 'dr-who',
            method: 'test',
            reason: 'so be it',
          });
        } catch (error) {
          // An earlier attempt with an unknown outcome has resolved the proposal.
          if (!isAssizeError(error, 'not_pending') || tries === 0) throw error;
          expect(this.#options.errorsAreDefinite).toBe(false);
          const rows = await this.#store.entries(name);
          return rulingOf(rows.find((row) => JSON.parse(row.payload).resolves === pending)!);
        }
      },
      async (row) => rulingOf(row),
    );
    await this.#note(step, ruling);
    return ruling;
  }

  /**
   * An answer from outside, by key: the recorded answer is the given one, after any number of
   * attempts.
   */
  async ask(agent: string, call: () => Json): Promise<{ value: Json; oracle_key: string }> {
    return this.#insist(async () => {
      const oracle = createOracle({ store: this.#store, clock: new HandClock(), mode: 'record' });
      const scope = { kind: 'call', trajectory: 't', branch: null, agent, ordinal: 0 } as const;
      const { value, oracle_key } = await oracle.consult({ scope, request: 'what is it?', call });
      return { value, oracle_key };
    });
  }

  /** The trajectory as this caller sees it. */
  trajectory(name: string): Promise<Trajectory> {
    return this.#insist(() => this.#assize.open(name));
  }

  /** Forgets it, so that it is read again. */
  release(name: string): void {
    this.#assize.release(name);
  }

  async close(): Promise<void> {
    await this.#insist(() => this.#store.close());
  }

  async #begin(name: string, begin: () => Promise<Trajectory>): Promise<void> {
    const trajectory = await this.#insist(
      async (tries) => {
        try {
          return await begin();
        } catch (error) {
          if (!isAssizeError(error, 'exists') || tries === 0) throw error;
          expect(this.#options.errorsAreDefinite).toBe(false);
          return this.#assize.open(name);
        }
      },
      () => this.#assize.open(name),
    );
    expect(trajectory.id).toBe(name);
  }

  /**
   * `adopt` derives a result from an entry that was found later. Without it, the same call finds
   * the entry.
   */
  async #insist<T>(
    call: (tries: number) => Promise<T>,
    adopt?: (row: EntryRow) => Promise<T>,
  ): Promise<T> {
    let adopted: EntryRow | undefined;
    let last: unknown;
    for (let tries = 0; tries < TRIES_MAX; tries += 1) {
      const store = this.#store;
      const before = await this.#count();
      try {
        if (adopted !== undefined && adopt !== undefined) return await adopt(adopted);
        return await call(tries);
      } catch (error) {
        if (!(error instanceof AssizeError)) throw error;
        last = error;
        this.failures += 1;
        if (isDead(error)) await this.#reopen(store);
        if (error.code === 'commit_unknown') adopted = await this.#settle(error);
        else if (this.#options.errorsAreDefinite && !this.atOnce)
          expect(await this.#count()).toBe(before);
      }
    }
    throw new Error('the caller has given up', { cause: last });
  }

  async #settle(error: AssizeError): Promise<EntryRow | undefined> {
    const id = error.evidence['id'] as string;
    const row = await this.#insist(() => this.#store.resolve(id));
    expect(await this.#options.witness.resolve(id)).toEqual(row);
    this.doubts.push({ id, written: row !== undefined });
    return row;
  }

  /** Reopens once for all calls that find the handle dead. */
  async #reopen(dead: Store): Promise<void> {
    if (this.#store !== dead) return;
    this.#opening ??= (async () => {
      this.reopened += 1;
      await dead.close();
      await this.#open();
      this.#opening = undefined;
    })();
    await this.#opening;
  }

  async #open(): Promise<void> {
    this.#store = await this.#options.open();
    this.#assize = runtimeOver(this.#store, [desk], {
      oracle: this.#store,
      ports: { random: seededRandom(`caller ${this.reopened}`) },
    });
  }

  async #count(): Promise<number> {
    const all = await this.#options.witness.trajectories();
    return all.reduce((sum, { entries }) => sum + entries, 0);
  }

  /** Answered means durable, at that very moment. */
  async #note(step: string, ruling: Ruling): Promise<void> {
    if (ruling.ruling === 'frozen') return;
    expect(await this.#options.witness.resolve(ruling.entry.id)).toEqual(ruling.entry);
    this.answered.set(step, ruling.entry);
  }
}

/** A handle that another caller has closed by now is about to be followed by a new one. */
function isDead(error: unknown): boolean {
  return (
    isAssizeError(error) &&
    (['store_poisoned', 'store_closed'].includes(error.code) || isDead(error.cause))
  );
}
