import type { Json } from '#base';
import { copyJson } from '#canon';
import { type Claim, EffectError, type HeldCall, type Planned, type Tool } from '#effects';
import type { Cost } from '#kernel';
import type { ObservationInput, ReadIntent } from '../../records/intent.ts';
import { sum, type ToolUse, toolObservation } from '../../records/tool-authority.ts';
import type { Prepared } from '../log/call-record.ts';
import { type Costs, FREE } from '../log/undo-budget.ts';
import type { Attempt } from './attempt.ts';
import { Guesses } from './optimistic-reads.ts';

/** What a transaction commits with: an action of the domain. */
export interface TransactionIntent {
  readonly action: string;
  readonly role: string | { readonly name: string; readonly params: { readonly [param: string]: string } };
  readonly args: unknown;
}

/** A call, and what it touches. */
interface Touching {
  readonly tool: Tool;
  readonly input: Json;
  readonly claims: readonly Claim[];
}

/** A call that acted at once, and the key under which it would be made again. */
interface Acted extends Touching {
  readonly n: number;
  /** Undefined where it was too long, which the body was told. */
  readonly answer: Json | undefined;
  readonly costs: Costs;
  readonly next: string;
}

/**
 * What a transaction has gathered so far for its commit, or a branch of it: what was called here, and what came of that. What it is a
 * branch of takes that over (`adopt`), or is without it.
 */
export class Branch {
  readonly attempt: Attempt;
  /** Where it is among the branches of all above it, '' for what is none: its calls are named so. */
  readonly place: string;
  readonly planned: Prepared[] = [];
  /** What is planned, with what it touches. */
  readonly touching: Touching[] = [];
  readonly uses: ToolUse[] = [];
  readonly observations: ObservationInput[] = [];
  /** What acted at once. */
  readonly acted: Acted[] = [];
  /** Places of all that was to act at once, also of what nobody can tell of. */
  readonly begun: number[] = [];
  readonly guesses: Guesses;
  cost: Cost = {};
  intent: ReadIntent | undefined;
  /** What was called that can be neither undone nor held. */
  pivot: Tool | undefined;
  readonly #parent: Branch | undefined;
  /** Its own branches that nobody has decided on yet. */
  readonly #tried = new Set<Branch>();
  readonly #plans: Planned[number][] = [];
  readonly #heldCalls: { readonly at: object; readonly call: HeldCall }[] = [];
  /** How much of `#plans` and `#heldCalls` was there before it began. */
  readonly #inherited: { readonly plans: number; readonly held: number };
  #calls = 0;
  #isOver = false;

  constructor(attempt: Attempt, parent?: Branch, place = '') {
    this.attempt = attempt;
    this.place = place;
    this.#parent = parent;
    if (parent !== undefined) parent.#tried.add(this);
    // A branch sees what was planned before it began.
    if (parent !== undefined) this.#plans.push(...parent.#plans);
    if (parent !== undefined) this.#heldCalls.push(...parent.#heldCalls);
    this.#inherited = { plans: this.#plans.length, held: this.#heldCalls.length };
    this.guesses = new Guesses(attempt, parent?.guesses);
  }

  /** Its number among the calls here: each tool, and all branches that are tried at once. */
  nextCall(): number {
    return this.#calls++;
  }

  /** Of a call among those of the whole transaction. */
  placeOf(ordinal: number): number | string {
    return this.place === '' ? ordinal : `${this.place}${ordinal}`;
  }

  /** As the log has it; undefined for what is no branch. */
  get id(): string | undefined {
    return this.place === '' ? undefined : this.place.slice(0, -1);
  }

  /** Nothing is called here any more. */
  end(): void {
    this.#isOver = true;
  }

  /** @throws EffectError `transaction_over`; the signal's reason */
  checkGoesOn(): void {
    const { attempt } = this;
    attempt.asking.signal.throwIfAborted();
    if (this.#hasEnded)
      throw new EffectError(
        'transaction_over',
        `Transaction ${attempt.epoch} has ended; nothing is called in it any more.`,
      );
  }

  get #hasEnded(): boolean {
    return this.#isOver || (this.#parent === undefined ? false : this.#parent.#hasEnded);
  }

  charge(cost: Cost): void {
    if (cost !== FREE) this.cost = sum(this.cost, cost);
  }

  /** With what it is a branch of. */
  get costSoFar(): Cost {
    return this.#parent === undefined ? this.cost : sum(this.#parent.costSoFar, this.cost);
  }

  /** What is to be called at the commit. */
  plan(prepared: Prepared, touching: Touching): void {
    this.planned.push(prepared);
    this.touching.push(touching);
    this.#plans.push({ tool: touching.tool.name, input: touching.input });
  }

  /** What is planned by now, as a tool is told of it, with what it is a branch of: frozen, as no tool may change what is called. */
  get plans(): Planned {
    for (const [i, plan] of this.#plans.entries()) if (!Object.isFrozen(plan)) this.#plans[i] = shown(plan);
    return [...this.#plans];
  }

  /** Of this, and of what it is a branch of. */
  get firstPivot(): Tool | undefined {
    return this.pivot ?? (this.#parent === undefined ? undefined : this.#parent.firstPivot);
  }

  /** What was done at a place: frozen, as it is told of there with each call that follows, and may have to be done again. */
  holds(at: object, { input, told, ...call }: HeldCall): void {
    this.#heldCalls.push({ at, call: Object.freeze({ ...call, input: frozen(input), told: frozen(told) }) });
  }

  /** What was done at a place by now, in the order of the calls, with what it is a branch of. */
  heldAt(at: object): readonly HeldCall[] {
    return this.#heldCalls.filter((each) => each.at === at).map(({ call }) => call);
  }

  observe({ name, spec }: Tool, ordinal: number, value: Json): void {
    const sensitive = spec.sensitive === true ? { sensitive: true } : {};
    this.observations.push({ name: toolObservation(name, this.place, ordinal), value, ...sensitive });
  }

  /** The same of this and of its branches that are not over: nobody may have waited for them. */
  get allBegun(): readonly number[] {
    return [...this.begun, ...[...this.#tried].flatMap((branch) => branch.allBegun)];
  }

  /** It is not tried any more: what it did was undone, or is its parent's from now on. */
  decided(): void {
    if (this.#parent !== undefined) this.#parent.#tried.delete(this);
    this.guesses.decided();
  }

  /** What a branch of this has gathered is its own from now on. */
  adopt(branch: Branch): void {
    this.planned.push(...branch.planned);
    this.touching.push(...branch.touching);
    this.#plans.push(...branch.#plans.slice(branch.#inherited.plans));
    this.#heldCalls.push(...branch.#heldCalls.slice(branch.#inherited.held));
    this.uses.push(...branch.uses);
    this.observations.push(...branch.observations);
    this.acted.push(...branch.acted);
    this.begun.push(...branch.begun);
    this.guesses.adopt(branch.guesses);
    this.attempt.claims.adopt(branch.place, this.place);
    this.cost = sum(this.cost, branch.cost);
    this.intent = branch.intent ?? this.intent;
    this.pivot = branch.pivot ?? this.pivot;
  }
}

function shown({ tool, input }: Planned[number]): Planned[number] {
  return Object.freeze({ tool, input: frozen(copyJson(input)) });
}

function frozen(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  for (const inner of Object.values(value)) frozen(inner);
  return Object.freeze(value);
}
