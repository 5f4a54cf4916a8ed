import { deepFreeze, type Json } from '#base';
import { copyJson } from '#canon';
import { type Claim, EffectError, type PlannedCalls, type StagedCall, type Tool } from '#effects';
import type { ActionName, Cost, Domain, InputCall, Intent, IntentOf, IsUnknown } from '#kernel';
import type { ObservationInput } from '../../records/intent.ts';
import {
  inputObservation,
  sum,
  type ToolUse,
  toolObservation,
} from '../../records/tool-authority.ts';
import type { PreparedCall } from '../log/call-record.ts';
import { type Costs, NO_COST } from '../log/undo-budget.ts';
import type { Attempt } from './attempt.ts';
import { OptimisticReads } from './optimistic-reads.ts';
import { UnawaitedCalls } from './unawaited.ts';

/** The action of the domain that a transaction commits with. */
export interface TransactionIntent {
  readonly action: string;
  /** Default: the only role of the action's process, if it has no parameters. */
  readonly role?:
    | string
    | { readonly name: string; readonly params: { readonly [param: string]: string } }
    | undefined;
  readonly args: unknown;
}

/** The same in a known domain: one of its actions, with its role and arguments. */
export type TransactionIntentOf<D extends Domain> =
  IsUnknown<D> extends true
    ? TransactionIntent
    : { readonly [Name in ActionName<D>]: IntentOf<D, Name> }[ActionName<D>];

/** A call and its claims. */
interface ClaimedCall {
  readonly tool: Tool;
  readonly input: Json;
  readonly claims: readonly Claim[];
  /** Whether the action declares the call, and the body did not make it. */
  readonly isDeclared?: boolean;
}

/** A call that executed immediately, and the key under which it would be repeated. */
interface ExecutedCall extends ClaimedCall {
  readonly n: number;
  /** The answer. Undefined if it was too long and that was reported to the body. */
  readonly answer: Json | undefined;
  readonly costs: Costs;
  readonly next: string;
}

/**
 * The calls and results that a transaction or one of its branches has gathered for the commit. The
 * parent adopts them (`adopt`) or discards them.
 */
export class Branch {
  readonly attempt: Attempt;
  /** The location among nested branches, '' outside branches. Call names are derived from it. */
  readonly place: string;
  readonly planned: PreparedCall[] = [];
  /** The planned calls with their claims. */
  readonly claimedCalls: ClaimedCall[] = [];
  readonly uses: ToolUse[] = [];
  readonly observations: ObservationInput[] = [];
  /** The calls that executed immediately. */
  readonly executed: ExecutedCall[] = [];
  /** Indexes of all calls that started to execute immediately, including those in doubt. */
  readonly started: number[] = [];
  readonly optimisticReads: OptimisticReads;
  /** The operations that the body of this branch has started. */
  readonly unawaited: UnawaitedCalls;
  cost: Cost = {};
  intent: Intent | undefined;
  /** The tool of the pivot that was called. */
  pivot: Tool | undefined;
  readonly #parent: Branch | undefined;
  /** Its own branches that are neither adopted nor discarded yet. */
  readonly #tried = new Set<Branch>();
  readonly #plans: PlannedCalls[number][] = [];
  readonly #heldCalls: { readonly at: object; readonly call: StagedCall }[] = [];
  /** Number of items in `#plans` and `#heldCalls` that were inherited from the parent. */
  readonly #inherited: { readonly plans: number; readonly held: number };
  #calls = 0;
  #isOver = false;

  constructor(attempt: Attempt, parent?: Branch, place = '') {
    this.attempt = attempt;
    this.place = place;
    this.#parent = parent;
    if (parent !== undefined) parent.#tried.add(this);
    // A branch sees the calls that were planned before its start.
    if (parent !== undefined) this.#plans.push(...parent.#plans);
    if (parent !== undefined) this.#heldCalls.push(...parent.#heldCalls);
    this.#inherited = { plans: this.#plans.length, held: this.#heldCalls.length };
    this.optimisticReads = new OptimisticReads(attempt, parent?.optimisticReads);
    this.unawaited = new UnawaitedCalls(attempt.context.limit);
  }

  /** The next ordinal: each call takes one, and each group of parallel branches takes one. */
  nextCall(): number {
    return this.#calls++;
  }

  /** The location of a call in the whole transaction. */
  pathOf(ordinal: number): number | string {
    return this.place === '' ? ordinal : `${this.place}${ordinal}`;
  }

  /** The branch as the log records it. Undefined outside branches. */
  get id(): string | undefined {
    return this.place === '' ? undefined : this.place.slice(0, -1);
  }

  /** Ends the branch: later calls are refused. */
  end(): void {
    this.#isOver = true;
  }

  /** @throws EffectError `transaction_over`; the signal's reason */
  requireOpen(): void {
    const { attempt } = this;
    attempt.context.signal.throwIfAborted();
    if (this.#hasEnded)
      throw new EffectError(
        'transaction_over',
        `Transaction ${attempt.epoch} has ended and accepts no calls. Start a new transaction.`,
      );
  }

  get #hasEnded(): boolean {
    return this.#isOver || (this.#parent === undefined ? false : this.#parent.#hasEnded);
  }

  charge(cost: Cost): void {
    if (cost !== NO_COST) this.cost = sum(this.cost, cost);
  }

  /** The cost so far, including its parents. */
  get costSoFar(): Cost {
    return this.#parent === undefined ? this.cost : sum(this.#parent.costSoFar, this.cost);
  }

  /** Adds a call that runs at the commit. */
  plan(prepared: PreparedCall, touching: ClaimedCall): void {
    this.planned.push(prepared);
    this.claimedCalls.push(touching);
    this.#plans.push({ tool: touching.tool.name, input: touching.input });
  }

  /**
   * The planned calls so far, including its parents', as tools see them. Frozen, so that no tool
   * can change the calls.
   */
  get plans(): PlannedCalls {
    for (const [i, plan] of this.#plans.entries())
      if (!Object.isFrozen(plan)) this.#plans[i] = shown(plan);
    return [...this.#plans];
  }

  /** The first pivot of this branch and its parents. */
  get firstPivot(): Tool | undefined {
    return this.pivot ?? (this.#parent === undefined ? undefined : this.#parent.firstPivot);
  }

  /**
   * Records a staged write at a sink. Frozen, because later calls receive it and it may have to be
   * repeated.
   */
  stage(at: object, { input, reported, ...call }: StagedCall): void {
    this.#heldCalls.push({
      at,
      call: Object.freeze({ ...call, input: deepFreeze(input), reported: deepFreeze(reported) }),
    });
  }

  /** The staged writes at a sink so far, in call order, including its parents'. */
  stagedAt(at: object): readonly StagedCall[] {
    return this.#heldCalls.filter((each) => each.at === at).map(({ call }) => call);
  }

  /** The changing calls in the order in which the commit records them: executed, then planned. */
  get calls(): readonly InputCall[] {
    const inOrder = this.executed.toSorted((one, other) => one.n - other.n);
    return [
      ...inOrder.map(({ tool, input, answer }) => ({
        tool: tool.name,
        input,
        ...(answer === undefined ? {} : { result: answer }),
      })),
      ...this.claimedCalls.map(({ tool, input, isDeclared }) => ({
        tool: tool.name,
        input,
        ...(isDeclared === true && { isDeclared }),
      })),
    ];
  }

  observe({ name, spec }: Tool, ordinal: number, value: Json): void {
    const sensitive = spec.sensitive === true ? { sensitive: true } : {};
    this.observations.push({
      name: toolObservation(name, this.place, ordinal),
      value,
      ...sensitive,
    });
  }

  /** A read is in no log of effects. Its input is erasable, as the inputs of effects are. */
  observeRead(tool: Tool, ordinal: number, input: Json, value: Json): void {
    const name = inputObservation(tool.name, this.place, ordinal);
    this.observations.push({ name, value: copyJson(input), sensitive: true });
    this.observe(tool, ordinal, value);
  }

  /**
   * The started calls of this branch and of its undecided branches. The body may not have awaited
   * them.
   */
  get allStarted(): readonly number[] {
    return [...this.started, ...[...this.#tried].flatMap((branch) => branch.allStarted)];
  }

  /**
   * Called when the branch is decided: its effects were compensated, or belong to its parent from
   * now on.
   */
  decided(): void {
    if (this.#parent !== undefined) this.#parent.#tried.delete(this);
    this.optimisticReads.decided();
  }

  /** Adopts the calls and results of a chosen branch. */
  adopt(branch: Branch): void {
    this.planned.push(...branch.planned);
    this.claimedCalls.push(...branch.claimedCalls);
    this.#plans.push(...branch.#plans.slice(branch.#inherited.plans));
    this.#heldCalls.push(...branch.#heldCalls.slice(branch.#inherited.held));
    this.uses.push(...branch.uses);
    this.observations.push(...branch.observations);
    this.executed.push(...branch.executed);
    this.started.push(...branch.started);
    this.optimisticReads.adopt(branch.optimisticReads);
    this.attempt.claims.adopt(branch.place, this.place);
    this.cost = sum(this.cost, branch.cost);
    this.intent = branch.intent ?? this.intent;
    this.pivot = branch.pivot ?? this.pivot;
  }
}

function shown({ tool, input }: PlannedCalls[number]): PlannedCalls[number] {
  return Object.freeze({ tool, input: deepFreeze(copyJson(input)) });
}
