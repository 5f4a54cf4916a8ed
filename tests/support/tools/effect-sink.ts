import { z } from 'zod';
import {
  type CallContext,
  type Delivery,
  DidNothing,
  declareTool,
  type Reversibility,
  type Sink,
  type Tool,
} from '#effects';
import { defineDomain, pass } from '#kernel';
import type { EffectStore, Lease, LedgerStore, Membership, SharedEffectStore } from '#ledger';

// A process that may end at any step, sinks that keep their own logs, and tools that act on them. A
// test reads the effects from the sinks, and from nothing else.

/** Where a process may end: before and after each of its writes and calls. */
export class Steps {
  count = 0;
  isDead = false;
  #endAt: number;
  readonly #ended: () => void;
  /** Settles when the process has ended. */
  readonly ended: Promise<void>;
  /** It does not end but hangs, until it is revived. */
  readonly isHung: boolean;
  readonly revived: Promise<void>;
  readonly revive: () => void;

  /** `endAt`: the step at which it ends, from 1; none for one that lives. */
  constructor(endAt = Number.POSITIVE_INFINITY, isHung = false) {
    this.#endAt = endAt;
    this.isHung = isHung;
    const { promise: revived, resolve: revive } = Promise.withResolvers<void>();
    this.revived = revived;
    this.revive = revive;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    this.#ended = resolve;
  }

  /** Ends the process after this number of steps from now. Undefined: it lives. */
  endAfter(steps: number | undefined): void {
    this.#endAt = steps === undefined ? Number.POSITIVE_INFINITY : this.count + steps;
  }

  /** A process that has ended answers nothing any more. */
  async step(): Promise<void> {
    if (!this.isDead && ++this.count === this.#endAt) {
      this.isDead = true;
      this.#ended();
    }
    if (this.isDead) await this.revived;
  }
}

type Store = LedgerStore & EffectStore & Partial<SharedEffectStore>;

const WRITES: ReadonlySet<string> = new Set(['commit', 'logEffects']);

/**
 * A store as one process sees it: a write arrives, or does not. The lease or membership ends with
 * the process.
 */
export function storeOf(store: Store, steps: Steps): Store {
  return new Proxy(store, {
    get(target, name) {
      const member = Reflect.get(target, name) as unknown;
      if (typeof member !== 'function') return member;
      if (name === 'joinEffects')
        return (options: { readonly leaseMs: number }) =>
          sharedBy(target as SharedEffectStore, steps, options);
      if (name === 'leaseEffects') return (signal?: AbortSignal) => heldBy(target, steps, signal);
      return async (...args: unknown[]) => {
        if (WRITES.has(String(name))) await steps.step();
        const answer: unknown = await Reflect.apply(member, target, args);
        if (WRITES.has(String(name))) await steps.step();
        if (steps.isDead) await steps.revived;
        return answer;
      };
    },
  });
}

async function heldBy(store: Store, steps: Steps, signal?: AbortSignal): Promise<Lease> {
  const tenure = await store.leaseEffects(signal);
  void steps.ended.then(() => tenure.release());
  return tenure;
}

async function sharedBy(
  store: SharedEffectStore,
  steps: Steps,
  options: { readonly leaseMs: number },
): Promise<Membership> {
  const membership = await store.joinEffects(options);
  // A process that does not respond is not gone yet.
  void steps.ended.then(() => (steps.isHung ? undefined : membership.release()));
  return {
    ...membership,
    exchange: async (...said) => {
      if (steps.isDead) await steps.revived;
      return membership.exchange(...said);
    },
  };
}

/**
 * The calls that reached a sink, in order: executed, compensated, and skipped because the sink
 * already had them.
 */
export interface Arrival {
  readonly did: 'do' | 'undo' | 'again';
  readonly key: string;
  readonly what: string;
}

/** An external system that acts, and keeps its own separate log. */
export class OutsideSink {
  readonly sort: Sink;
  readonly log: Arrival[] = [];
  readonly #stands = new Map<string, string>();
  readonly #seen = new Set<string>();

  constructor(sort: Sink) {
    this.sort = sort;
  }

  /** A blind sink executes every call, also a repeated one. */
  do(key: string, what: string): void {
    if (this.sort === 'keyed' && this.#seen.has(key)) {
      this.log.push({ did: 'again', key, what });
      return;
    }
    this.#seen.add(key);
    this.#stands.set(key, what);
    this.log.push({ did: 'do', key, what });
  }

  undo(key: string, what: string): void {
    if (this.sort !== 'blind' && !this.#stands.has(key)) {
      this.log.push({ did: 'again', key, what });
      return;
    }
    this.#stands.delete(key);
    this.log.push({ did: 'undo', key, what });
  }

  has(key: string): boolean {
    return this.#stands.has(key);
  }

  /** How often something was done, less how often it was undone. */
  standing(what: string): number {
    return this.log.reduce(
      (sum, each) =>
        sum + (each.what !== what ? 0 : each.did === 'do' ? 1 : each.did === 'undo' ? -1 : 0),
      0,
    );
  }

  times(did: Arrival['did'], what: string): number {
    return this.log.filter((each) => each.did === did && each.what === what).length;
  }
}

/**
 * The fault of a call. `fail`: it does nothing and reports that. `lose`: it is executed, and the
 * answer is lost. `hang`: the same, without an end.
 */
export type Fault = 'none' | 'fail' | 'fail_for_good' | 'lose' | 'lose_before' | 'hang';

export interface Outside {
  readonly sink: OutsideSink;
  readonly steps: Steps;
  /** Asked at each call; `of`: which one. */
  readonly fault?: (of: 'do' | 'undo' | 'ask', what: string) => Fault;
  /** The cost of compensating an effect of class `with_cost`. By default no cost is declared. */
  readonly undoCost?: { readonly [unit: string]: number };
}

/** A tool that does something at the sink, named by its class: `reversible.buffered`. */
export function toolFor(
  { sink, steps, fault = () => 'none', undoCost }: Outside,
  reversibility: Reversibility,
  delivery: Delivery,
): Tool {
  const act = async (
    of: 'do' | 'undo',
    { what }: { what: string },
    call: CallContext,
  ): Promise<void> => {
    await steps.step();
    const goes = fault(of, what);
    if (goes === 'fail' || goes === 'fail_for_good')
      throw new DidNothing(`${what} was refused`, { final: goes === 'fail_for_good' });
    if (goes === 'lose_before') throw new Error('the line was dead');
    if (of === 'do') sink.do(call.key, what);
    else sink.undo(call.key, what);
    await steps.step();
    if (goes === 'lose') throw new Error('the line went dead');
    if (goes === 'hang') await new Promise<never>(() => undefined);
  };
  return declareTool({
    name: `${reversibility}.${delivery}`,
    input: z.strictObject({ what: z.string(), at: z.string().default('r') }),
    class: { reversibility, delivery, sink: sink.sort },
    writes: ['test:{at}'],
    ...(undoCost !== undefined && reversibility === 'with_cost'
      ? { undoCost: () => undoCost, parallel: true }
      : {}),
    execute: async (input, call) => {
      await act('do', input, call);
      return { did: input.what };
    },
    ...(reversibility === 'irreversible'
      ? {}
      : {
          compensate: async (input: { what: string }, _result: unknown, call: CallContext) => {
            await act('undo', input, call);
            return { undone: 'all' as const };
          },
        }),
    ...(sink.sort === 'queryable'
      ? {
          reconcile: async (_input: unknown, { key }: CallContext) => {
            await steps.step();
            if (fault('ask', '') !== 'none') throw new Error('nobody answers');
            return sink.has(key)
              ? { happened: true as const, result: null }
              : { happened: false as const };
          },
        }
      : {}),
  });
}

/** A world that counts what was committed. */
export const tally = defineDomain<any, any>({
  name: 'tally',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ done: z.record(z.string(), z.number()) }),
  initial: { done: {} },
  processes: { count: { writes: ['/done/*'] } },
  roles: { counter: { processes: ['count'] } },
  actions: {
    count: {
      process: 'count',
      args: z.string(),
      apply: ({ done }: any, name: string) => {
        done[name] = (done[name] ?? 0) + 1;
      },
    },
  } as never,
  invariants: ({ each }: any) => [
    each('NOT_FORBIDDEN', '/done/*', {}, (_: number, __: unknown, [name]: string[]) =>
      name === 'forbidden' ? { result: 'reject', detail: 'it is forbidden' } : pass,
    ),
  ],
});
