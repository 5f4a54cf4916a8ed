import type { Json } from '#canon';
import {
  type Claim,
  claimTexts,
  covers,
  EffectError,
  effectKey,
  type LoggedEffect,
  type Planned,
  readClaim,
  readTransaction,
  type Tool,
  type Work,
} from '#effects';
import type { Authority } from '#kernel';
import type { BlobRef } from '#ledger';
import type { ObservationInput } from '../intent.ts';
import { Kept } from '../kept.ts';
import { refusalOf, type ToolUse } from './acting.ts';
import type { Held } from './effects.ts';
import type { Prepared, Run } from './run.ts';

/** What a transaction commits with: an action of the domain. */
export interface TransactionIntent {
  readonly action: string;
  readonly role: string | { readonly name: string; readonly params: { readonly [param: string]: string } };
  readonly args: unknown;
}

/** What is asked about every call. */
export interface Asking {
  readonly trajectoryId: string;
  /** The caller's name of the transaction, or one that was made up. */
  readonly name: string;
  /** Whether calls may have been made under that name before. */
  readonly isAgain: boolean;
  readonly authority: () => Authority;
  readonly signal: AbortSignal;
}

/** A transaction as its body has it: what it calls here takes effect together, or is undone. */
export class Transaction {
  readonly epoch: number;
  readonly #held: Held;
  readonly #run: Run;
  readonly #work: Work;
  readonly #asking: Asking;
  readonly #planned: Prepared[] = [];
  readonly #plans: { tool: string; input: Json }[] = [];
  readonly #uses: ToolUse[] = [];
  readonly #observations: ObservationInput[] = [];
  readonly #cost: Record<string, number> = {};
  #intent: TransactionIntent | undefined;
  #calls = 0;
  #isOver = false;
  /** What acts at once acts one after the other, and each plan sees those before. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(held: Held, run: Run, work: Work, asking: Asking) {
    this.epoch = work.epoch;
    this.#held = held;
    this.#run = run;
    this.#work = work;
    this.#asking = asking;
  }

  get planned(): readonly Prepared[] {
    return this.#planned;
  }

  get uses(): readonly ToolUse[] {
    return this.#uses;
  }

  get observations(): readonly ObservationInput[] {
    return this.#observations;
  }

  get cost(): { readonly [unit: string]: number } {
    return this.#cost;
  }

  get intent(): TransactionIntent | undefined {
    return this.#intent;
  }

  /** The state's part: the action that it is committed with. The last one that is said counts. */
  propose(intent: TransactionIntent): void {
    this.#intent = intent;
  }

  /**
   * Uses a tool. What only reads is answered with what it read; what acts at once, with its result; what is held until the
   * commit, with what its tool says that it will be.
   *
   * @throws EffectError `unknown_tool`, `bad_input`, `not_authorised`, `scope_exceeded`, `resource_in_doubt`, `tool_failed`,
   * `outcome_unknown`, `key_collision`, `transaction_over`
   */
  async call(name: string, given: unknown): Promise<any> {
    this.#checkGoesOn();
    const tool = this.#held.ports.tools.get(name);
    if (tool === undefined) {
      const known = [...this.#held.ports.tools.keys()].join(', ') || 'none';
      throw new EffectError('unknown_tool', `There is no tool ${JSON.stringify(name)}; there are ${known}.`);
    }
    const input = tool.parse(given);
    const claims = tool.claims(input);
    const outside = claims.find((claim) => !covers(this.#work.claims, claim));
    if (outside !== undefined) {
      throw new EffectError(
        'scope_exceeded',
        `${name} would ${outside.access} ${outside.scope.text}, which the transaction has not claimed; claim it, or expand.`,
        { evidence: { tool: name, scope: outside.scope.text, access: outside.access } },
      );
    }
    this.#authorise(tool, input, claims);
    const ordinal = this.#calls++;
    if (tool.class === undefined) return this.#read(tool, input, claims, ordinal);
    if (tool.class.delivery === 'buffered') return this.#inTurn(() => this.#plan(tool, input, claims, ordinal));
    return this.#inTurn(() => this.#act(tool, input, claims, ordinal));
  }

  /**
   * Claims more.
   * @throws EffectError `stale` where somebody younger has acted there already, `resource_in_doubt`
   */
  expand(more: { readonly reads?: readonly string[]; readonly writes?: readonly string[] }): void {
    this.#checkGoesOn();
    const claims = claimsFrom(more);
    this.#held.checkDoubts(claims);
    const stale = this.#held.coordinator.expand(this.#work, claims);
    if (stale === undefined) return;
    throw new EffectError(
      'stale',
      `Transaction ${stale.by}, which is younger than ${stale.epoch}, has acted at ${stale.claim.scope.text} already; begin anew.`,
      { evidence: { epoch: stale.epoch, by: stale.by, scope: stale.claim.scope.text }, retryable: true },
    );
  }

  /** Its body is done, or is no longer waited for. */
  end(): Promise<unknown> {
    this.#isOver = true;
    return this.#last;
  }

  #checkGoesOn(): void {
    this.#asking.signal.throwIfAborted();
    if (this.#isOver)
      throw new EffectError(
        'transaction_over',
        `Transaction ${this.epoch} has ended; nothing is called in it any more.`,
      );
  }

  #authorise(tool: Tool, input: Json, claims: readonly Claim[]): void {
    const use = { action: tool.name, scopes: claims.map(({ scope }) => scope.text), args: input };
    const refusal = refusalOf(this.#asking.authority(), use, tool.class?.delivery === 'buffered');
    if (refusal !== undefined)
      throw new EffectError('not_authorised', `${tool.name} may not be used so: ${refusal.detail}.`, {
        evidence: { tool: tool.name, reason: refusal.reason },
      });
    this.#uses.push(use);
    for (const [unit, amount] of Object.entries(costOf(tool, input)))
      this.#cost[unit] = (this.#cost[unit] ?? 0) + amount;
  }

  async #read(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    const { coordinator } = this.#held;
    await coordinator.whenClear(this.#work, claims, this.#asking.signal);
    const call = { key: this.#keyOf(ordinal, 0), signal: this.#asking.signal, epoch: this.epoch };
    const value = ((await tool.spec.execute(input as never, call, this.#plans)) ?? null) as Json;
    this.#observations.push({ name: `${tool.name}#${ordinal}`, value });
    return value;
  }

  async #plan(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<unknown> {
    const prepared = this.#prepared(tool, input, claims, await this.#freeKey(ordinal));
    // What its plan looks at is a read like any other: what is older comes first.
    const reads = claims.filter(({ access }) => access === 'read');
    if (reads.length > 0) await this.#held.coordinator.whenClear(this.#work, reads, this.#asking.signal);
    const answer = await tool.spec.plan?.(input as never, this.#plans as Planned);
    this.#planned.push(prepared);
    this.#plans.push({ tool: tool.name, input });
    return answer ?? null;
  }

  async #act(tool: Tool, input: Json, claims: readonly Claim[], ordinal: number): Promise<Json> {
    this.#checkGoesOn();
    const { coordinator } = this.#held;
    await coordinator.whenClear(this.#work, claims, this.#asking.signal);
    this.#checkGoesOn();
    for (const claim of claims) coordinator.acts(this.#work, claim);
    const result = await this.#run.call(this.#prepared(tool, input, claims, await this.#freeKey(ordinal)));
    this.#observations.push({ name: `${tool.name}#${ordinal}`, value: result });
    return result;
  }

  #prepared(tool: Tool, input: Json, claims: readonly Claim[], key: string): Prepared {
    const kept = new Kept(this.#held.ports.random);
    const cost = costOf(tool, input);
    const payload = kept.value({ tool: tool.name, input, claims: claimTexts(claims) as never, cost }, true) as BlobRef;
    const effect: LoggedEffect = { key, tool: tool.name, class: tool.class!, payload };
    return { effect, input, blobs: kept.blobs };
  }

  #keyOf(call: number, generation: number): string {
    const { trajectoryId: trajectory, name: transaction } = this.#asking;
    return effectKey({ trajectory, transaction, call, generation });
  }

  /** The key of the first generation that did nothing, or was undone. @throws EffectError `key_collision` */
  async #freeKey(call: number): Promise<string> {
    for (let generation = 0; ; generation++) {
      const key = this.#keyOf(call, generation);
      if (!this.#asking.isAgain) return key;
      const used = await this.#held.ports.store.effectKey(key);
      if (used === undefined) return key;
      const logged = await this.#held.ports.store.effectsOf(used.epoch);
      const phase = logged && readTransaction(logged).state.effects[used.n]?.phase;
      if (phase === 'undone' || phase === 'dropped') continue;
      throw new EffectError(
        'key_collision',
        `Call ${call} of ${this.#asking.name} was made by transaction ${used.epoch}, and is ${phase}; it is not made again.`,
        { evidence: { key, epoch: used.epoch, phase } },
      );
    }
  }

  #inTurn<T>(step: () => Promise<T>): Promise<T> {
    const done = this.#last.then(step, step);
    this.#last = done.catch(() => undefined);
    return done;
  }
}

function costOf(tool: Tool, input: Json): { readonly [unit: string]: number } {
  return tool.spec.cost?.(input as never) ?? {};
}

/** @throws AuthorityError `bad_resource` */
export function claimsFrom(given: {
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
}): Claim[] {
  return [
    ...(given.reads ?? []).map((scope) => readClaim('read', scope)),
    ...(given.writes ?? []).map((scope) => readClaim('write', scope)),
  ];
}
