import { writId } from '#authority';
import { isAssizeError, type Json, plainText } from '#canon';
import {
  type Claim,
  claimsOf,
  claimTexts,
  type EffectClass,
  EffectError,
  type EffectPayload,
  isLeft,
  type LoggedEffect,
  nameClaim,
  type Tool,
  type TransactionState,
} from '#effects';
import { type Cost, type Domain, KernelError, PROPOSE_ANEW } from '#kernel';
import { type BlobRef, type CommitPayload, type Hash, isCauseCode, type PendingPayload, readRow } from '#ledger';
import { RuntimeError } from '../errors.ts';
import { badIntent, type ProposalInput, TRANSACTION_KEY } from '../intent.ts';
import type { Proposals } from '../propose.ts';
import { randomHex } from '../random-hex.ts';
import type { Ruling } from '../ruling.ts';
import type { Writer } from '../writer.ts';
import { type Acting, sum } from './acting.ts';
import { type Asking, Attempt } from './attempt.ts';
import { afterMsOf, wishedPauseMs } from './between-tries.ts';
import { blobsOf, type Prepared } from './called.ts';
import { claimsFrom } from './claims.ts';
import type { Effects } from './effects.ts';
import { failureBefore } from './failure.ts';
import type { Begun, Held } from './held.ts';
import { undoCostOf } from './reserved.ts';
import type { Moved, Run } from './run.ts';
import { isPromise, TimeLimit } from './time-limit.ts';
import { Transaction } from './transaction.ts';

/** What a transaction of tools may do, and how long. */
export interface TransactionOptions extends Pick<ProposalInput, 'writ' | 'principal'> {
  /**
   * The caller's own name of it, 1 to 512 characters: the same name again is the same transaction, whatever became of the process,
   * and gets the same ruling. Without one a crash leaves nothing to repeat, and less is written. It stands in the effect log for good,
   * where no erasure reaches it: a number of an order, and no name of a person.
   */
  readonly name?: string;
  /** Resources that it may read and write, as scopes; a call that touches anything else is refused. */
  readonly reads?: readonly string[];
  readonly writes?: readonly string[];
  /** Milliseconds after which it is undone, from begin to gate, also while it waits for others. Default 300,000. */
  readonly deadlineMs?: number;
  /**
   * Milliseconds after which a body is taken for hung, and undone: in which it called nothing here, and nothing that it called came
   * back. Waiting for who is older, and for a tool that acts, does not count. Default: half of the runtime's `holdMs`, a minute.
   */
  readonly idleMs?: number;
  /**
   * `early`: the epoch is taken, and claims are registered, before the body runs. `late`: at the gate, when the body is done; for what
   * is held until the commit, and reads that do not wait. Others wait for it only that long. Default `early`.
   */
  readonly epoch?: 'early' | 'late';
  /**
   * `ordered`: reads wait for older writers, and are what they will be at the commit. `optimistic`: they do not wait, are read again
   * at the gate, and where one has another value then, the transaction begins anew. Default `ordered`, and `optimistic` where the
   * epoch is late.
   */
  readonly reading?: 'ordered' | 'optimistic';
  /**
   * Begins anew so often, with another epoch, where it was stale, or a tool said that it did nothing: then after a pause, as long as the tool
   * asks for, and not where that is longer than `deadlineMs`. Default 3.
   */
  readonly retries?: number;
  readonly signal?: AbortSignal;
}

/** What became of a transaction. */
export interface TransactionOutcome<T> {
  readonly ruling: Ruling;
  /** What the body returned; undefined where the transaction was ruled on before. */
  readonly value: T | undefined;
  readonly epoch: number | undefined;
  /**
   * `settled`: all of it is done, or undone as it came to no commit. `failed`: one failed for good after the commit, and all of it is undone.
   * `person`: an effect of it waits for a person (`effects list`). `waiting`: it waits for what else has to be decided first, or for a
   * process with its tools, or is still at work.
   */
  readonly effects: 'settled' | 'failed' | 'person' | 'waiting';
  /** Where an effect failed for good after the commit: the ruling on what its action does then (`onFailure`). */
  readonly failure?: Ruling;
}

/** A slip of the pen would be passed over, and a time limit with it. */
const OPTIONS: ReadonlySet<string> = new Set<keyof TransactionOptions>([
  'deadlineMs',
  'epoch',
  'idleMs',
  'name',
  'principal',
  'reading',
  'reads',
  'retries',
  'signal',
  'writ',
  'writes',
]);

const DEADLINE_MS = 300_000;
const RETRIES = 3;
const NAME_MAX = 512;

/** Transactions of tools on one trajectory: their state's part and their effects are one proposal (DESIGN §2, §9). */
export class Transactions {
  readonly #writer: Writer;
  readonly #proposals: Proposals;

  constructor(writer: Writer, proposals: Proposals) {
    this.#writer = writer;
    this.#proposals = proposals;
  }

  async run<T>(options: TransactionOptions, body: (tx: Transaction) => Promise<T> | T): Promise<TransactionOutcome<T>> {
    const effects = this.#effects();
    const claims = checked(options, body);
    const { retries = RETRIES } = options;
    const { random } = this.#writer.around;
    const deadlineMs = options.deadlineMs ?? DEADLINE_MS;
    let isCareful = false;
    const claimed = [...claims];
    for (let tries = 0; ; ) {
      // One that is made up for the attempt alone: no sink takes another one for it.
      const name = options.name ?? randomHex(random, 16);
      const turn = effects.inFlight.turn();
      if (turn !== undefined) await turn;
      try {
        const limit = new TimeLimit(deadlineMs, options.signal);
        // With all that it came to claim: or else those who claim late might make each other stale for ever.
        const attempt = { name, isCareful, claimed, limit };
        return await effects.attend(limit, () => this.#attempt(effects, options, attempt, body));
      } catch (error) {
        if (isCollision(error) && !isCareful) isCareful = true;
        else if (isWorthAnother(error) && tries < retries) {
          tries++;
          await this.#pause(effects, tries, error, deadlineMs, options.signal);
        } else throw error;
      }
    }
  }

  /** Before it is begun anew because a tool did nothing: by then nothing of it stands, and nobody waits for it. */
  async #pause(
    effects: Effects,
    times: number,
    error: EffectError,
    deadlineMs: number,
    signal: AbortSignal | undefined,
  ): Promise<void> {
    // What is stale has to be read again, and that can be done at once.
    if (error.code !== 'tool_failed') return;
    // Whoever has asked for it would not wait so long for an attempt of it, and may do so without it.
    if (afterMsOf(error.cause) > deadlineMs) throw error;
    const wished = wishedPauseMs(times, error.cause);
    const [from, to] = [Math.min(wished, deadlineMs), Math.min(2 * wished, deadlineMs)];
    const { pause } = this.#writer.around;
    const limit = new TimeLimit(deadlineMs, signal);
    // Who closes ends it, too; then nothing is begun anew.
    await effects.attend(limit, () => pause(from, to, limit.signal));
  }

  #effects(): Effects {
    const { effects } = this.#writer.around;
    if (effects !== undefined) return effects;
    throw new RuntimeError(
      'bad_option',
      'There are no tools here; open the runtime with `tools`, over a store that keeps an effect log.',
    );
  }

  async #attempt<T>(
    effects: Effects,
    options: TransactionOptions,
    { name, isCareful, claimed, limit }: Pick<Asking, 'name' | 'isCareful' | 'claimed' | 'limit'>,
    body: (tx: Transaction) => Promise<T> | T,
  ): Promise<TransactionOutcome<T>> {
    const { signal } = limit;
    const holding = limit.bound(() => effects.held(signal), notBegun);
    const held = isPromise(holding) ? await holding : holding;
    const naming = limit.bound(() => held.names.of(claimed, signal), notBegun);
    const resources = isPromise(naming) ? await naming : naming;
    const { id, parts } = this.#writer;
    const writ = parts.writs.present(options.writ);
    const principal = options.principal ?? writ.writ.subject;
    const named = options.name === undefined ? undefined : nameClaim({ trajectory: id, transaction: name });
    const claims = named === undefined ? resources : [named, ...resources];
    const isAgain = named !== undefined;
    const begin = (all: readonly Claim[]) => {
      const body = { claims: claimTexts(all), principal, transaction: name, writ_id: writId(writ.writ) };
      return held.begin(id, all, body, isAgain);
    };
    const isLate = options.epoch === 'late';
    const isOptimistic = isLate || options.reading === 'optimistic';
    const beginning = isLate ? undefined : begin(claims);
    let begun: Begun | undefined = isPromise(beginning) ? await beginning : beginning;
    const authority = () => this.#writer.authority(writ, principal, this.#writer.now());
    const asking = {
      trajectoryId: id,
      root: parts.chain.root,
      name,
      isAgain,
      isCareful,
      isOptimistic,
      claimed,
      authority,
      unstored: () => this.#writer.parts.writs.unstored(writ),
      counselors: Object.keys(parts.domain.counselors),
      signal,
      limit,
    };
    // One that is late has its claims to itself, and no epoch.
    const work = begun?.work ?? { epoch: 0, claims: [...claims] };
    const tx = new Transaction(new Attempt(held, begun?.run, work, asking));
    // Whoever has that name, here or in another process, is waited for: then it has a ruling, or has done nothing.
    const ruledBefore = (): Promise<Ruling | undefined> | undefined =>
      named === undefined ? undefined : this.#ruledBefore(held, begun, named, { name, principal, signal });
    let done: Done<T>;
    try {
      const asked = limit.bound(ruledBefore, stopped);
      let before = isPromise(asked) ? await asked : asked;
      if (before !== undefined) return await this.#asBefore(held, begun, before, { named, principal });
      held.checkDoubts(claims);
      limit.attend(options.idleMs ?? effects.idleMs);
      const value = await limit.bound(() => tx.run(body), stopped);
      const last = tx.end();
      if (last !== undefined) await last;
      if (begun === undefined) {
        begun = await begin(tx.claims);
        tx.attach(begun.run, begun.work);
        limit.waits();
        before = await limit.bound(ruledBefore, stopped);
        limit.goesOn();
        if (before !== undefined) return await this.#asBefore(held, begun, before, { named, principal });
      }
      const entering = limit.bound(() => tx.enter(), stopped);
      if (entering !== undefined) await entering;
      limit.unattend();
      done = { value, ruling: await this.#commit(options, tx, begun.run) };
    } catch (error) {
      await tx.holdings.end();
      await tx.end();
      if (isForTheLogToSay(error)) await effects.beginAnew(held);
      else if (begun !== undefined) await this.#undo(held, begun, causeOf(error));
      throw error;
    } finally {
      limit.end();
    }
    return this.#ruled(held, begun, tx, done);
  }

  /** The ruling that its name has got, when nobody goes on under that any more. */
  async #ruledBefore(
    held: Held,
    begun: Begun | undefined,
    named: Claim,
    { name, principal, signal }: { readonly name: string; readonly principal: string; readonly signal: AbortSignal },
  ): Promise<Ruling | undefined> {
    if (begun !== undefined) await held.coordination.whenClear(begun.work, [named], signal);
    return this.#proposals.ruledUnder(keyOf(name), principal);
  }

  async #commit(options: TransactionOptions, tx: Transaction, run: Run): Promise<Ruling> {
    const { writ, principal, name } = options;
    const { intent, observations } = tx;
    if (intent === undefined)
      throw badIntent(
        'the body of a transaction says with `propose` what it commits with, and this one returned without; what it did is undone',
      );
    if (typeof intent !== 'object' || intent === null) throw badIntent('what a transaction proposes is an object');
    // Nothing else that may come with it: it may be what a model has said, and its calls were authorised as the options say.
    const { action, role, args } = intent;
    const idempotencyKey = name === undefined ? undefined : keyOf(name);
    const input = { writ, principal, idempotencyKey, action, role, args, observations };
    run.hasOnFailure = hasOnFailure(this.#writer.parts.domain, action);
    run.holdings = tx.holdings;
    const acting = actingOf(run, tx.planned, tx);
    const ruling = await this.#proposals.propose(
      input,
      run.standing.length === 0 ? acting : { ...acting, parked: () => parkedOf(acting, tx.again(), tx.planned) },
    );
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) run.committed(ruling.entry.id, tx.planned);
    if (ruling.ruling === 'rejected' || ruling.ruling === 'escalated') run.undoneBy(ruling.entry.id, ruling.ruling);
    return ruling;
  }

  async #ruled<T>(
    held: Held,
    { run, work }: Begun,
    tx: Transaction,
    { value, ruling }: Done<T>,
  ): Promise<TransactionOutcome<T>> {
    const { epoch } = work;
    if (ruling.ruling === 'committed' && run.isRuledBy(ruling.entry.id)) {
      const finished = held.finish(run);
      const effects = endOf(run, await (tx.holdings.areNone ? finished : tx.holdings.ended(finished)));
      const { ruledOnFailure: failure } = run;
      return failure === undefined ? { value, ruling, epoch, effects } : { value, ruling, epoch, effects, failure };
    }
    await tx.holdings.end();
    const end = await this.#undo(held, { run, work }, ruling.ruling);
    // Another process has taken this over, and was ruled on before.
    if (ruling.ruling === 'committed') return { value: undefined, ruling, epoch: undefined, effects: undoneTo(end) };
    const waits = ruling.ruling === 'escalated' && tx.planned.length + tx.acted > 0;
    return { value, ruling, epoch, effects: waits && end === 'ended' ? 'waiting' : undoneTo(end) };
  }

  /** It was ruled on before: nothing is begun. */
  async #asBefore(
    held: Held,
    begun: Begun | undefined,
    ruling: Ruling,
    { named, principal }: { readonly named: Claim | undefined; readonly principal: string },
  ): Promise<TransactionOutcome<never>> {
    const state = await this.#stateBefore(held, ruling);
    const failure = await this.#failureOf(ruling, principal, state);
    const doubt = named === undefined ? undefined : held.coordination.doubtAt(named);
    const effects = doubt === undefined ? endedBefore(ruling, state) : leftTo(await held.stateAt(doubt));
    if (begun !== undefined) held.drop(begun.work);
    const before = { ruling, value: undefined, epoch: undefined, effects } as const;
    return failure === undefined ? before : { ...before, failure };
  }

  /** What became of its effects, by the log: what was approved is at work under no name of the caller's. */
  async #stateBefore(held: Held, ruling: Ruling): Promise<TransactionState | undefined> {
    if (ruling.ruling !== 'committed') return undefined;
    const [named] = (readRow(ruling.entry).payload as CommitPayload).delta.effects;
    if (named === undefined) return undefined;
    await held.told();
    return held.stateOf(named.id);
  }

  async #failureOf(
    ruling: Ruling,
    principal: string,
    state: TransactionState | undefined,
  ): Promise<Ruling | undefined> {
    if (ruling.ruling !== 'committed' || state?.failing === undefined) return undefined;
    return failureBefore(this.#proposals, ruling.entry.id, state.failing.refusals, principal);
  }

  async #undo(held: Held, { run, work }: Begun, cause: string): Promise<Moved> {
    if (!run.isLogged) {
      held.drop(work);
      return 'ended';
    }
    return held.finish(run, cause);
  }
}

/** A body that has returned, and the ruling on what it proposed. */
interface Done<T> {
  readonly value: T;
  readonly ruling: Ruling;
}

/** What became of the effects of what was committed. */
function endOf({ state }: Run, end: Moved): TransactionOutcome<never>['effects'] {
  if (end !== 'ended') return end === 'person' ? 'person' : 'waiting';
  return state.failing === undefined ? 'settled' : 'failed';
}

/** What became of the effects of what was ruled on before, and has left nothing. */
function endedBefore(ruling: Ruling, state: TransactionState | undefined): TransactionOutcome<never>['effects'] {
  if (ruling.ruling === 'escalated') return 'waiting';
  if (state === undefined) return 'settled';
  if (state.phase === 'settled') return state.failing === undefined ? 'settled' : 'failed';
  return leftTo(state);
}

/** What is not over waits for a person where one of its effects does, and else for something that is none of theirs. */
function leftTo(state: TransactionState | undefined): 'person' | 'waiting' {
  return state?.effects.some(({ phase }) => isLeft(phase)) === true ? 'person' : 'waiting';
}

/** What became of the effects of what is undone. */
function undoneTo(end: Moved): 'settled' | 'person' | 'waiting' {
  if (end === 'ended') return 'settled';
  return end === 'person' ? 'person' : 'waiting';
}

/** What is no name of an action is for the proposal to refuse. */
function hasOnFailure(domain: Domain, action: unknown): boolean {
  return typeof action === 'string' && domain.actions[action]?.onFailure !== undefined;
}

/** What waits with a proposal that was put up for approval, as what its commit will bring. */
export interface TakenUp {
  /** As it would be committed now: with what undoing costs of what is still to be called again. */
  readonly acting: Acting;
  /** Whether something had acted at once when it was put up that was not called again yet. */
  readonly owesCalls: boolean;
  /**
   * Calls that again: not before all but that is as the commit needs it, and whoever approves it may. `check` throws where that is not so
   * any more, and is asked before each call, with nothing in between. What has done otherwise once is not called another time.
   * @throws KernelError `changed_since` where it does otherwise than it did; what `check` throws
   */
  again(check: () => void): Promise<void>;
  /** To be called when the commit is durable. */
  committed(entry: Hash): Promise<void>;
  /** To be called when it is not to be, after all; with what was thrown, if something was. */
  drop(error?: unknown): Promise<void>;
}

/** Takes up the effects of what was approved: a new attempt, with an epoch of its own (decisions §5.5). */
export async function takeUp(
  effects: Effects,
  trajectoryId: string,
  domain: Domain,
  pending: PendingPayload,
): Promise<TakenUp> {
  const held = await effects.held();
  const { proposal } = pending;
  const prepared = await Promise.all(
    proposal.delta.effects.map(({ id, effect }) => preparedFrom(held, id, effect as BlobRef)),
  );
  const claims = prepared.flatMap((each) => each.claims);
  const name = prepared[0]?.name;
  const body = {
    claims: claimTexts(claims),
    ...(name === undefined ? {} : { name }),
    principal: '',
    transaction: proposal.proposal_id,
    writ_id: proposal.writ_id,
  };
  const { run, work } = await held.begin(trajectoryId, claims, body, true);
  run.hasOnFailure = hasOnFailure(domain, proposal.action.name);
  try {
    await held.enter(work);
    for (const each of prepared) await each.checkNames();
  } catch (error) {
    held.drop(work);
    throw error;
  }
  const planned = prepared.filter(({ answer }) => answer === undefined);
  const acted = prepared.filter(({ answer }) => answer !== undefined);
  const cost = prepared.reduce((total, each) => sum(total, each.cost), {});
  /** So many of what had acted were called again, and answered the same. */
  let called = 0;
  let failure: unknown;
  return {
    get acting() {
      const acting = actingOf(run, planned, { uses: [], cost });
      const undoCost = acted.slice(called).reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {});
      return { ...acting, undoCost: sum(acting.undoCost, undoCost) };
    },
    get owesCalls() {
      return called < acted.length;
    },
    again: async (check) => {
      for (const { effect } of acted.slice(called)) {
        const used = await held.ports.store.effectKey(effect.key);
        if (used === undefined || used.epoch === run.epoch) continue;
        throw otherwise(effect.tool, `transaction ${used.epoch} had called it again before, and came to nothing`);
      }
      while (called < acted.length) {
        if (failure !== undefined) throw failure;
        check();
        try {
          await callAgain(run, acted[called]!);
        } catch (error) {
          failure = error;
          throw error;
        }
        called++;
      }
    },
    committed: async (entry) => {
      run.committed(entry, planned);
      await held.finish(run);
    },
    drop: async (error) => {
      if (isForTheLogToSay(error)) await effects.beginAnew(held);
      else if (run.isLogged) await held.finish(run, error === undefined ? 'expired' : causeOf(error));
      else held.drop(work);
    },
  };
}

/** @throws KernelError `changed_since`; EffectError `tenure_lost` */
async function callAgain(run: Run, { effect, input, blobs, answer }: PutUp): Promise<void> {
  let result: Json;
  try {
    ({ result } = await run.call({ effect, input, blobs }));
  } catch (error) {
    if (!(error instanceof EffectError) || error.code === 'tenure_lost') throw error;
    throw otherwise(effect.tool, error.message, error);
  }
  if (plainText(result) !== plainText(answer!)) throw otherwise(effect.tool, 'it answers otherwise than it did then');
}

/** What was approved rests on what a tool did, and that can't be had again. */
function otherwise(tool: string, why: string, cause?: unknown): KernelError {
  return new KernelError(
    'changed_since',
    `${tool} had acted before this was put up, and was called again for its approval: ${why.replace(/\.$/, '')}. It is not called under the same key once more, also where it did nothing. ${PROPOSE_ANEW}.`,
    { evidence: { tool }, cause },
  );
}

/** A call that waits, read back. */
interface PutUp extends Prepared {
  readonly claims: Claim[];
  readonly checkNames: () => Promise<void>;
  readonly cost: Cost;
  /** What it had answered, where it had acted at once. */
  readonly answer: Json | undefined;
  /** The caller's name of its transaction. */
  readonly name: string | undefined;
}

async function preparedFrom(held: Held, key: Hash, payload: BlobRef): Promise<PutUp> {
  const text = await held.ports.blob(payload.$blob);
  if (text === undefined)
    throw new RuntimeError(
      'erased',
      `What the effect ${key} was to do was erased, so it can't be approved; reject it.`,
    );
  const { value } = JSON.parse(text) as { value: EffectPayload };
  const tool = held.ports.tools.get(value.tool);
  if (tool?.class === undefined)
    throw new EffectError(
      'unknown_tool',
      `This needs the tool ${value.tool}, which is not here; open the runtime with it.`,
    );
  if (value.class !== undefined && plainText(value.class) !== plainText(tool.class)) throw reclassed(tool, value.class);
  return {
    effect: { key, tool: tool.name, class: tool.class, payload, ...undoCostOf(tool, value.input) },
    input: value.input,
    blobs: [],
    // As they were authorised: who approves has not seen what would be touched under other names by now.
    claims: claimsOf(value),
    checkNames: () => held.names.checkStill(tool, value.input, claimsOf(value)),
    cost: value.cost,
    answer: value.answer,
    told: value.told,
    name: value.transaction,
  };
}

/** Who approves it was shown another one. */
function reclassed({ name, class: now }: Tool, putUp: EffectClass): EffectError {
  const said = ({ reversibility, delivery, sink }: EffectClass): string => `${reversibility}, ${delivery} and ${sink}`;
  return new EffectError(
    'stale',
    `${name} was put up as ${said(putUp)}, and is ${said(now!)} here; approve it where it is declared as it was, or reject it.`,
    { evidence: { tool: name } },
  );
}

/** As it waits for a person: with what it did before as it would be called again. */
function parkedOf(acting: Acting, again: readonly Prepared[], planned: readonly Prepared[]): Acting {
  const all = [...again, ...planned];
  return { ...acting, effects: all.map(({ effect }) => named(effect)), blobs: blobsOf(all) };
}

/** Members in canonical order, as the payload has them, which are written fastest. */
function named({ key, payload }: LoggedEffect): Acting['effects'][number] {
  return { effect: payload, id: key };
}

function actingOf(
  run: Run,
  planned: readonly Prepared[],
  { uses, cost, pivot }: Pick<Acting, 'uses' | 'cost' | 'pivot'>,
): Acting {
  return {
    effects: [...run.standing.map(named), ...planned.map(({ effect }) => named(effect))],
    epoch: run.epoch,
    cost,
    undoCost: run.hasOnFailure ? planned.reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {}) : {},
    uses,
    pivot,
    blobs: blobsOf(planned),
    write: (entry) => run.commitWrite(entry, planned),
    undone: (entry, by) => run.undoingWrite(entry, by),
  };
}

function keyOf(name: string): string {
  return TRANSACTION_KEY + name;
}

function checked(options: TransactionOptions, body: unknown): Claim[] {
  if (typeof options !== 'object' || options === null) throw badIntent('a transaction has options, with a writ');
  if (typeof body !== 'function') throw badIntent('a transaction has a body: a function that is given the transaction');
  // Inherited ones too: they are read like own ones.
  for (const option in options)
    if (!OPTIONS.has(option))
      throw badIntent(`a transaction has no option ${option}; there are ${[...OPTIONS].join(', ')}`);
  const { name = 'none', deadlineMs = DEADLINE_MS, idleMs = DEADLINE_MS, retries = RETRIES } = options;
  if (typeof name !== 'string' || name === '' || name.length > NAME_MAX - keyOf('').length)
    throw badIntent(`the name of a transaction is a text of 1 to ${NAME_MAX - keyOf('').length} characters`);
  if (!(Number.isSafeInteger(deadlineMs) && deadlineMs > 0 && deadlineMs < 2 ** 31))
    throw badIntent('a deadline is a whole number of milliseconds, more than none');
  if (!(Number.isSafeInteger(idleMs) && idleMs > 0 && idleMs < 2 ** 31))
    throw badIntent('idleMs is a whole number of milliseconds, more than none');
  if (!(Number.isSafeInteger(retries) && retries >= 0)) throw badIntent('retries are a whole number');
  const { epoch = 'early', reading = epoch === 'late' ? 'optimistic' : 'ordered' } = options;
  if (epoch !== 'early' && epoch !== 'late') throw badIntent('the epoch is taken early or late');
  if (reading !== 'ordered' && reading !== 'optimistic') throw badIntent('reading is ordered or optimistic');
  if (epoch === 'late' && reading === 'ordered')
    throw badIntent('what has its epoch late can not wait for its turn before, so its reading is optimistic');
  const { writ, principal = '', signal } = options;
  if (typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
    throw badIntent('a transaction has a writ, or the id of one that is known');
  if (typeof principal !== 'string') throw badIntent('a principal is a text');
  if (signal !== undefined && !(signal instanceof AbortSignal)) throw badIntent('a signal is an AbortSignal');
  return claimsFrom(options);
}

/** Why it has not begun: who has told it to stop knows why. */
function notBegun(cause: unknown): Error {
  return isTimeout(cause) ? stopped(cause) : (cause as Error);
}

function stopped(cause: unknown): Error {
  if (isAssizeError(cause, 'closed')) return cause;
  return new EffectError(
    'deadline',
    `The transaction was told to stop, or took longer than it may${isTimeout(cause) ? ` (${cause.message})` : ''}; what it did is undone.`,
    { cause },
  );
}

function isTimeout(cause: unknown): cause is DOMException {
  return cause instanceof DOMException && cause.name === 'TimeoutError';
}

/** Why an attempt came to nothing, as a code: whatever a body throws, no text of it is kept. */
function causeOf(error: unknown): string {
  return isAssizeError(error) && isCauseCode(error.code) ? error.code : 'body_failed';
}

/** What was thrown where it may be committed, or is somebody else's by now: to undo it could be to undo what stands. */
function isForTheLogToSay(error: unknown): boolean {
  return (
    (error instanceof RuntimeError && error.code === 'commit_unknown') ||
    (error instanceof EffectError && error.code === 'tenure_lost')
  );
}

/** What is held was made under that name before: it has to be seen what became of it. */
function isCollision(error: unknown): boolean {
  return error instanceof EffectError && error.code === 'key_collision';
}

function isWorthAnother(error: unknown): error is EffectError {
  return error instanceof EffectError && error.retryable && (error.code === 'stale' || error.code === 'tool_failed');
}
