import type { Json } from '#base';
import { type LoggedText, readTransaction, textsOf } from '#effects';
import {
  abandonedArgs,
  type BlobRef,
  type EffectStore,
  type ErasedLogged,
  type ErasedValue,
  effectWaitingIn,
  type Hash,
  isBlobRef,
  isOfEffects,
  type LedgerStore,
  type LoggedTransaction,
  type Observation,
  type Payload,
  type Stored,
  settlementArgs,
} from '#ledger';
import { keyHashOf, TRANSACTION_KEY } from '../records/intent.ts';
import { loggedTransactions } from '../transactions/coordination/read-all.ts';
import { openEpochs } from '../transactions/coordination/read-open.ts';
import { readSalted } from '../transactions/settle/quarantine.ts';

/** What is to be erased of effects, beside what stands in the entries that are meant. */
export interface FoundLogged {
  /** Of entries that tell of effects. */
  readonly values: readonly ErasedValue[];
  /** Of the effect log alone. */
  readonly logged: readonly ErasedLogged[];
  /** Epochs of transactions that have not ended, of which something stays until they have. */
  readonly open: readonly number[];
}

/** Of an entry, with which its values are erased, all of them or some. */
export interface MeantEntry {
  readonly id: Hash;
  readonly payload: Payload;
}

/**
 * Looks for what the effect log has of proposals that are to be erased, and what entries tell of it that the runtime has made. First every
 * entry is shown to `learn`, and those that are meant to `take`.
 *
 * A transaction is of a proposal that it was committed with, or undone by; so is one before it that had the same name. Where an entry is meant
 * that only tells of effects, so are these. What a proposal names is left to that: it has been chosen with it, or is of another one.
 */
export class LoggedSearch {
  /** Those of the epochs that are of this trajectory. */
  readonly transactions: Set<number> = new Set();
  readonly #trajectoryId: string;
  readonly #epochs: ReadonlySet<number>;
  /** Texts that proposals name. */
  readonly #proposed: Set<Hash> = new Set();
  /** What else entries name, by the effect that it is of. */
  readonly #told: Map<Hash, { readonly hash: Hash; readonly seq: number }[]> = new Map();
  /** Proposals that are meant, by their entries and by the names that they have. */
  readonly #entries: Set<Hash> = new Set();
  readonly #names: Set<Hash> = new Set();
  /** Effects that are meant: with all of their transaction, or each by itself. */
  readonly #transacted: Set<Hash> = new Set();
  readonly #effects: Set<Hash> = new Set();

  /** `epochs`: of transactions that are meant, whatever was proposed with them. */
  constructor(trajectoryId: string, epochs: readonly number[]) {
    this.#trajectoryId = trajectoryId;
    this.#epochs = new Set(epochs);
  }

  learn(payload: Payload): void {
    const { effects, observations } = namingOf(payload);
    if (!isOfEffects(payload)) {
      for (const { effect } of effects) if (isBlobRef(effect)) this.#proposed.add(effect.$blob);
      return;
    }
    const named = [
      ...effects.map(({ id, effect }) => [id, effect] as const),
      ...observations.map(({ name, value }) => [name, value] as const),
    ];
    for (const [id, text] of named) if (isSalted(text)) this.#tell(id, text.$blob, payload.seq);
  }

  take({ id, payload }: MeantEntry): void {
    if (isOfEffects(payload)) {
      const acted = abandonedArgs(payload)?.effects ?? [];
      for (const each of acted) this.#transacted.add(each.id);
      for (const each of effectsToldBy(payload)) this.#effects.add(each);
      return;
    }
    this.#entries.add(id);
    for (const each of namingOf(payload).effects) this.#transacted.add(each.id);
    for (const name of namesOf(payload)) this.#names.add(name);
  }

  /** `isMeant`: of what effects were given and have answered, what is meant whatever was proposed. @throws CanonError for a damaged log */
  async found(store: LedgerStore & Partial<EffectStore>, isMeant?: (text: Json) => boolean): Promise<FoundLogged> {
    const values = new Map<Hash, ErasedValue>();
    const takeTold = (key: Hash): void => {
      for (const { hash, seq } of this.#told.get(key) ?? [])
        if (!this.#proposed.has(hash) && !values.has(hash)) values.set(hash, { hash, seq });
    };
    for (const key of [...this.#transacted, ...this.#effects]) takeTold(key);
    if (!hasLog(store)) return { values: [...values.values()], logged: [], open: [] };
    const logged = new Map<Hash, ErasedLogged>();
    const kept = new Set<number>();
    // First: what has ended by now has all of its records, and no entry will name any of them.
    const open = await openEpochs(store, this.#trajectoryId);
    for await (const transaction of loggedTransactions(store, this.#trajectoryId)) {
      const { epoch } = transaction;
      if (this.#epochs.has(epoch)) this.transactions.add(epoch);
      const texts = textsOf(transaction);
      const { keys, isWhole } = this.#readOf(transaction);
      const saying = isWhole || isMeant === undefined ? NO_EFFECTS : await sayingOf(store, texts, isMeant);
      for (const [n, key] of keys.entries()) {
        if (!isWhole && !this.#effects.has(key) && !saying.has(n)) continue;
        takeTold(key);
        for (const { hash, is } of texts.filter((text) => text.n === n)) {
          if (this.#proposed.has(hash) || values.has(hash) || (await store.erasedBy(hash)) !== undefined) continue;
          // It may be needed yet, and an entry may come to name it.
          if (open.has(epoch) && (is === 'payload' || is === 'result')) kept.add(epoch);
          else logged.set(hash, { epoch, hash, n });
        }
      }
    }
    return {
      values: [...values.values()],
      logged: [...logged.values()],
      open: [...kept].sort((a, b) => a - b),
    };
  }

  #tell(key: Hash, hash: Hash, seq: number): void {
    const told = this.#told.get(key) ?? [];
    this.#told.set(key, told);
    told.push({ hash, seq });
  }

  /** Keys of the effects of a transaction, and whether all of it is meant. */
  #readOf(transaction: LoggedTransaction): { readonly keys: readonly Hash[]; readonly isWhole: boolean } {
    const { epoch, entry, undoneBy, effects, body } = readTransaction(transaction);
    const keys = effects.map(({ key }) => key);
    const ruling = entry ?? undoneBy;
    const name = keyHashOf(TRANSACTION_KEY + body.transaction, body.principal, this.#trajectoryId);
    const isWhole =
      this.#epochs.has(epoch) ||
      (ruling !== undefined && this.#entries.has(ruling)) ||
      this.#names.has(name) ||
      this.#names.has(body.transaction) ||
      keys.some((key) => this.#transacted.has(key));
    return { keys, isWhole };
  }
}

const NO_EFFECTS: ReadonlySet<number> = new Set();

/** Effects of which some text is meant. */
async function sayingOf(
  store: LedgerStore,
  texts: readonly LoggedText[],
  isMeant: (text: Json) => boolean,
): Promise<ReadonlySet<number>> {
  const saying = new Set<number>();
  for (const { n, hash } of texts) {
    if (saying.has(n)) continue;
    const text = await readSalted((each) => store.blob(each), { $blob: hash, bytes: 0, salted: true });
    if (text !== undefined && isMeant(text)) saying.add(n);
  }
  return saying;
}

function hasLog(store: LedgerStore & Partial<EffectStore>): store is LedgerStore & EffectStore {
  return store.listEffects !== undefined;
}

/** Effects that an entry tells of which is no proposal. */
function effectsToldBy(payload: Payload): readonly Hash[] {
  const { settled = [], discarded = [], decided } = settlementArgs(payload) ?? {};
  const waiting = effectWaitingIn(payload);
  const all = [...settled.flatMap(({ effects }) => effects), ...discarded];
  return [...all, ...(decided ? [decided] : []), ...(waiting ? [waiting] : [])].map(({ id }) => id);
}

/** What an entry has of effects, and what it has observed. */
function namingOf(payload: Payload): {
  readonly effects: readonly { readonly id: Hash; readonly effect: Stored }[];
  readonly observations: readonly Observation[];
} {
  switch (payload.kind) {
    case 'commit':
      return { effects: payload.delta.effects, observations: payload.observations };
    case 'pending_approval':
      return { effects: payload.proposal.delta.effects, observations: payload.proposal.observations };
    case 'rejection':
      return { effects: [], observations: payload.intent.observations };
    default:
      return { effects: [], observations: [] };
  }
}

/** What a proposal is known by: its key, which a name of a transaction makes, and its id, by which its approval is named. */
function namesOf(payload: Payload): readonly Hash[] {
  const of = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const names = [...('key_hash' in of ? [of.key_hash] : []), ...('proposal_id' in of ? [of.proposal_id] : [])];
  return names.filter((name) => name !== undefined);
}

function isSalted(stored: Stored | undefined): stored is BlobRef {
  return isBlobRef(stored) && stored.salted === true;
}
