import { loggedTransactions } from 'assize/host';
import { GenerationalMap, isAssizeError, isInstance } from 'assize/internal/base';
import { hashText } from 'assize/internal/canon';
import { type LoggedText, textsOf } from 'assize/internal/effects';
import {
  type ErasureArgs,
  type Hash,
  isEffectStore,
  LedgerFault,
  type LedgerStore,
  type LoggedTransaction,
  loggedErasedBy,
  ValueReader,
} from 'assize/internal/ledger';

/** A text that the effect log names is missing without an entry that erased it, or was changed. */
export interface EffectTextLost {
  readonly code: 'effect_text_lost';
  readonly epoch: number;
  readonly n: number;
  readonly detail: string;
}

/** Number of cached erasures. */
const ERASURES_KEPT = 100;

/**
 * Reads each text that the effect log names. For a missing text, checks whether the named entry
 * erased it: an entry of the same trajectory, by effect or by value. `limit`: number of faults
 * after which the check stops.
 */
export async function checkEffectTexts(
  store: LedgerStore,
  limit: number,
  faults: { push(fault: EffectTextLost): number; readonly length: number },
): Promise<void> {
  if (!isEffectStore(store)) return;
  const erasures = new Erasures(store);
  for await (const logged of loggedTransactions(store)) {
    for (const text of namedBy(logged)) {
      if (faults.length >= limit) return;
      const why = await faultOf(store, erasures, logged, text);
      if (why === undefined) continue;
      const { n, is, hash } = text;
      const { epoch } = logged;
      const detail = `the ${is} of effect ${n} of transaction ${epoch}, ${hash}, ${why}; restore it from a backup`;
      faults.push({ code: 'effect_text_lost', epoch, n, detail });
    }
  }
}

/** For a transaction that cannot be read, `verify` reports the fault. */
function namedBy(logged: LoggedTransaction): readonly LoggedText[] {
  try {
    return textsOf(logged);
  } catch (error) {
    if (isAssizeError(error)) return [];
    throw error;
  }
}

async function faultOf(
  store: LedgerStore,
  erasures: Erasures,
  { epoch, trajectory_id }: LoggedTransaction,
  { n, hash }: LoggedText,
): Promise<string | undefined> {
  const text = await store.blob(hash);
  if (text !== undefined) return hashText(text) === hash ? undefined : 'does not hash to its name';
  const by = await store.erasedBy(hash);
  if (by === undefined) return 'is missing, and no erasure is recorded for it';
  const erasure = await erasures.of(by);
  const isNamed =
    erasure?.values.has(hash) === true ||
    (erasure?.trajectory_id === trajectory_id && erasure.logged.has(placed(epoch, n, hash)));
  return isNamed ? undefined : `is missing, and the recorded erasure ${by} does not erase it`;
}

interface Erasure {
  readonly trajectory_id: string;
  readonly values: ReadonlySet<Hash>;
  readonly logged: ReadonlySet<string>;
}

/**
 * The erasures of the requested entries. An unreadable entry erases nothing; the check of its
 * trajectory reports it.
 */
class Erasures {
  readonly #values: ValueReader;
  readonly #known: GenerationalMap<Hash, Erasure | 'none'> = new GenerationalMap(ERASURES_KEPT);

  constructor(store: LedgerStore) {
    this.#values = new ValueReader(store);
  }

  async of(by: Hash): Promise<Erasure | undefined> {
    const known = this.#known.get(by) ?? (await this.#read(by)) ?? 'none';
    this.#known.set(by, known);
    return known === 'none' ? undefined : known;
  }

  async #read(by: Hash): Promise<Erasure | undefined> {
    try {
      const erasure = await this.#values.erasureOf(by);
      return erasure && { trajectory_id: erasure.trajectory_id, ...namesOf(erasure.args) };
    } catch (error) {
      if (isInstance(error, LedgerFault)) return undefined;
      throw error;
    }
  }
}

function namesOf(args: ErasureArgs): Pick<Erasure, 'values' | 'logged'> {
  return {
    values: new Set(args.values.map(({ hash }) => hash)),
    logged: new Set(loggedErasedBy(args).map(({ epoch, n, hash }) => placed(epoch, n, hash))),
  };
}

function placed(epoch: number, n: number, hash: Hash): string {
  return `${epoch} ${n} ${hash}`;
}
