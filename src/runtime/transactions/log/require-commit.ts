import { logDamaged, type readWithCommittedKeys } from '#effects';
import { type EntryRow, type Hash, isBlobRef, readRow } from '#ledger';

/** Phases in which the calls of a commit are made, repeated or compensated. */
const ACTING: ReadonlySet<string> = new Set(['committed', 'failing']);

/**
 * Requires the commit that a transaction of the log names: an entry of its trajectory with the same
 * keys and inputs. A row that was written into the log could otherwise call any tool.
 *
 * @throws EffectError `log_damaged`
 */
export async function requireCommit(
  { known, committedKeys }: ReturnType<typeof readWithCommittedKeys>,
  entryOf: (id: Hash) => Promise<EntryRow | undefined>,
): Promise<void> {
  const { epoch, entry, effects, state, trajectoryId } = known;
  if (!ACTING.has(state.phase)) return;
  const row = entry === undefined ? undefined : await entryOf(entry);
  const payload = row?.trajectory_id === trajectoryId ? readRow(row).payload : undefined;
  if (payload?.kind !== 'commit') throw logDamaged(epoch, `names ${entry}, which is no commit of ${trajectoryId}`);
  const inputs = new Map(payload.delta.effects.map(({ id, effect }) => [id, effect]));
  const committed = new Set(committedKeys);
  for (const { key, tool, payload: logged } of effects) {
    if (!committed.has(key)) continue;
    const input = inputs.get(key);
    if (!isBlobRef(input) || input.$blob !== logged.$blob)
      throw logDamaged(epoch, `has a call of ${tool} that its commit ${entry} does not name`);
  }
}
