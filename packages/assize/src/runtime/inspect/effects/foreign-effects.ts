import { arg, checkArgument } from '#base';
import { readTransaction, textsOf } from '#effects';
import {
  abandonedArgs,
  type EffectStore,
  type Entry,
  type Hash,
  isEffectPending,
  isEffectStore,
  isErasure,
  isSettlement,
  type LedgerStore,
  loggedErasedBy,
  pendingEffectOf,
  ValueReader,
} from '#ledger';
import { loggedTransactions } from '../../transactions/coordination/read-all.ts';

/**
 * Whether the store's effect log has nothing of the effects that an entry records or erases. The
 * entry may then have come from another store. For `importLines`, as `cameBefore`. The log is read
 * for the first entry; memory holds as many hashes as the log has. A first entry is never foreign.
 *
 * A missing log record does not prove a foreign entry: lost rows of the log look the same.
 *
 * @throws ArgumentError `bad_argument`; the errors of `readTransaction` if the log cannot be read
 */
export function isForeignEntry(store: LedgerStore): (entry: Entry) => Promise<boolean> {
  checkArgument(arg.object, store, 'store');
  let known: Promise<ReadonlySet<Hash>> | undefined;
  return async (entry) => {
    known ??= isEffectStore(store) ? namedIn(store) : Promise.resolve(new Set());
    if (entry.payload.seq === 0) return false;
    const names = await known;
    return !(await namedBy(entry, store)).some((hash) => names.has(hash));
  };
}

/** Entries, effects and texts. */
async function namedIn(store: EffectStore): Promise<ReadonlySet<Hash>> {
  const names = new Set<Hash>();
  for await (const logged of loggedTransactions(store)) {
    const { entry, undoneBy, effects } = readTransaction(logged);
    for (const id of [entry, undoneBy]) if (id !== undefined) names.add(id);
    for (const { key } of effects) names.add(key);
    for (const { hash } of textsOf(logged)) names.add(hash);
  }
  return names;
}

async function namedBy(entry: Entry, store: LedgerStore): Promise<readonly Hash[]> {
  return [entry.id, ...effectsIn(entry), ...(await textsErasedBy(entry, store))];
}

function effectsIn({ payload }: Entry): readonly Hash[] {
  if (isSettlement(payload)) {
    const { settled } = payload.action.args;
    return settled.flatMap(({ commit, effects }) => [commit, ...effects.map(({ id }) => id)]);
  }
  if (payload.kind === 'commit') return payload.delta.effects.map(({ id }) => id);
  if (isEffectPending(payload)) return [pendingEffectOf(payload).id];
  return (abandonedArgs(payload)?.effects ?? []).map(({ id }) => id);
}

async function textsErasedBy(entry: Entry, store: LedgerStore): Promise<readonly Hash[]> {
  const { payload } = entry;
  const args = isErasure(payload)
    ? await new ValueReader(store).erasure(entry, payload)
    : undefined;
  return args === undefined ? [] : loggedErasedBy(args).map(({ hash }) => hash);
}
