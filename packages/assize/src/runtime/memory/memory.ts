import type { Writ } from '#authority';
import { arg, checkArgument } from '#base';
import { BELIEVE_ACTION, BUILT_IN_ROLE, type MemoryStatement } from '#kernel';
import type { Hash } from '#ledger';
import { type FactRow, requireText, restoredIn } from '#memory';
import type { WritChain } from '../authority/writs.ts';
import type { BeliefSelector, ErasureInput, ErasureRuling } from '../records/erasure-input.ts';
import type { ObservationInput, ProposalInput } from '../records/intent.ts';
import type { Ruling } from '../records/ruling.ts';
import { type AssertedEach, assertEach } from './assert-each.ts';
import { type Declaring, validateStatement } from './plan/validate.ts';
import type { PendingClaims } from './plan/withdrawn-sources.ts';
import { type MemoryContext, MemoryView } from './recall/recall.ts';
import type { SupportedFact } from './recall/resting-on.ts';

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
export interface StatementOptions {
  readonly idempotencyKey?: string;
  readonly observations?: readonly ObservationInput[];
}

type Without<Said, Verb extends MemoryStatement['verb']> = Said extends { readonly verb: Verb }
  ? InAnyForm<Omit<Said, 'verb' | 'space'>>
  : never;

/** The same statement with its times in any form of `Time`. The ledger records the `Instant`. */
type InAnyForm<Said> = {
  readonly [Member in keyof Said]: Member extends 'from' | 'to'
    ? Said[Member] | Date
    : Member extends 'valid'
      ? InAnyForm<Said[Member]>
      : Said[Member];
};

/**
 * A fact that is valid in a period; without a period, from now on. With `ends`, the fact no longer
 * holds after the period: earlier facts of the object end too, as the strategy decides.
 */
export type AssertInput = Without<MemoryStatement, 'assert'>;
/** A fact that changes at an instant; without an instant, now. */
export type ChangeInput = Without<MemoryStatement, 'change'>;
/** A fact that was recorded wrongly in a period, with its correct object. */
export type CorrectInput = Without<MemoryStatement, 'correct'>;
/** A fact that no longer holds in a period. */
export type RetractInput = Without<MemoryStatement, 'retract'>;

/** The source to withdraw; of all facts of the space, or of a subject or predicate. */
export interface WithdrawInput {
  readonly source: string;
  readonly subject?: string;
  readonly predicate?: string;
}

export interface Withdrawal {
  /** The facts that rested on the source, and whether each is still believed. */
  readonly facts: readonly SupportedFact[];
  /** The facts that the source had displaced, and that its withdrawal made hold again. */
  readonly restored: readonly FactRow[];
  /**
   * The pending proposals of the trajectory that state facts of the source. After the withdrawal
   * their approval fails with `wrong_state`: reject them.
   */
  readonly pending: readonly Hash[];
  /** Absent if neither a fact nor a pending proposal names the source, so nothing was proposed. */
  readonly ruling?: Ruling;
}

/** The facts to erase, the reason, and the authority. */
export interface ForgetInput extends Omit<BeliefSelector, 'space'> {
  /** The reason; it stays in the ledger permanently. */
  readonly reason: string;
  /**
   * A writ for the action `assize.erase` on `erase:memory:SPACE`. Default: the memory's writ, with
   * its principal.
   */
  readonly writ?: ErasureInput['writ'];
  readonly principal?: string;
}

const MEMORY_OPTIONS = arg.options<MemoryOptions>({
  space: arg.any,
  writ: arg.any,
  principal: arg.any,
});
const SAYING_OPTIONS = arg.options<StatementOptions>({
  idempotencyKey: arg.any,
  observations: arg.any,
});
const EACH_OPTIONS = arg.options<Pick<StatementOptions, 'observations'>>({ observations: arg.any });
const WITHDRAW_INPUT = arg.only(['source', 'subject', 'predicate'], ['source']);
const FORGET_INPUT = arg.only(
  ['subject', 'predicate', 'claim', 'reason', 'writ', 'principal'],
  ['subject', 'reason'],
);

/** The operations of its trajectory that a memory needs to write. */
export interface MemoryPorts {
  readonly domain: Declaring;
  readonly propose: (input: ProposalInput) => Promise<Ruling>;
  readonly erase: (input: ErasureInput) => Promise<ErasureRuling>;
  /** Whether a claim that the trajectory sees was committed. */
  readonly has: (claim: Extract<MemoryStatement, { verb: 'assert' }>) => Promise<boolean>;
  /** The pending proposals that state facts of the source in the space. */
  readonly pendingOf: (of: {
    readonly source: string;
    readonly space: string;
  }) => Promise<readonly PendingClaims[]>;
}

/**
 * The facts of one space, to read and to write. A branch has its own memory, visible only to itself
 * and its descendants. A statement is a proposal of `assize.believe`: adjudicated like any
 * proposal, and one entry of the trajectory. A refusal is a result. An invalid statement is not
 * proposed: it is an error, and nothing is written (`sayable.ts`).
 */
export class Memory extends MemoryView {
  readonly #options: MemoryOptions;
  readonly #acts: MemoryPorts;

  constructor(
    options: MemoryOptions,
    context: MemoryContext,
    acts: MemoryPorts,
    trajectoryId?: string,
  ) {
    checkArgument(MEMORY_OPTIONS, options, 'options');
    super(options.space, context, trajectoryId);
    this.#options = options;
    this.#acts = acts;
    Object.freeze(this);
  }

  /**
   * Asserts a fact. Contradictions are settled as the predicate declares. @throws the errors of
   * `assertMany`
   */
  assert(claim: AssertInput, options?: StatementOptions): Promise<Ruling> {
    return this.assertMany([claim], options);
  }

  /**
   * Asserts several facts in one commit, without an order between them.
   *
   * @throws MemoryError `bad_text`, `bad_confidence`, `no_instant`, `empty_period`,
   * `reversed_period`, `unknown_predicate`, `unknown_strategy`, `strategy_not_allowed`; the errors
   * of `Trajectory.propose`; ArgumentError `bad_argument`
   */
  async assertMany(claims: readonly AssertInput[], options?: StatementOptions): Promise<Ruling> {
    checkArgument(arg.list(arg.object), claims, 'claims');
    return this.#propose(
      claims.map((claim, i) => this.#validate('assert', claim, `claims.${i}`)),
      options,
    );
  }

  /**
   * Asserts facts that stand for themselves, such as those of a message. A fact that must wait for
   * an answer, or that is refused, holds back no other: it is proposed apart. Facts that contradict
   * one another stay together, because one question decides about them. An invalid fact is left out
   * and named.
   *
   * @throws the errors of `Trajectory.propose`; ArgumentError `bad_argument` for other arguments
   */
  assertEach(
    claims: readonly AssertInput[],
    options: Pick<StatementOptions, 'observations'> = {},
  ): Promise<AssertedEach> {
    checkArgument(arg.list(arg.object), claims, 'claims');
    checkArgument(EACH_OPTIONS, options, 'options');
    return assertEach(claims, this.#acts.domain, {
      validate: (claim, argument) => this.#validate('assert', claim, argument),
      propose: (statements) => this.#propose(statements, options),
    });
  }

  /**
   * Whether this exact claim was committed before from the same source, so that asserting it again
   * would change nothing. Also true if the claim lost a contradiction or no longer holds. Always
   * false without a source, because each such assertion is a new claim.
   *
   * @throws the errors of `assertMany`
   */
  async wasAsserted(claim: AssertInput): Promise<boolean> {
    checkArgument(arg.object, claim, 'claim');
    return this.#acts.has(this.#validate('assert', claim, 'claim'));
  }

  /**
   * Changes a fact from an instant on; the earlier period keeps its object. @throws the errors of
   * `assertMany`
   */
  async change(change: ChangeInput, options?: StatementOptions): Promise<Ruling> {
    checkArgument(arg.object, change, 'change');
    return this.#propose([this.#validate('change', change, 'change')], options);
  }

  /**
   * Corrects a fact in a period. A correction contradicts nothing and needs no choice. With `was`,
   * it changes only periods with that object, and nothing if there are none.
   *
   * @throws the errors of `assertMany`
   */
  async correct(correction: CorrectInput, options?: StatementOptions): Promise<Ruling> {
    checkArgument(arg.object, correction, 'correction');
    return this.#propose([this.#validate('correct', correction, 'correction')], options);
  }

  /**
   * Retracts a fact in a period; recalls as of earlier system times still return it. @throws the
   * errors of `assertMany`
   */
  async retract(retraction: RetractInput, options?: StatementOptions): Promise<Ruling> {
    checkArgument(arg.object, retraction, 'retraction');
    return this.#propose([this.#validate('retract', retraction, 'retraction')], options);
  }

  /**
   * Withdraws a source: each current fact loses the statements of the source. A fact without other
   * statements is no longer believed. The same commit restores the facts that the source alone had
   * displaced, each for its period. A correction, a retraction or a choice of a person that stays
   * settles its period. Nothing is erased: recalls as of earlier system times still return the
   * facts, and the commit is on record. The returned facts are those before it.
   *
   * A pending proposal of the trajectory that states a fact of the source can no longer be
   * approved. Withdraw in each trajectory with such a proposal.
   *
   * A statement of the source that is repeated afterwards changes nothing, and a new one is
   * accepted.
   *
   * @throws MemoryError `bad_text`; the errors of `Trajectory.propose`; ArgumentError
   * `bad_argument`
   */
  async withdraw(input: WithdrawInput, options?: StatementOptions): Promise<Withdrawal> {
    checkArgument(WITHDRAW_INPUT, input, 'input');
    checkArgument(arg.optional(SAYING_OPTIONS), options, 'options');
    const { source, ...of } = input;
    requireText(source, 'source');
    const facts = await this.restingOn({ source }, of);
    const isMeant = (one: { readonly subject: string; readonly predicate: string }): boolean =>
      one.subject === (of.subject ?? one.subject) &&
      one.predicate === (of.predicate ?? one.predicate);
    const waiting = (await this.#acts.pendingOf({ source, space: this.space })).filter((each) =>
      each.of.some(isMeant),
    );
    const pending = waiting.map(({ id }) => id);
    const partitions = new Map(
      [
        ...facts.map(({ fact }) => fact),
        ...(await this.lostOf(source, of)),
        ...waiting.flatMap((each) => each.of.filter(isMeant)),
      ].map(({ subject, predicate }) => [
        JSON.stringify([subject, predicate]),
        { subject, predicate },
      ]),
    );
    const statements = [...partitions.values()].map((of) =>
      this.#validate('withdraw', { ...of, source }, 'input'),
    );
    if (statements.length === 0) return { facts, restored: [], pending };
    const ruling = await this.#propose(statements, options);
    const now = await Promise.all([...partitions.values()].map((of) => this.history(of)));
    const restored = ruling.ruling === 'committed' ? restoredIn(now.flat(), ruling.entry.id) : [];
    return { facts, restored, pending, ruling };
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
    checkArgument(FORGET_INPUT, erased, 'erased');
    const own = this.#options;
    const { subject, predicate, claim, reason, writ = own.writ } = erased;
    const { principal = writ === own.writ ? own.principal : undefined } = erased;
    const narrower = {
      ...(predicate !== undefined && { predicate }),
      ...(claim !== undefined && { claim }),
    };
    const beliefs = [{ space: this.space, subject, ...narrower }];
    return this.#acts.erase({
      beliefs,
      reason,
      writ,
      ...(principal !== undefined && { principal }),
    });
  }

  #validate<Verb extends MemoryStatement['verb']>(
    verb: Verb,
    given: object,
    argument: string,
  ): Extract<MemoryStatement, { verb: Verb }> {
    return validateStatement(given, { verb, space: this.space }, this.#acts.domain, argument);
  }

  #propose(sayings: readonly MemoryStatement[], options: StatementOptions = {}): Promise<Ruling> {
    checkArgument(SAYING_OPTIONS, options, 'options');
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
