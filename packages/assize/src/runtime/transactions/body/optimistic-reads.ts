import type { Json } from '#base';
import { plainText } from '#canon';
import { type Claim, conflicts, EffectError, type Tool } from '#effects';
import { answerOf } from '../limits/answer-size.ts';
import { withSignal } from '../limits/time-limit.ts';
import type { Attempt } from './attempt.ts';
import type { Look } from './claims.ts';

/** A read value, and the function that reads it again. */
interface OptimisticRead {
  readonly tool: Tool;
  readonly claims: readonly Claim[];
  readonly read: () => Promise<Json>;
  readonly value: Json;
}

/** The optimistic reads of a transaction or branch. They are validated before the commit. */
export class OptimisticReads {
  readonly #attempt: Attempt;
  /** The reads of the parent. */
  readonly #outer: OptimisticReads | undefined;
  /** The reads of the whole transaction and of its undecided branches. */
  readonly #together: Set<OptimisticReads>;
  #all: readonly OptimisticRead[] = [];

  constructor(attempt: Attempt, outer: OptimisticReads | undefined) {
    this.#attempt = attempt;
    this.#outer = outer;
    this.#together = outer === undefined ? new Set() : outer.#together;
    this.#together.add(this);
  }

  get all(): readonly OptimisticRead[] {
    return this.#all;
  }

  /**
   * Reads with the tool now. An optimistic read is validated at the gate. Validation cannot detect
   * a concurrent effect of a branch: the effect can exist at both reads and be compensated later.
   * @throws the errors of the look
   */
  async read(
    tool: Tool,
    claims: readonly Claim[],
    read: () => unknown,
    look: Look | undefined,
  ): Promise<Json> {
    const { isOptimistic, signal } = this.#attempt.context;
    const reading = async (): Promise<Json> => answerOf(tool.name, await withSignal(signal, read));
    const value = await reading();
    look?.check();
    if (isOptimistic) this.#all = [...this.#all, { tool, claims, read: reading, value }];
    return value;
  }

  /**
   * No older transaction is active there and no younger one has started, so this read returns the
   * value at commit.
   * @throws EffectError `stale`
   */
  async validate({ tool, read, value }: OptimisticRead): Promise<void> {
    if (plainText(await read()) === plainText(value)) return;
    throw new EffectError(
      'stale',
      `The result of ${tool.name} has changed since it was read. Start the transaction again.`,
      {
        evidence: { tool: tool.name, epoch: this.#attempt.epoch },
        retryable: true,
      },
    );
  }

  /**
   * Validates reads of a resource before the transaction itself writes to it: at the gate, they
   * would see that write. While the transaction has the claims of the read, only older transactions
   * precede it there. Reads of other branches are unchanged or fail at the gate.
   * @throws EffectError `stale`, `resource_in_doubt`; the signal's reason
   */
  async validateAt(claims: readonly Claim[]): Promise<void> {
    for (const guesses of this.#together) {
      const met = guesses.#all.filter(({ claims: read }) =>
        read.some((one) => claims.some((act) => conflicts(act, one))),
      );
      if (met.length === 0) continue;
      const checking = guesses.#checkNow(met);
      await (this.#isIn(guesses) ? checking : checking.catch(() => undefined));
    }
  }

  async #checkNow(met: readonly OptimisticRead[]): Promise<void> {
    for (const guess of met) {
      await this.#attempt.claims.acquire(async () => undefined, guess.claims);
      await this.validate(guess);
      this.#all = this.#all.filter((each) => each !== guess);
    }
  }

  /** Whether the reads are its own or of one of its parents. */
  #isIn(guesses: OptimisticReads): boolean {
    let each: OptimisticReads | undefined = this;
    while (each !== undefined && each !== guesses) each = each.#outer;
    return each !== undefined;
  }

  /** Called when its branch is decided. */
  decided(): void {
    this.#together.delete(this);
  }

  /** Adopts the reads of a chosen branch. */
  adopt(branch: OptimisticReads): void {
    this.#all = [...this.#all, ...branch.#all];
  }
}
