import { EffectError, type EffectPhase, type EffectState, isLeft, type KnownEffect } from '#effects';
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
import { refused } from '../../writer/store-refusals.ts';
import {
  abandonmentPayload,
  decisionPayload,
  type EffectDecision,
  type EffectLeft,
  effectPendingPayload,
  settlementPayload,
} from './effect-entries.ts';
import type { Book, Draft, Page } from './ledger-writer.ts';

type EndedEffect = KnownEffect & EffectState;

/** A transaction of which nothing is left to do. */
export interface Ended {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly writId: Hash;
  /** The last that is to be recorded of it, where that is not in the log yet. */
  readonly row: EffectRecordRow | undefined;
  readonly blobs: readonly BlobRow[];
  readonly effects: readonly EndedEffect[];
  /** To be called when the log has its last record: others may act where it did. `isTold`: the ledger was told, or there is nothing to tell. */
  readonly written: (isTold: boolean) => void;
}

/** One that was committed. */
export interface EndedCommit extends Ended {
  readonly entry: Hash;
}

/** What comes within so many milliseconds is told together. */
const TOGETHER_MS = 5;
/** What could not be told is tried again after so many milliseconds, or before, with what comes. */
const AGAIN_MS = 1_000;
/** As many transactions are told at once, without waiting for more. */
const TOGETHER = 64;
/** Effects that one entry settles, but for those of one transaction, which are told together. */
const EFFECTS_MAX = 1_024;

/** The cause of an abort that an entry has said already. What waits for a person is named there as it is to be, and not as it was. */
const RULED = 'rejected';
/** Phases of an effect that was done, and is not to stay. */
const UNDONE: ReadonlySet<EffectPhase> = new Set(['undone', 'accepted']);

/**
 * Writes into the ledger what became of effects, under one tenure, each with what the effect log records of it, in one
 * transaction of the store. So a transaction is open in the log as long as the ledger does not say how it ended, and who crashes
 * between leaves both to be done again, once.
 *
 * What was committed and is done is on nobody's way: it is told soon, many transactions at a time.
 */
export class Settling {
  readonly #store: EffectStore;
  readonly #fence: number;
  readonly #bookOf: (trajectoryId: string) => Book;
  /** Transactions that are to be told of, by trajectory. */
  #waiting: Map<string, EndedCommit[]> = new Map();
  #timer: NodeJS.Timeout | undefined;
  /** When all that was to be told so far was tried. */
  #flushed: Promise<void> = Promise.resolve();
  #isOver = false;

  constructor(store: EffectStore, fence: number, bookOf: (trajectoryId: string) => Book) {
    this.#store = store;
    this.#fence = fence;
    this.#bookOf = bookOf;
  }

  /** A committed transaction has ended; nobody waits for that to be told. */
  settled(ended: EndedCommit): void {
    const there = this.#waiting.get(ended.trajectoryId);
    if (there === undefined) this.#waiting.set(ended.trajectoryId, [ended]);
    else there.push(ended);
    if (there !== undefined && there.length >= TOGETHER) void this.flush();
    else if (!this.#isOver) this.#timer ??= setTimeout(() => void this.flush(), TOGETHER_MS);
  }

  /** Tells what waits. Where that fails it waits on: for the next who is told of, or for whoever has the tenure then. */
  flush(): Promise<void> {
    this.#flushed = this.#flushed.then(() => this.#tell());
    return this.#flushed;
  }

  /** The tenure is over: what waits still is open in the log, for whoever has the next one. */
  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /**
   * A transaction was undone. Where it had acted and no ruling says why it came to nothing, or undoing it has cost something, an
   * entry lists what it did.
   * @throws EffectError `tenure_lost`; what the store throws
   */
  async aborted(ended: Ended, cause: string): Promise<void> {
    const { epoch, trajectoryId, writId, blobs } = ended;
    const acted = ended.effects.filter(({ phase }) => UNDONE.has(phase));
    const effects = this.#ending([ended]);
    if (acted.length === 0 || (cause === RULED && !isDear(ended))) {
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
    // What the ledger could not be told stays open in the log, for whoever takes it over.
    if (told !== 'written') await this.#log(told === 'nothing' ? effects : withoutEnd(effects), blobs);
    ended.written(told !== 'failed');
  }

  /** Records that an effect waits for a person, and puts it up. @throws EffectError `tenure_lost`; what the store throws */
  async leave(trajectoryId: string, left: EffectLeft, effects: EffectWrite, blobs: readonly BlobRow[]): Promise<void> {
    const told = await this.#tried(trajectoryId, putUp(left, effects, blobs));
    if (told !== 'written') await this.#log(effects, blobs);
  }

  /** Puts up what waits and is not put up yet; what can't be now, when the log is taken over. */
  async complete(trajectoryId: string, lefts: readonly EffectLeft[]): Promise<void> {
    for (const left of lefts) await this.#tried(trajectoryId, putUp(left, { fence: this.#fence }, []));
  }

  /**
   * Records what a person decided about an effect that waits, and resolves what was put up.
   * @throws as `Book.write`; nothing is recorded then, but for `commit_unknown`
   */
  async decide(
    trajectoryId: string,
    left: EffectLeft,
    decision: EffectDecision,
    effects: EffectWrite,
    blobs: readonly BlobRow[],
  ): Promise<void> {
    const book = this.#bookOf(trajectoryId);
    await book.write(putUp(left, { fence: this.#fence }, []));
    const isDecided = await book.write(({ chain, place }) => {
      const pending = chain.open.waitingFor(left.id);
      if (pending === undefined) return undefined;
      const payload = decisionPayload(place, chain.lastCommit, pending, { ...decision, undoCost: left.undoCost });
      return { payload, blobs, effects, resolves: pending[0] };
    });
    // Nothing follows a final answer: then the log alone has it.
    if (!isDecided) await this.#log(effects, blobs);
  }

  async #tell(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const waiting = this.#waiting;
    this.#waiting = new Map();
    for (const [trajectoryId, all] of waiting) {
      for (const ended of together(all)) await this.#settle(trajectoryId, ended);
    }
  }

  async #settle(trajectoryId: string, all: readonly EndedCommit[]): Promise<void> {
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
        const writId = first === undefined ? all[0]!.writId : (chain.unsettled.writOf(first.commit) as Hash);
        const found = left.flatMap(({ effects }) => foundOf(effects));
        const args = { settled, ...(discarded.length > 0 && { discarded }) };
        return { payload: settlementPayload(place, chain.lastCommit, writId, args, found), blobs, effects };
      });
      if (told === 'nothing') await this.#log(effects, blobs);
      if (told === 'failed') {
        // What is known of them is not lost, whatever the matter is with the ledger.
        await this.#log(withoutEnd(effects), blobs);
        this.#wait(
          trajectoryId,
          all.map((ended) => ({ ...ended, row: undefined, blobs: [] })),
        );
      }
      for (const { written } of all) written(told !== 'failed');
    } catch (error) {
      // The next tenure finds them open. With any other error they are kept, as nobody waits for them here.
      if (!isTenureLost(error)) this.#wait(trajectoryId, all);
    }
  }

  /** Before what came meanwhile; tried again with that. */
  #wait(trajectoryId: string, all: readonly EndedCommit[]): void {
    this.#waiting.set(trajectoryId, [...all, ...(this.#waiting.get(trajectoryId) ?? [])]);
    // Also where nothing comes meanwhile.
    if (!this.#isOver) this.#timer ??= setTimeout(() => void this.flush(), AGAIN_MS).unref();
  }

  /** `failed`: the ledger can't be read, or not be written now. @throws EffectError `tenure_lost` */
  async #tried(
    trajectoryId: string,
    draft: (page: Page) => Draft | undefined,
  ): Promise<'written' | 'nothing' | 'failed'> {
    try {
      const book = this.#bookOf(trajectoryId);
      return (await book.write(draft)) ? 'written' : 'nothing';
    } catch (error) {
      if (isTenureLost(error)) throw error;
      return 'failed';
    }
  }

  #ending(all: readonly Ended[]): EffectWrite {
    return {
      fence: this.#fence,
      records: all.flatMap(({ row }) => row ?? []),
      ended: all.map(({ epoch }) => epoch),
    };
  }

  async #log(effects: EffectWrite, blobs: readonly BlobRow[]): Promise<void> {
    const result = await this.#store.logEffects(effects, blobs);
    if (result.status !== 'written') throw refused(result);
  }
}

/** What has become of those effects of a commit of which its chain does not say it yet; as a list, empty where it says all. */
function settledOf({ entry: commit }: EndedCommit, left: Ended['effects']): SettledCommit[] {
  const effects = left.map((effect): SettledEffect => {
    const { key: id } = effect;
    const outcome = settledAs(effect.phase);
    if (isDecidedSo(effect)) return { by: effect.resolved.by, ...costOf(effect), id, outcome };
    // It failed for good, or was not called any more: there was nothing to undo.
    if (effect.phase === 'dropped') return { absent: true, id, outcome };
    if (answerOf(effect) === undefined) return { ...costOf(effect), id, outcome };
    return { answered: true, ...costOf(effect), id, outcome };
  });
  return effects.length === 0 ? [] : [{ commit, effects }];
}

/** What undoing effects has cost that were of branches which were not chosen, so that the commit has not named them. */
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

/** What undoing it has cost, where its tool has done that. */
function costOf({ isCompensated, undo_cost: cost }: EndedEffect): { readonly cost?: Amounts } {
  return isCompensated === true && cost !== undefined ? { cost } : {};
}

function isDear({ effects }: Ended): boolean {
  return effects.some((effect) => costOf(effect).cost !== undefined);
}

/** What was found of those that a person had decided on before anybody could say so here, and what the pivot answered. */
function foundOf(left: Ended['effects']): Observation[] {
  return left.flatMap((effect) => {
    const value = isDecidedSo(effect) ? effect.resolved.evidence : answerOf(effect);
    return value === undefined ? [] : { name: effect.key, value };
  });
}

/**
 * What is observed of an effect that stays: what it answered. What was called after the commit no other entry observes; and where an entry
 * names the text that the log has, it can be erased without the log.
 */
function answerOf({ phase, result }: EndedEffect): BlobRef | undefined {
  return phase === 'applied' ? result : undefined;
}

/** What was dropped since one has failed is not there, as what was undone; that it never was is said beside. */
function settledAs(phase: EffectPhase): SettledAs {
  return phase === 'dropped' ? 'undone' : (phase as SettledAs);
}

/** Whether it ended as a person has said, and not by what a tool did after that. */
function isDecidedSo(effect: EndedEffect): effect is EndedEffect & { readonly resolved: object } {
  const { phase, resolved } = effect;
  return resolved !== undefined && outcomeOf(resolved.as) === settledAs(phase);
}

function unsettledOf({ unsettled }: Chain, { entry, effects }: EndedCommit): Ended['effects'] {
  const left = unsettled.of(entry);
  return left.size === 0 ? [] : effects.filter(({ key }) => left.has(key));
}

function putUp(left: EffectLeft, effects: EffectWrite, blobs: readonly BlobRow[]): (page: Page) => Draft | undefined {
  return ({ chain, place }) => {
    if (chain.answered !== undefined || chain.open.waitingFor(left.id) !== undefined) return undefined;
    const { commit, ...rest } = left;
    // An effect of a branch that was not chosen is none that the commit has named.
    const isNamed = commit !== undefined && chain.unsettled.of(commit).has(left.id);
    return { payload: effectPendingPayload(place, isNamed ? left : rest), blobs, effects };
  };
}

/** In parts that an entry can have. What undoing has cost counts against the writ of the entry, so that is by writ, and by itself. */
function together(all: readonly EndedCommit[]): EndedCommit[][] {
  const alike = new Map<Hash | undefined, EndedCommit[]>();
  for (const ended of all) {
    const writ = isDear(ended) ? ended.writId : undefined;
    const there = alike.get(writ);
    if (there === undefined) alike.set(writ, [ended]);
    else there.push(ended);
  }
  return [...alike.values()].flatMap(parted);
}

/** Each of as many effects as an entry takes, or of one transaction. */
function parted(all: readonly EndedCommit[]): EndedCommit[][] {
  const parts: EndedCommit[][] = [];
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
  return error instanceof EffectError && error.code === 'tenure_lost';
}

/** Effects that wait for a person, as their pendings name them. */
export function leftOf({ epoch, writId, effects }: Ended, commit: Hash | undefined): EffectLeft[] {
  return effects.flatMap(({ key, tool, payload, phase, doubt, undo_cost, isRefused, refused, why }, n) =>
    isLeft(phase)
      ? [
          {
            epoch,
            n,
            tool,
            id: key,
            payload,
            reason: phase as EffectLeft['reason'],
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
