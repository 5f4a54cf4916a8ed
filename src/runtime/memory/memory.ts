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

/** Where something is remembered, and by whose authority. */
export interface MemoryOptions {
  /** What keeps tenants apart: nothing is ever compared across it. */
  readonly space: string;
  /** For the action `assize.believe` and `memory:space:subject:predicate` of what is said. */
  readonly writ: Hash | Writ | WritChain;
  /** Who says it. Default: the writ's subject. */
  readonly principal?: string;
}

/** What comes with what is said, as with any proposal. */
export interface SayingOptions {
  readonly idempotencyKey?: string;
  readonly observations?: readonly ObservationInput[];
}

type Without<Said, Verb extends Saying['verb']> = Said extends { readonly verb: Verb }
  ? Omit<Said, 'verb' | 'space'>
  : never;

/** That something is so, in a period; without one from now on. */
export type AssertInput = Without<Saying, 'assert'>;
/** That something has become different, from an instant on; without one from now on. */
export type ChangeInput = Without<Saying, 'change'>;
/** That something was recorded wrongly in a period, and how it was. */
export type CorrectInput = Without<Saying, 'correct'>;
/** That something is not believed any more, of a period. */
export type RetractInput = Without<Saying, 'retract'>;

/** What is to be erased, why, and by whose authority. */
export interface ForgetInput extends Omit<BelievedPlace, 'space'> {
  /** Stays in the ledger for good. */
  readonly reason: string;
  /** For the action `assize.erase` and `erase:memory:SPACE`. Default: that of the memory, with its principal. */
  readonly writ?: ErasureInput['writ'];
  readonly principal?: string;
}

const MEMORY_OPTIONS = form.options<MemoryOptions>({ space: form.any, writ: form.any, principal: form.any });
const SAYING_OPTIONS = form.options<SayingOptions>({ idempotencyKey: form.any, observations: form.any });
const FORGET_INPUT = form.only(['subject', 'predicate', 'claim', 'reason', 'writ', 'principal'], ['subject', 'reason']);

/** What a memory needs of its trajectory, to write. */
export interface MemoryActs {
  readonly domain: Declaring;
  readonly propose: (input: ProposalInput) => Promise<Ruling>;
  readonly erase: (input: ErasureInput) => Promise<ErasureRuling>;
  /** Whether a claim was committed, where the trajectory sees it. */
  readonly has: (claim: Extract<Saying, { verb: 'assert' }>) => Promise<boolean>;
}

/**
 * What is believed in one space, to read and to write: in a branch its own memory, which nobody else sees but who comes of it. What is said is a proposal of `assize.believe`: ruled on like any, and one entry
 * of the trajectory. A refusal is an answer. What can't be said at all is not even proposed: it is an error, with
 * nothing written (`sayable.ts`).
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

  /** It is so. What contradicts it is settled as the predicate declares. @throws as `assertMany` */
  assert(claim: AssertInput, options?: SayingOptions): Promise<Ruling> {
    return this.assertMany([claim], options);
  }

  /**
   * Many at once, of one commit: no order is between them.
   *
   * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`, `reversed_period`, `unknown_predicate`,
   * `unknown_strategy`, `strategy_not_allowed`; as `Trajectory.propose`; ArgumentError `bad_argument`
   */
  async assertMany(claims: readonly AssertInput[], options?: SayingOptions): Promise<Ruling> {
    requireForm(form.list(form.object), claims, 'claims');
    return this.#say(
      claims.map((claim, i) => this.#sayable('assert', claim, `claims.${i}`)),
      options,
    );
  }

  /**
   * Whether this very claim was committed before, from the same source, so that to assert it again would change nothing: also where it lost,
   * or is not believed any more. Without a source it never was: it is another claim each time.
   *
   * @throws as `assertMany`
   */
  async wasAsserted(claim: AssertInput): Promise<boolean> {
    requireForm(form.object, claim, 'claim');
    return this.#acts.has(this.#sayable('assert', claim, 'claim'));
  }

  /** From then on it is so; until then what was believed stays so. @throws as `assertMany` */
  async change(change: ChangeInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, change, 'change');
    return this.#say([this.#sayable('change', change, 'change')], options);
  }

  /**
   * In that period it was recorded wrongly, and is so: nothing contradicts, and nobody is asked. With `was` only where that object is believed,
   * and where it is nowhere, nothing is changed.
   * @throws as `assertMany`
   */
  async correct(correction: CorrectInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, correction, 'correction');
    return this.#say([this.#sayable('correct', correction, 'correction')], options);
  }

  /** In that period it is not believed; it remains as of before. @throws as `assertMany` */
  async retract(retraction: RetractInput, options?: SayingOptions): Promise<Ruling> {
    requireForm(form.object, retraction, 'retraction');
    return this.#say([this.#sayable('retract', retraction, 'retraction')], options);
  }

  /**
   * What was said of a subject, of one predicate of it or by one claim is gone, from every version: as `Trajectory.erase`, with what it says
   * of others. A member that there is not, or that is undefined, is refused, and nothing is erased: without a predicate all of the subject
   * would be gone.
   *
   * @throws as `Trajectory.erase`; ArgumentError `bad_argument`
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
