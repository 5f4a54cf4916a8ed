import type { Json } from '#base';
import { plainText } from '#canon';
import { type Claim, conflicts, EffectError, type Tool } from '#effects';
import { answerOf } from '../limits/answer-size.ts';
import { inTime } from '../limits/time-limit.ts';
import type { Attempt } from './attempt.ts';
import type { Look } from './claims.ts';

/** Something that was read, and how to read it again. */
interface Guess {
  readonly tool: Tool;
  readonly claims: readonly Claim[];
  readonly read: () => Promise<Json>;
  readonly value: Json;
}

/** What a transaction has read, or a branch of it, without waiting for who is older: it is read again before the commit. */
export class Guesses {
  readonly #attempt: Attempt;
  /** Of what it is a branch of. */
  readonly #outer: Guesses | undefined;
  /** Those of the whole transaction, and of its branches that are not decided on. */
  readonly #together: Set<Guesses>;
  #all: readonly Guess[] = [];

  constructor(attempt: Attempt, outer: Guesses | undefined) {
    this.#attempt = attempt;
    this.#outer = outer;
    this.#together = outer === undefined ? new Set() : outer.#together;
    this.#together.add(this);
  }

  get all(): readonly Guess[] {
    return this.#all;
  }

  /**
   * What is read by the tool now; where it does not wait for who is older, it is read again at the gate. What a branch does meanwhile is
   * not found out by that: it may stand when it is read again, and be undone since.
   * @throws as the look does
   */
  async read(tool: Tool, claims: readonly Claim[], read: () => unknown, look: Look | undefined): Promise<Json> {
    const { isOptimistic, signal } = this.#attempt.asking;
    const reading = async (): Promise<Json> => answerOf(tool.name, await inTime(signal, read));
    const value = await reading();
    look?.check();
    if (isOptimistic) this.#all = [...this.#all, { tool, claims, read: reading, value }];
    return value;
  }

  /**
   * Nobody who is older goes on there, and nobody who is younger yet: what is read now is what there is.
   * @throws EffectError `stale`
   */
  async check({ tool, read, value }: Guess): Promise<void> {
    if (plainText(await read()) === plainText(value)) return;
    throw new EffectError('stale', `What ${tool.name} has read is not so any more; begin anew.`, {
      evidence: { tool: tool.name, epoch: this.#attempt.epoch },
      retryable: true,
    });
  }

  /**
   * What was read where it now acts itself is read again before that: at the gate it would find its own act. As long as it has the claims
   * of that read, nobody else changes it after who is older there. What another branch has read is the same then, or is found out at the gate.
   * @throws EffectError `stale`, `resource_in_doubt`; the signal's reason
   */
  async checkAt(claims: readonly Claim[]): Promise<void> {
    for (const guesses of this.#together) {
      const met = guesses.#all.filter(({ claims: read }) =>
        read.some((one) => claims.some((act) => conflicts(act, one))),
      );
      if (met.length === 0) continue;
      const checking = guesses.#checkNow(met);
      await (this.#isIn(guesses) ? checking : checking.catch(() => undefined));
    }
  }

  async #checkNow(met: readonly Guess[]): Promise<void> {
    for (const guess of met) {
      await this.#attempt.claims.enter(async () => undefined, guess.claims);
      await this.check(guess);
      this.#all = this.#all.filter((each) => each !== guess);
    }
  }

  /** Whether these are its own, or of what it is a branch of. */
  #isIn(guesses: Guesses): boolean {
    let each: Guesses | undefined = this;
    while (each !== undefined && each !== guesses) each = each.#outer;
    return each !== undefined;
  }

  /** It was decided on its branch. */
  decided(): void {
    this.#together.delete(this);
  }

  /** Those of a branch are its own from now on. */
  adopt(branch: Guesses): void {
    this.#all = [...this.#all, ...branch.#all];
  }
}
