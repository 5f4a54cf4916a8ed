import type { Json } from '#base';
import { type LoggedText, readTransaction, textsOf } from '#effects';
import {
  abandonedArgs,
  type BlobRef,
  type EffectStore,
  type ErasedLogged,
  type ErasedValue,
  type Hash,
  isBlobRef,
  isEffectEntry,
  type LedgerStore,
  type LoggedTransaction,
  type Observation,
  type Payload,
  pendingEffectIn,
  type Stored,
  settlementArgs,
} from '#ledger';
import { keyHashOf, TRANSACTION_KEY } from '../records/intent.ts';
import { loggedTransactions, openEpochs } from '../transactions/coordination/read-all.ts';
import { readSalted } from '../transactions/settle/quarantine.ts';

/** The effect data to erase, outside the selected entries. */
export interface FoundEffectValues {
  /** From entries that record effects. */
  readonly values: readonly ErasedValue[];
  /** Only in the effect log. */
  readonly logged: readonly ErasedLogged[];
  /** Epochs of unfinished transactions. Part of their data stays until they end. */
  readonly open: readonly number[];
}

/** An entry with erased values, all or some of them. */
export interface TargetEntry {
  readonly id: Hash;
  readonly payload: Payload;
}

/**
 * Searches the effect log for data of proposals that are to be erased, and for entries about it
 * that the runtime made. First every entry goes to `learn`, then the selected ones to `take`.
 *
 * A transaction belongs to the proposal that it was committed with or compensated by. An earlier
 * transaction with the same name belongs to it too. If a selected entry only records effects, their
 * transactions are selected. Texts that a proposal names are left to that proposal: it was selected
 * itself, or it is a different one.
 */
export class EffectLogSearch {
  /** The given epochs that belong to this trajectory. */
  readonly transactions: Set<number> = new Set();
  readonly #trajectoryId: string;
  readonly #epochs: ReadonlySet<number>;
  /** Texts that proposals name. */
  readonly #proposed: Set<Hash> = new Set();
  /** Texts that other entries name, by their effect. */
  readonly #told: Map<Hash, { readonly hash: Hash; readonly seq: number }[]> = new Map();
  /** Selected proposals, by their entries and their names. */
  readonly #entries: Set<Hash> = new Set();
  readonly #names: Set<Hash> = new Set();
  /** Selected effects: with their whole transaction, or singly. */
  readonly #transacted: Set<Hash> = new Set();
  readonly #effects: Set<Hash> = new Set();
  /** The calls that rejections name. */
  readonly #refused: { readonly stored: BlobRef; readonly seq: number }[] = [];

  /** `epochs`: transactions that are selected independently of their proposal. */
  constructor(trajectoryId: string, epochs: readonly number[]) {
    this.#trajectoryId = trajectoryId;
    this.#epochs = new Set(epochs);
  }

  index(payload: Payload): void {
    const { effects, observations } = namingOf(payload);
    const refused = payload.kind === 'rejection' ? payload.intent.calls : undefined;
    if (isSalted(refused)) this.#refused.push({ stored: refused, seq: payload.seq });
    if (!isEffectEntry(payload)) {
      for (const { effect } of effects) if (isBlobRef(effect)) this.#proposed.add(effect.$blob);
      return;
    }
    const named = [
      ...effects.map(({ id, effect }) => [id, effect] as const),
      ...observations.map(({ name, value }) => [name, value] as const),
    ];
    for (const [id, text] of named) if (isSalted(text)) this.#tell(id, text.$blob, payload.seq);
  }

  collect({ id, payload }: TargetEntry): void {
    if (isEffectEntry(payload)) {
      const acted = abandonedArgs(payload)?.effects ?? [];
      for (const each of acted) this.#transacted.add(each.id);
      for (const each of effectsRecordedIn(payload)) this.#effects.add(each);
      return;
    }
    this.#entries.add(id);
    for (const each of namingOf(payload).effects) this.#transacted.add(each.id);
    for (const name of namesOf(payload)) this.#names.add(name);
  }

  /**
   * `isMeant`: selects an effect's inputs and answers regardless of the proposal. @throws
   * CanonError for a damaged log
   */
  async found(
    store: LedgerStore & Partial<EffectStore>,
    isMeant?: (text: Json) => boolean,
  ): Promise<FoundEffectValues> {
    const values = new Map<Hash, ErasedValue>();
    const takeTold = (key: Hash): void => {
      for (const { hash, seq } of this.#told.get(key) ?? [])
        if (!this.#proposed.has(hash) && !values.has(hash)) values.set(hash, { hash, seq });
    };
    for (const key of [...this.#transacted, ...this.#effects]) takeTold(key);
    if (isMeant !== undefined)
      for (const each of await this.#refusedCalls(store, isMeant)) values.set(each.hash, each);
    if (!hasLog(store)) return { values: [...values.values()], logged: [], open: [] };
    const logged = new Map<Hash, ErasedLogged>();
    const kept = new Set<number>();
    // Read first: a transaction that has ended by now has all of its records, and no new entry will
    // name them.
    const open = await openEpochs(store, this.#trajectoryId);
    for await (const transaction of loggedTransactions(store, this.#trajectoryId)) {
      const { epoch } = transaction;
      if (this.#epochs.has(epoch)) this.transactions.add(epoch);
      const texts = textsOf(transaction);
      const { keys, isWhole } = this.#readOf(transaction);
      const saying =
        isWhole || isMeant === undefined ? NO_EFFECTS : await sayingOf(store, texts, isMeant);
      for (const [n, key] of keys.entries()) {
        if (!isWhole && !this.#effects.has(key) && !saying.has(n)) continue;
        takeTold(key);
        for (const { hash, is } of texts.filter((text) => text.n === n)) {
          if (
            this.#proposed.has(hash) ||
            values.has(hash) ||
            (await store.erasedBy(hash)) !== undefined
          )
            continue;
          // The text may still be needed, and an entry may yet name it.
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

  /** Calls of rejections with a selected text. Rejections selected as a whole need no search. */
  async #refusedCalls(
    store: LedgerStore,
    isMeant: (text: Json) => boolean,
  ): Promise<ErasedValue[]> {
    const found: ErasedValue[] = [];
    for (const { stored, seq } of this.#refused) {
      const calls = await readSalted((each) => store.blob(each), stored);
      if (calls !== undefined && isMeant(calls)) found.push({ hash: stored.$blob, seq });
    }
    return found;
  }

  #tell(key: Hash, hash: Hash, seq: number): void {
    const told = this.#told.get(key) ?? [];
    this.#told.set(key, told);
    told.push({ hash, seq });
  }

  /** Keys of the effects of a transaction, and whether the whole transaction is selected. */
  #readOf(transaction: LoggedTransaction): {
    readonly keys: readonly Hash[];
    readonly isWhole: boolean;
  } {
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

/** Effects with a selected text. */
async function sayingOf(
  store: LedgerStore,
  texts: readonly LoggedText[],
  isMeant: (text: Json) => boolean,
): Promise<ReadonlySet<number>> {
  const saying = new Set<number>();
  for (const { n, hash } of texts) {
    if (saying.has(n)) continue;
    const text = await readSalted((each) => store.blob(each), {
      $blob: hash,
      bytes: 0,
      salted: true,
    });
    if (text !== undefined && isMeant(text)) saying.add(n);
  }
  return saying;
}

function hasLog(store: LedgerStore & Partial<EffectStore>): store is LedgerStore & EffectStore {
  return store.listEffects !== undefined;
}

/** Effects recorded by an entry that is not a proposal. */
function effectsRecordedIn(payload: Payload): readonly Hash[] {
  const { settled = [], discarded = [], decided } = settlementArgs(payload) ?? {};
  const waiting = pendingEffectIn(payload);
  const all = [...settled.flatMap(({ effects }) => effects), ...discarded];
  return [...all, ...(decided ? [decided] : []), ...(waiting ? [waiting] : [])].map(({ id }) => id);
}

/** The effects and observations of an entry. */
function namingOf(payload: Payload): {
  readonly effects: readonly { readonly id: Hash; readonly effect: Stored }[];
  readonly observations: readonly Observation[];
} {
  switch (payload.kind) {
    case 'commit':
      return { effects: payload.delta.effects, observations: payload.observations };
    case 'pending_approval':
      return {
        effects: payload.proposal.delta.effects,
        observations: payload.proposal.observations,
      };
    case 'rejection':
      return { effects: [], observations: payload.intent.observations };
    default:
      return { effects: [], observations: [] };
  }
}

/**
 * The names of a proposal: its key (from the transaction's name) and its id (it names its
 * approval).
 */
function namesOf(payload: Payload): readonly Hash[] {
  const of = payload.kind === 'pending_approval' ? payload.proposal : payload;
  const names = [
    ...('key_hash' in of ? [of.key_hash] : []),
    ...('proposal_id' in of ? [of.proposal_id] : []),
  ];
  return names.filter((name) => name !== undefined);
}

function isSalted(stored: Stored | undefined): stored is BlobRef {
  return isBlobRef(stored) && stored.salted === true;
}
