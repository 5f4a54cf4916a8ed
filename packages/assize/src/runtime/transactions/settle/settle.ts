import { clearImmediate, setImmediate } from 'node:timers';
import { isInstance } from '#base';
import {
  EffectError,
  type EffectPhase,
  type EffectState,
  isUnresolved,
  type KnownEffect,
} from '#effects';
import {
  type AbandonedArgs,
  type AbandonedEffect,
  type Amounts,
  type BlobRef,
  type BlobRow,
  type Chain,
  type EffectRecordRow,
  type EffectStore,
  type EffectWrite,
  type Hash,
  isCauseCode,
  type Observation,
  outcomeOf,
  type SettledAs,
  type SettledCommit,
  type SettledEffect,
  type SettlementArgs,
} from '#ledger';
import { storeRefusal } from '../../writer/append-errors.ts';
import {
  abandonmentPayload,
  decisionPayload,
  type EffectDecision,
  effectPendingPayload,
  type PendingEffect,
  settlementPayload,
} from './effect-entries.ts';
import type { EntryDraft, LedgerHead, LedgerWriter } from './ledger-writer.ts';

type EndedEffect = KnownEffect & EffectState;

/** A transaction with no remaining steps. */
export interface EndedTransaction {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly writId: Hash;
  /** Its last record, if the log does not have it yet. */
  readonly row: EffectRecordRow | undefined;
  readonly blobs: readonly BlobRow[];
  readonly effects: readonly EndedEffect[];
  /**
   * Call this when the log has the last record: the scopes of the transaction are then free.
   * `isTold`: whether the ledger is settled or needs no entry.
   */
  readonly written: (isTold: boolean) => void;
}

/** The keys of effects that the ledger has not ended. */
export interface OpenEffects {
  /** The commit's effects that no entry settles yet. */
  readonly unsettled: ReadonlySet<Hash>;
  /** The effects that wait for a decision of an operator. */
  readonly waiting: ReadonlySet<Hash>;
}

/** A committed transaction with no remaining steps. */
export interface EndedCommit extends EndedTransaction {
  readonly entry: Hash;
}

/** A committed transaction that is not yet settled. */
interface WaitingCommit extends EndedCommit {
  /** Called after the first attempt to write. Does nothing after that. */
  readonly tried: (isDurable: boolean) => void;
}

/** Milliseconds within which transactions without waiting callers are settled together. */
const BATCH_MS = 5;
/** Milliseconds before a failed settlement is retried; new settlements retry it sooner. */
const RETRY_MS = 1_000;
/** Number of transactions that are settled immediately, without waiting for more. */
const BATCH_TRANSACTIONS = 64;
/**
 * Maximum number of effects that a single entry settles. The effects of one transaction stay in one
 * entry.
 */
const EFFECTS_MAX = 1_024;

/**
 * The abort reason if an entry already states it. That entry lists unresolved effects with their
 * intended final phase.
 */
const RULED = 'rejected';
/** Phases of an executed effect that does not stay. */
const UNDONE: ReadonlySet<EffectPhase> = new Set(['undone', 'accepted']);

/**
 * Records the outcomes of effects in the ledger, under one lease. The effect log records the end in
 * the same store transaction. So a transaction is open in the log until the ledger has its end, and
 * after a crash in between both are written again, once.
 *
 * Committed and finished transactions block no others: they are settled soon, many at a time. A
 * caller whose outcomes the log does not have yet waits for that: its settlement starts at the end
 * of the turn, and includes all transactions that ended during the previous one.
 */
export class OutcomeRecorder {
  readonly #store: EffectStore;
  readonly #fence: number;
  readonly #bookOf: (trajectoryId: string) => LedgerWriter;
  /** Transactions that are not yet settled, by trajectory. */
  readonly #waiting = new Map<string, WaitingCommit[]>();
  /** Settlements in progress, by trajectory. Each resolves when it was tried. */
  readonly #settling = new Map<string, Promise<void>>();
  /** Callbacks of the callers that wait for durable outcomes. */
  readonly #callers = new Set<(isDurable: boolean) => void>();
  #timer: NodeJS.Timeout | undefined;
  #soon: NodeJS.Immediate | undefined;
  #isOver = false;

  constructor(store: EffectStore, fence: number, bookOf: (trajectoryId: string) => LedgerWriter) {
    this.#store = store;
    this.#fence = fence;
    this.#bookOf = bookOf;
  }

  /**
   * Called when a committed transaction has ended. `isAwaited`: the log does not have all outcomes
   * of its effects, so its caller waits. Resolves to whether they are durable, after the first
   * attempt to write them.
   */
  recordSettled(ended: EndedCommit, isAwaited: boolean): Promise<boolean> {
    const { promise: durable, resolve } = Promise.withResolvers<boolean>();
    const tried = (isDurable: boolean): void => {
      this.#callers.delete(tried);
      resolve(isDurable);
    };
    this.#callers.add(tried);
    const waiting = this.#waiting.get(ended.trajectoryId) ?? [];
    waiting.push({ ...ended, tried });
    this.#waiting.set(ended.trajectoryId, waiting);
    if (this.#isOver) tried(false);
    else if (isAwaited) this.#soon ??= setImmediate(() => void this.flush());
    else if (waiting.length > BATCH_TRANSACTIONS) void this.flush();
    else this.#timer ??= setTimeout(() => void this.flush(), BATCH_MS);
    return durable;
  }

  /**
   * Settles the waiting transactions; resolves when each was tried. Failed ones keep waiting, for
   * the next settlement or the next lease holder.
   */
  async flush(): Promise<void> {
    this.#stopTimers();
    for (const trajectoryId of this.#waiting.keys()) this.#settleNext(trajectoryId);
    await Promise.all(this.#settling.values());
  }

  /** The settlements of one trajectory run in order, and do not delay other trajectories. */
  #settleNext(trajectoryId: string): void {
    const before = this.#settling.get(trajectoryId) ?? Promise.resolve();
    const settled = before
      .then(() => this.#settleWaiting(trajectoryId))
      .then(() => {
        if (this.#settling.get(trajectoryId) === settled) this.#settling.delete(trajectoryId);
      });
    this.#settling.set(trajectoryId, settled);
  }

  async #settleWaiting(trajectoryId: string): Promise<void> {
    const waiting = this.#waiting.get(trajectoryId) ?? [];
    this.#waiting.delete(trajectoryId);
    for (const ended of together(waiting)) await this.#settle(trajectoryId, ended);
  }

  #stopTimers(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#soon);
    this.#timer = undefined;
    this.#soon = undefined;
  }

  /**
   * Called when the lease ends: waiting transactions are open in the log, for the next lease
   * holder.
   */
  close(): void {
    this.#isOver = true;
    this.#stopTimers();
    for (const tried of this.#callers) tried(false);
  }

  /**
   * Called when a transaction was aborted. An entry lists its effects if no ruling states why it
   * was aborted, or if its compensation had a cost.
   * @throws EffectError `lease_lost`; StoreError from the store
   */
  async recordAborted(ended: EndedTransaction, cause: string): Promise<void> {
    const { epoch, trajectoryId, writId, blobs } = ended;
    const acted = ended.effects.filter(({ phase }) => UNDONE.has(phase));
    const effects = this.#ending([ended]);
    if (acted.length === 0 || (cause === RULED && !hasCompensationCost(ended))) {
      await this.#log(effects, blobs);
      return ended.written(true);
    }
    const args: AbandonedArgs = {
      cause: isCauseCode(cause) ? cause : 'unknown',
      effects: acted.map(abandoned),
      epoch,
    };
    const payloads = acted.map(({ payload }) => payload);
    const told = await this.#tried(trajectoryId, ({ chain, place }) =>
      chain.answered === undefined
        ? { payload: abandonmentPayload(place, writId, args, payloads), blobs, effects }
        : undefined,
    );
    // A transaction that cannot be settled in the ledger stays open in the log, for the next owner.
    if (told !== 'written')
      await this.#log(told === 'nothing' ? effects : withoutEnd(effects), blobs);
    ended.written(told !== 'failed');
  }

  /**
   * Records that an effect is unresolved, and submits it for a decision. @throws EffectError
   * `lease_lost`; StoreError from the store
   */
  async recordUnresolved(
    trajectoryId: string,
    left: PendingEffect,
    effects: EffectWrite,
    blobs: readonly BlobRow[],
  ): Promise<void> {
    const told = await this.#tried(trajectoryId, pendingDraft(left, effects, blobs));
    if (told !== 'written') await this.#log(effects, blobs);
  }

  /**
   * Submits unresolved effects that have no pending entry yet. If that fails now, the next owner of
   * the log submits them.
   */
  async submitUnresolved(trajectoryId: string, lefts: readonly PendingEffect[]): Promise<void> {
    for (const left of lefts)
      await this.#tried(trajectoryId, pendingDraft(left, { fence: this.#fence }, []));
  }

  /**
   * Records an operator's decision on an unresolved effect, and resolves its pending entry.
   * @throws the errors of `Book.write`; nothing is recorded then, except for `commit_unknown`
   */
  async recordDecision(
    trajectoryId: string,
    left: PendingEffect,
    decision: EffectDecision,
    effects: EffectWrite,
    blobs: readonly BlobRow[],
  ): Promise<void> {
    const book = this.#bookOf(trajectoryId);
    await book.write(pendingDraft(left, { fence: this.#fence }, []));
    const isDecided = await book.write(({ chain, place }) => {
      const pending = chain.open.waitingFor(left.id);
      if (pending === undefined) return undefined;
      const payload = decisionPayload(place, chain.lastCommit, pending, {
        ...decision,
        undoCost: left.undoCost,
      });
      return { payload, blobs, effects };
    });
    // No entry follows a final outcome: then only the log has it.
    if (!isDecided) await this.#log(effects, blobs);
  }

  /**
   * The open ones of these effects, and of a commit's. @throws the errors of `LedgerWriter.write`
   */
  async openEffects(
    trajectoryId: string,
    keys: readonly Hash[],
    commit: Hash | undefined,
  ): Promise<OpenEffects> {
    let open: OpenEffects = { unsettled: new Set(), waiting: new Set() };
    await this.#bookOf(trajectoryId).write(({ chain }) => {
      open = {
        unsettled: new Set(commit === undefined ? [] : chain.unsettled.forCommit(commit)),
        waiting: new Set(keys.filter((key) => chain.open.waitingFor(key) !== undefined)),
      };
      return undefined;
    });
    return open;
  }

  async #settle(trajectoryId: string, all: readonly WaitingCommit[]): Promise<void> {
    const effects = this.#ending(all);
    const blobs = all.flatMap((ended) => ended.blobs);
    try {
      const told = await this.#tried(trajectoryId, ({ chain, place }) => {
        if (chain.answered !== undefined) return undefined;
        const left = all.map((ended) => ({ ended, effects: unsettledOf(chain, ended) }));
        const settled = left.flatMap(({ ended, effects }) => settledOf(ended, effects));
        const discarded = all.flatMap(discardedOf);
        const [first] = settled;
        if (first === undefined && discarded.length === 0) return undefined;
        const writId =
          first === undefined ? all[0]!.writId : (chain.unsettled.writOf(first.commit) as Hash);
        const found = left.flatMap(({ effects }) => foundOf(effects));
        const args = { settled, ...(discarded.length > 0 && { discarded }) };
        return {
          payload: settlementPayload(place, chain.lastCommit, writId, args, found),
          blobs,
          effects,
        };
      });
      if (told === 'nothing') await this.#log(effects, blobs);
      if (told === 'failed') {
        // The outcomes are logged even if the ledger cannot be written.
        await this.#log(withoutEnd(effects), blobs);
        this.#wait(
          trajectoryId,
          all.map((ended) => ({ ...ended, row: undefined, blobs: [] })),
        );
      }
      for (const { written, tried } of all) {
        written(told !== 'failed');
        tried(true);
      }
    } catch (error) {
      // The next lease holder finds them open. After any other error they are retried here.
      if (!isTenureLost(error)) this.#wait(trajectoryId, all);
      for (const { tried } of all) tried(false);
    }
  }

  /** Queued before newer transactions, and retried with them. */
  #wait(trajectoryId: string, all: readonly WaitingCommit[]): void {
    this.#waiting.set(trajectoryId, [...all, ...(this.#waiting.get(trajectoryId) ?? [])]);
    // Retried even without new settlements.
    if (!this.#isOver) this.#timer ??= setTimeout(() => void this.flush(), RETRY_MS).unref();
  }

  /** `failed`: the ledger cannot be read or written now. @throws EffectError `lease_lost` */
  async #tried(
    trajectoryId: string,
    draft: (page: LedgerHead) => EntryDraft | undefined,
  ): Promise<'written' | 'nothing' | 'failed'> {
    try {
      const book = this.#bookOf(trajectoryId);
      return (await book.write(draft)) ? 'written' : 'nothing';
    } catch (error) {
      if (isTenureLost(error)) throw error;
      return 'failed';
    }
  }

  #ending(all: readonly EndedTransaction[]): EffectWrite {
    return {
      fence: this.#fence,
      records: all.flatMap(({ row }) => row ?? []),
      ended: all.map(({ epoch }) => epoch),
    };
  }

  async #log(effects: EffectWrite, blobs: readonly BlobRow[]): Promise<void> {
    const result = await this.#store.logEffects(effects, blobs);
    if (result.status !== 'written') throw storeRefusal(result);
  }
}

/**
 * The outcomes of effects of a commit that its chain does not record yet. An empty list if it
 * records all.
 */
function settledOf(
  { entry: commit }: EndedCommit,
  left: EndedTransaction['effects'],
): SettledCommit[] {
  const effects = left.map((effect): SettledEffect => {
    const { key: id } = effect;
    const outcome = settledAs(effect.phase);
    if (isDecidedSo(effect)) return { by: effect.resolved.by, ...costOf(effect), id, outcome };
    // The effect failed permanently or was no longer called: there was nothing to compensate.
    if (effect.phase === 'dropped') return { absent: true, id, outcome };
    if (answerOf(effect) === undefined) return { ...costOf(effect), id, outcome };
    return { answered: true, ...costOf(effect), id, outcome };
  });
  return effects.length === 0 ? [] : [{ commit, effects }];
}

/** The compensation cost of effects of discarded branches. The commit does not name them. */
function discardedOf({ effects }: EndedCommit): NonNullable<SettlementArgs['discarded']> {
  return effects.flatMap((effect) => {
    if (effect.isDiscarded !== true) return [];
    const { cost } = costOf(effect);
    return cost === undefined ? [] : { cost, id: effect.key };
  });
}

function abandoned(effect: EndedEffect): AbandonedEffect {
  const { key, phase, tool } = effect;
  return { ...costOf(effect), id: key, outcome: phase as AbandonedEffect['outcome'], tool };
}

/** The compensation cost, if the tool has compensated the effect. */
function costOf({ isCompensated, undo_cost: cost }: EndedEffect): { readonly cost?: Amounts } {
  return isCompensated === true && cost !== undefined ? { cost } : {};
}

function hasCompensationCost({ effects }: EndedTransaction): boolean {
  return effects.some((effect) => costOf(effect).cost !== undefined);
}

/**
 * The operators' findings that were decided before the ledger could record them, and the answer of
 * the pivot.
 */
function foundOf(left: EndedTransaction['effects']): Observation[] {
  return left.flatMap((effect) => {
    const value = isDecidedSo(effect) ? effect.resolved.evidence : answerOf(effect);
    return value === undefined ? [] : { name: effect.key, value };
  });
}

/**
 * The answer of an effect that stays, as an observation. No other entry observes calls after the
 * commit. An entry that names the logged text also allows its erasure without the log.
 */
function answerOf({ phase, result }: EndedEffect): BlobRef | undefined {
  return phase === 'applied' ? result : undefined;
}

/**
 * A dropped call counts as absent, like a compensated one. A separate field states that it was
 * never made.
 */
function settledAs(phase: EffectPhase): SettledAs {
  return phase === 'dropped' ? 'undone' : (phase as SettledAs);
}

/** Whether the effect ended by an operator's decision, and not by a later tool call. */
function isDecidedSo(effect: EndedEffect): effect is EndedEffect & { readonly resolved: object } {
  const { phase, resolved } = effect;
  return resolved !== undefined && outcomeOf(resolved.as) === settledAs(phase);
}

function unsettledOf(
  { unsettled }: Chain,
  { entry, effects }: EndedCommit,
): EndedTransaction['effects'] {
  const left = unsettled.forCommit(entry);
  return left.size === 0 ? [] : effects.filter(({ key }) => left.has(key));
}

function pendingDraft(
  left: PendingEffect,
  effects: EffectWrite,
  blobs: readonly BlobRow[],
): (page: LedgerHead) => EntryDraft | undefined {
  return ({ chain, place }) => {
    if (chain.answered !== undefined || chain.open.waitingFor(left.id) !== undefined)
      return undefined;
    const { commit, ...rest } = left;
    // An effect of a discarded branch is not named by the commit.
    const isNamed = commit !== undefined && chain.unsettled.forCommit(commit).has(left.id);
    return { payload: effectPendingPayload(place, isNamed ? left : rest), blobs, effects };
  };
}

/**
 * Parts that fit into one entry each. Compensation costs count against the writ of the entry, so
 * transactions with costs are grouped by writ, and separately.
 */
function together(all: readonly WaitingCommit[]): WaitingCommit[][] {
  const alike = new Map<Hash | undefined, WaitingCommit[]>();
  for (const ended of all) {
    const writ = hasCompensationCost(ended) ? ended.writId : undefined;
    const there = alike.get(writ);
    if (there === undefined) alike.set(writ, [ended]);
    else there.push(ended);
  }
  return [...alike.values()].flatMap(parted);
}

/** Parts of at most the maximum number of effects, or one transaction each. */
function parted(all: readonly WaitingCommit[]): WaitingCommit[][] {
  const parts: WaitingCommit[][] = [];
  let effects = 0;
  for (const ended of all) {
    effects += ended.effects.length;
    const part = effects > EFFECTS_MAX ? undefined : parts.at(-1);
    if (part === undefined) {
      parts.push([ended]);
      effects = ended.effects.length;
    } else part.push(ended);
  }
  return parts;
}

function withoutEnd({ ended: _, ...effects }: EffectWrite): EffectWrite {
  return effects;
}

function isTenureLost(error: unknown): boolean {
  return isInstance(error, EffectError) && error.code === 'lease_lost';
}

/** The unresolved effects, as their pending entries name them. */
export function pendingEffectsOf(
  { epoch, writId, effects }: EndedTransaction,
  commit: Hash | undefined,
): PendingEffect[] {
  return effects.flatMap(
    ({ key, tool, payload, phase, doubt, undo_cost, isRefused, refused, why }, n) =>
      isUnresolved(phase)
        ? [
            {
              epoch,
              n,
              tool,
              id: key,
              payload,
              reason: phase as PendingEffect['reason'],
              writId,
              ...(commit === undefined ? {} : { commit }),
              ...(doubt === 'undo' && undo_cost !== undefined ? { undoCost: undo_cost } : {}),
              ...(isRefused === true && refused !== undefined ? { refused } : {}),
              ...(why === undefined ? {} : { why }),
            },
          ]
        : [],
  );
}
