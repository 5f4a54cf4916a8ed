import { form, requireForm } from '#base';
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
  Values,
  waitingEffectOf,
} from '#ledger';
import { loggedTransactions } from '../../transactions/coordination/read-all.ts';

/**
 * Whether the effect log of a store has nothing of what an entry tells of effects, or erases: then it may have come from another store, as what
 * is told there. For `importLines`, as `cameBefore`. The log is read when the first entry is asked about; as many hashes are in memory as it has.
 *
 * That the log has nothing of an entry is no proof that it was made elsewhere: so it is where rows of the log were lost, too.
 *
 * @throws ArgumentError `bad_argument`; what `readTransaction` throws where the log can't be read
 */
export function madeElsewhere(store: LedgerStore): (entry: Entry) => Promise<boolean> {
  requireForm(form.object, store, 'store');
  let known: Promise<ReadonlySet<Hash>> | undefined;
  return async (entry) => {
    known ??= isEffectStore(store) ? namedIn(store) : Promise.resolve(new Set());
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
  if (isEffectPending(payload)) return [waitingEffectOf(payload).id];
  return (abandonedArgs(payload)?.effects ?? []).map(({ id }) => id);
}

async function textsErasedBy(entry: Entry, store: LedgerStore): Promise<readonly Hash[]> {
  const { payload } = entry;
  const args = isErasure(payload) ? await new Values(store).erasure(entry, payload) : undefined;
  return args === undefined ? [] : loggedErasedBy(args).map(({ hash }) => hash);
}
