import type { Writ } from '#authority';
import { form, requireForm } from '#base';
import { BELIEVE_ACTION, BUILT_IN_ROLE, type Saying } from '#kernel';
import type { Hash } from '#ledger';
import type { WritChain } from '../authority/writs.ts';
import type { BelievedPlace } from '../records/believed-place.ts';
import type { ErasureInput, ErasureRuling } from '../records/erasure-input.ts';
import type { ObservationInput, ProposalInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import { type Declaring, sayable } from './plan/validate.ts';
import { type MemoryContext, MemoryView } from './recall/recall.ts';

/** The space of a memory, and the authority to write. */
export interface MemoryOptions {
  /** Separates tenants: facts of different spaces are never compared. */
  readonly space: string;
  /**
   * A writ for the action `assize.believe` on `memory:space:subject:predicate` of the statements.
   */
  readonly writ: Hash | Writ | WritChain;
  /** The asserting principal. Default: the writ's subject. */
  readonly principal?: string;
}

/** Options of a statement, as for any proposal. */
export interface SayingOptions {
  readonly idempotencyKey?: string;
  readonly observations?: readonly ObservationInput[];
}

type Without<Said, Verb extends Saying['verb']> = Said extends { readonly verb: Verb }
  ? Omit<Said, 'verb' | 'space'>
  : never;

/** A fact that is valid in a period; without a period, from now on. */
export type AssertInput = Without<Saying, 'assert'>;
/** A fact that changes at an instant; without an instant, now. */
export type ChangeInput = Without<Saying, 'change'>;
/** A fact that was recorded wrongly in a period, with its correct object. */
export type CorrectInput = Without<Saying, 'correct'>;
/** A fact that no longer holds in a period. */
export type RetractInput = Without<Saying, 'retract'>;

/** The facts to erase, the reason, and the authority. */
export interface ForgetInput extends Omit<BelievedPlace, 'space'> {
  /** The reason; it stays in the ledger permanently. */
  readonly reason: string;
  /**
   * A writ for the action `assize.erase` on `erase:memory:SPACE`. Default: the memory's writ, with
   * its principal.
   */
  readonly writ?: ErasureInput['writ'];
  readonly principal?: string;
}

const MEMORY_OPTIONS = form.options<MemoryOptions>({ space: form.any, writ: form.any, principal: form.any });
const SAYING_OPTIONS = form.options<SayingOptions>({ idempotencyKey: form.any, observations: form.any });
const FORGET_INPUT = form.only(['subject', 'predicate', 'claim', 'reason', 'writ', 'principal'], ['subject', 'reason']);

/** The operations of its trajectory that a memory needs to write. */
export interface MemoryActs {
  readonly domain: Declaring;
  readonly propose: (input: ProposalInput) => Promise<Ruling>;
  readonly erase: (input: ErasureInput) => Promise<ErasureRuling>;
  /** Whether a claim that the trajectory sees was committed. */
  readonly has: (claim: Extract<Saying, { verb: 'assert' }>) => Promise<boolean>;
}

/**
 * The facts of one space, to read and to write. A branch has its own memory, visible only to itself
 * and its descendants. A statement is a proposal of `assize.believe`: adjudicated like any
 * proposal, and one entry of the trajectory. A refusal is a result. An invalid statement is not
 * proposed: it is an error, and nothing is written (`sayable.ts`).
 */
export class Memory extends MemoryView {
  readonly #options: MemoryOptions;
  readonly #acts: MemoryActs;

  constructor(options: MemoryOptions, context: MemoryContext, acts: MemoryActs, trajectoryId?: string) {
    requireForm(MEMORY_OPTIONS, options, 'options');
    super(options.space, context, trajectoryId);
    this.#options = options;
    this.#acts = acts;
  }

  /**
   * Asserts a fact. Contradictions are settled as the predicate declares. @throws the errors of
   * `assertMany`
   */
  assert(claim: AssertInput, options?: SayingOptions): Promise<Ruling> {
    return this.assertMany([claim], options);
  }

  /**
   * Asserts several facts in one commit, without an order between them.
   *
   * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`,
   * `reversed_period`, `unknown_predicate`, `unknown_strategy`, `strategy_not_allowed`; the errors
   * of `Trajectory.propose`; ArgumentError `bad_argument`
   */
  async assertMany(claims: readonly AssertInput[], options?: SayingOptions): Promise<Ruling> {
    requireForm(form.list(form.object), claims, 'claims');
    return this.#say(
      claims.map((claim, i) => this.#sayable('assert', claim, `claims.${i}`)),
      options,
    );
  }

  /**
   * Whether this exact claim was committed before from the same source, so that asserting it again
   * would change nothing. Also true if the claim lost a contradiction or no longer holds. Always
   * false without a source, because each such assertion is a new claim.
   *
   * @throws the errors of `assertMany`
   */
  async wasAsserted(claim: AssertInput): Promise<boolean> {
    requireForm(form.object, claim, 'claim');
    return this.#acts.has(this.#sayable('assert', claim, 'claim'));
  }

  /**
   * Changes a fact from an instant on; the earlier period keeps its object. @throws the errors of
   * `assertMany`
   */
  async change(change: ChangeInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, change, 'change');
    return this.#say([this.#sayable('change', change, 'change')], options);
  }

  /**
   * Corrects a fact in a period. A correction contradicts nothing and needs no choice. With `was`,
   * it changes only periods with that object, and nothing if there are none.
   *
   * @throws the errors of `assertMany`
   */
  async correct(correction: CorrectInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, correction, 'correction');
    return this.#say([this.#sayable('correct', correction, 'correction')], options);
  }

  /**
   * Retracts a fact in a period; recalls as of earlier system times still return it. @throws the
   * errors of `assertMany`
   */
  async retract(retraction: RetractInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, retraction, 'retraction');
    return this.#say([this.#sayable('retract', retraction, 'retraction')], options);
  }

  /**
   * Erases all statements about a subject, about one predicate of a subject, or of one claim, from
   * every version. Same as `Trajectory.erase`, including its answer about other trajectories.
   * Unknown members and undefined members are refused and nothing is erased, because without a
   * predicate the whole subject would be erased.
   *
   * @throws the errors of `Trajectory.erase`; ArgumentError `bad_argument`
   */
  erase(erased: ForgetInput): Promise<ErasureRuling> {
    requireForm(FORGET_INPUT, erased, 'erased');
    const own = this.#options;
    const { subject, predicate, claim, reason, writ = own.writ } = erased;
    const { principal = writ === own.writ ? own.principal : undefined } = erased;
    const narrower = { ...(predicate !== undefined && { predicate }), ...(claim !== undefined && { claim }) };
    const beliefs = [{ space: this.space, subject, ...narrower }];
    return this.#acts.erase({ beliefs, reason, writ, ...(principal !== undefined && { principal }) });
  }

  #sayable<Verb extends Saying['verb']>(verb: Verb, given: object, argument: string): Extract<Saying, { verb: Verb }> {
    return sayable(given, { verb, space: this.space }, this.#acts.domain, argument);
  }

  #say(sayings: readonly Saying[], options: SayingOptions = {}): Promise<Ruling> {
    requireForm(SAYING_OPTIONS, options, 'options');
    const { writ, principal } = this.#options;
    const { idempotencyKey, observations } = options;
    return this.#acts.propose({
      action: BELIEVE_ACTION,
      role: BUILT_IN_ROLE,
      args: { sayings },
      writ,
      ...(principal !== undefined && { principal }),
      ...(idempotencyKey !== undefined && { idempotencyKey }),
      ...(observations !== undefined && { observations }),
    });
  }
}
