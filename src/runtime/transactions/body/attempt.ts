import type { Json } from '#base';
import { type Claim, EffectError, type HeldCall, type Tool, type Work } from '#effects';
import type { Authority } from '#kernel';
import type { BlobRow, Hash } from '#ledger';
import type { Held } from '../engine/engine.ts';
import type { TimeLimit } from '../limits/time-limit.ts';
import type { Run } from '../log/advance.ts';
import { Holdings } from '../log/staged-writes.ts';
import { Claims } from './claims.ts';
import { CallKeys } from './idempotency-keys.ts';

/** What is asked about every call. */
export interface Asking {
  readonly trajectoryId: string;
  /** The first entry of that. */
  readonly root: Hash;
  /** The caller's name of the transaction, or one that was made up. */
  readonly name: string;
  /** Whether calls may have been made under that name before: it is the caller's own. */
  readonly isAgain: boolean;
  /** Whether what is held may have been: mostly not, and the commit would say so. */
  readonly isCareful: boolean;
  /** Whether reads do not wait for older writers, and are read again at the gate. */
  readonly isOptimistic: boolean;
  /** All that was claimed on the way, for whoever begins anew. */
  readonly claimed: Claim[];
  readonly authority: () => Authority;
  /** What keeps its writ in the ledger, as far as no entry has brought that yet. */
  readonly unstored: () => readonly BlobRow[];
  /** The kinds of counselors that the domain has. */
  readonly counselors: readonly string[];
  readonly signal: AbortSignal;
  /** Whose signal that is: it is told what is heard of the body. */
  readonly limit: TimeLimit;
}

/**
 * Calls of one transaction that change something, its branches and what did nothing among them. One entry of the ledger lists those that
 * were undone, and has to have room for that: without it the transaction would never end.
 */
export const CALLS_MAX = 2_048;

/** Of what acts at once: who is before it, undefined for nobody, and how it tells those after it that it is over. */
interface Turn {
  readonly before: Promise<void> | undefined;
  readonly over: () => void;
}

/** One attempt at a transaction, with an epoch of its own: what all branches of it have in common. */
export class Attempt {
  readonly held: Held;
  readonly asking: Asking;
  readonly claims: Claims;
  readonly keys: CallKeys;
  /** @experimental Staged SQL may change in any release. */
  readonly holdings = new Holdings();
  #run: Run | undefined;
  #last: Promise<void> | undefined;
  #calls = 0;

  /** Without a run it gets that, and its epoch, by `attach`. */
  constructor(held: Held, run: Run | undefined, work: Work, asking: Asking) {
    this.held = held;
    this.#run = run;
    this.claims = new Claims(held, run, work, asking);
    this.asking = asking;
    this.keys = new CallKeys(held.ports.store, asking);
  }

  /** Its epoch was taken, and its claims are registered. */
  attach(run: Run, work: Work): void {
    this.#run = run;
    this.claims.attach(run, work);
  }

  get run(): Run | undefined {
    return this.#run;
  }

  /** Of one that gets it at its gate, 0 until then. */
  get epoch(): number {
    return this.#run?.epoch ?? 0;
  }

  /** One more call that changes something. @throws EffectError `too_much` */
  count({ name }: Tool): void {
    if (this.#calls >= CALLS_MAX)
      throw new EffectError(
        'too_much',
        `${name} was not called: a transaction changes something by ${CALLS_MAX} calls at most, also by those that did nothing; do the rest in another one.`,
        { evidence: { tool: name, max: CALLS_MAX } },
      );
    this.#calls++;
  }

  checkNames(tool: Tool, input: Json, claims: readonly Claim[]): Promise<void> {
    return this.held.names.checkStill(tool, input, claims, this.asking.signal);
  }

  /** How long that may take is its own limit (`Patience`), and not the silence of the body. */
  async whileActing<T>(act: () => Promise<T>): Promise<T> {
    const { limit } = this.asking;
    limit.waits();
    try {
      return await act();
    } finally {
      limit.goesOn();
    }
  }

  /**
   * What this branch holds, where it was let go for what it has done at once, or undone.
   *
   * @experimental Staged SQL may change in any release.
   * @throws EffectError `stale`
   */
  heldAgain(branch: { heldAt(at: object): readonly HeldCall[] }): Promise<void> {
    const { signal } = this.asking;
    return this.whileActing(() => this.holdings.again((at) => branch.heldAt(at), { signal, epoch: this.epoch }));
  }

  /** What acts at once acts one after the other, and each plan sees those before: the last of these; undefined with none under way. */
  get last(): Promise<void> | undefined {
    return this.#last;
  }

  turn(): Turn {
    const before = this.#last;
    const { promise: last, resolve } = Promise.withResolvers<void>();
    this.#last = last;
    const over = (): void => {
      if (this.#last === last) this.#last = undefined;
      resolve();
    };
    return { before, over };
  }

  /** `turn`: taken before it begins, as it asks code of the host at once, which may call here again. */
  inTurn<T>(step: () => Promise<T>, { before, over } = this.turn()): Promise<T> {
    const done = before === undefined ? step() : before.then(step);
    done.then(over, over);
    return done;
  }
}
