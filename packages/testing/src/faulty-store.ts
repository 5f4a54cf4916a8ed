import { setImmediate as turn } from 'node:timers/promises';
import type { Batch, CommitResult } from 'assize/internal/ledger';
import { StoreError } from 'assize/internal/stores';
import type { FaultSchedule, StoreCall, StoreFault } from './faults.ts';

/**
 * A store with faults: the schedule sees each call of a method first. Calls without a fault return
 * the store's own answer. It works over any port with methods that return promises, and over
 * several ports together.
 *
 * Closing the faulty store closes the underlying one, even if the handle has died. It first waits
 * for calls that were sent.
 */
export function faultyStore<Store extends object>(store: Store, schedule: FaultSchedule): Store {
  const handle = new FaultyHandle(store, schedule);
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      const isMethod =
        typeof value === 'function' && typeof name === 'string' && name !== 'constructor';
      return isMethod ? handle.method(name) : value;
    },
  });
}

type Method = (...args: unknown[]) => unknown;

/** Methods that `close` ends without waiting for them. */
const ENDED_BY_CLOSING: ReadonlySet<string> = new Set([
  'close',
  'leaseEffects',
  'joinEffects',
  'rebuildFacts',
]);

/** Synchronous methods go to the store directly. */
const SYNCHRONOUS: ReadonlySet<string> = new Set(['readInParallel', 'toString']);

class FaultyHandle {
  readonly #store: object;
  readonly #schedule: FaultSchedule;
  readonly #methods = new Map<string, Method>();
  readonly #counts = new Map<string, number>();
  #calls = 0;
  /** Calls that the underlying store has received or will receive. */
  readonly #underWay = new Set<Promise<unknown>>();
  #death: StoreError | undefined;
  #closing: Promise<unknown> | undefined;

  constructor(store: object, schedule: FaultSchedule) {
    this.#store = store;
    this.#schedule = schedule;
  }

  /** Returns the same function each time, as a method is. */
  method(operation: string): Method {
    const known = this.#methods.get(operation);
    if (known !== undefined) return known;
    const below: Method = (...args) =>
      (Reflect.get(this.#store, operation) as Method).apply(this.#store, args);
    const method = SYNCHRONOUS.has(operation) ? below : this.#faulty(operation, below);
    this.#methods.set(operation, method);
    return method;
  }

  #faulty(operation: string, below: Method): Method {
    const closes = operation === 'close';
    return async (...args) => {
      if (closes && (this.#death !== undefined || this.#closing !== undefined))
        return this.#close(below);
      if (this.#closing !== undefined) throw closedError();
      if (this.#death !== undefined) throw this.#death;
      const call = this.#count(operation, args);
      const send = async (): Promise<unknown> => (closes ? this.#close(below) : below(...args));
      return this.#perform(call, this.#schedule(call), send);
    };
  }

  #count(operation: string, args: readonly unknown[]): StoreCall {
    const nth = (this.#counts.get(operation) ?? 0) + 1;
    this.#counts.set(operation, nth);
    this.#calls += 1;
    return { n: this.#calls, operation, nth, args };
  }

  async #perform(
    call: StoreCall,
    fault: StoreFault | undefined,
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    switch (fault?.kind) {
      case undefined:
        return this.#answer(call, this.#track(call, send()));
      case 'delay':
        return this.#answer(call, this.#late(call, fault, send));
      case 'fails':
        throw injectedError(call, 'nothing was done');
      case 'lost':
        return doubtful(call, injectedError(call, 'it never arrived'));
      case 'reply_lost':
        await Promise.allSettled([this.#track(call, send())]);
        return doubtful(call, injectedError(call, 'the answer was lost'));
      case 'fails_after':
        await Promise.allSettled([this.#track(call, send())]);
        throw injectedError(call, 'it was done anyway');
      case 'conflict':
        if (call.operation === 'commit') return falseConflict(call.args[0] as Batch);
        if (call.operation === 'sidePut') return false;
        throw injectedError(call, 'nothing was done');
      case 'torn':
        this.#death = new StoreError(
          'store_poisoned',
          `The ${call.operation} was torn. Open the store again, and check unknown commits with resolve(id).`,
        );
        if (fault.sent) this.#track(call, send()).catch(() => undefined);
        return doubtful(call, this.#death);
    }
  }

  async #late(
    call: StoreCall,
    { sending, answering }: { sending: number; answering: number },
    send: () => Promise<unknown>,
  ): Promise<unknown> {
    const way = async (): Promise<unknown> => {
      // Callers see the store as closed from the call on.
      if (call.operation !== 'close') await turns(sending);
      // The handle died before the call was sent: it is never sent.
      if (this.#death !== undefined) throw this.#death;
      const sent = send();
      await Promise.allSettled([sent]);
      await turns(answering);
      return sent;
    };
    return this.#track(call, way());
  }

  /** The store's answer; in doubt if the handle has died in the meantime. */
  async #answer(call: StoreCall, answer: Promise<unknown>): Promise<unknown> {
    const [settled] = await Promise.allSettled([answer]);
    if (this.#death !== undefined && call.operation !== 'close') return doubtful(call, this.#death);
    if (settled.status === 'rejected') throw settled.reason;
    return settled.value;
  }

  // `close` waits for the other calls and cannot be one of them. Calls that wait for a lease, a
  // membership or pages last until then.
  #track<T>(call: StoreCall, sent: Promise<T>): Promise<T> {
    if (ENDED_BY_CLOSING.has(call.operation)) return sent;
    this.#underWay.add(sent);
    const done = (): boolean => this.#underWay.delete(sent);
    sent.then(done, done);
    return sent;
  }

  #close(below: Method): Promise<unknown> {
    this.#closing ??= (async () => {
      while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
      return below();
    })();
    return this.#closing;
  }
}

async function turns(count: number): Promise<void> {
  for (let n = 0; n < count; n += 1) await turn();
}

/** The outcome is unknown. Only a commit has a result for that. */
function doubtful({ operation }: StoreCall, cause: StoreError): CommitResult {
  if (operation === 'commit') return { status: 'unknown', cause };
  throw cause;
}

function falseConflict({ entries }: Batch): CommitResult {
  const [row] = entries;
  return row === undefined
    ? { status: 'committed' }
    : { status: 'conflict', trajectory_id: row.trajectory_id, seq: row.seq };
}

function injectedError({ operation, n }: StoreCall, what: string): StoreError {
  return new StoreError('store_failed', `Injected at call ${n}, ${operation}: ${what}.`, {
    evidence: { operation, n },
    retryable: true,
  });
}

function closedError(): StoreError {
  return new StoreError('store_closed', 'The faulty store is closed. Open another one.');
}
