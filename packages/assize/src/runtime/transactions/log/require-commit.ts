import {
  type EffectPhase,
  isUnresolved,
  logDamaged,
  type readWithCommittedKeys,
  type TransactionBody,
} from '#effects';
import { type EntryRow, type Hash, isBlobRef, readRow } from '#ledger';
import type { OpenEffects } from '../settle/settle.ts';

/** The ledger, as recovery reads it. */
export interface CommitReader {
  entry(id: Hash): Promise<EntryRow | undefined>;
  /** @throws RuntimeError `wrong_signer` if this process cannot record the outcome of a call */
  requireSigner(trajectoryId: string): Promise<void>;
  /** Whether another store may call the tools of the trajectory. */
  isElsewhere(trajectoryId: string): Promise<boolean>;
  /** The open ones of these effects, and of a commit's. */
  openEffects(
    trajectoryId: string,
    keys: readonly Hash[],
    commit: Hash | undefined,
  ): Promise<OpenEffects>;
  /** @throws EffectError `log_damaged` if the ledger has the end of the transaction */
  refuseEnded(trajectoryId: string, epoch: number, body: TransactionBody): Promise<void>;
}

/** Phases of a transaction in which the calls of a commit are made, repeated or compensated. */
const ACTING: ReadonlySet<string> = new Set(['committed', 'failing']);
/** Phases of a transaction without a commit. */
const UNCOMMITTED: ReadonlySet<string> = new Set(['open', 'aborting']);
/** Phases of an effect that is called or compensated next. */
const NEXT: ReadonlySet<EffectPhase> = new Set(['due', 'applying', 'executed', 'undoing']);

/**
 * The keys of the commit that a transaction of the log names. Requires an entry of its trajectory
 * with the same epoch, keys and inputs, whose next effects are not settled. A row that was written
 * into the log could otherwise call any tool, or repeat a call.
 *
 * Rows that were removed could repeat a call too. So the ledger must not have the end of an
 * unfinished transaction, and an effect that waits for an operator there must wait in the log.
 *
 * @throws EffectError `log_damaged`; RuntimeError `wrong_signer`; the errors of `ledger`
 */
export async function requireCommit(
  { known, committedKeys }: ReturnType<typeof readWithCommittedKeys>,
  ledger: CommitReader,
): Promise<ReadonlySet<Hash>> {
  const { epoch, entry, effects, state, trajectoryId, body } = known;
  await ledger.requireSigner(trajectoryId);
  const committed = new Set(committedKeys);
  if (UNCOMMITTED.has(state.phase)) await ledger.refuseEnded(trajectoryId, epoch, body);
  const keys = effects.map(({ key }) => key);
  const { unsettled, waiting } = await ledger.openEffects(trajectoryId, keys, entry);
  for (const [n, { key, tool }] of effects.entries())
    if (waiting.has(key) && !isUnresolved(state.effects[n]!.phase))
      throw logDamaged(
        epoch,
        `has a call of ${tool} that waits for an operator in the ledger, and not in the log`,
      );
  if (!ACTING.has(state.phase) || entry === undefined) return new Set();
  const row = await ledger.entry(entry);
  const payload = row?.trajectory_id === trajectoryId ? readRow(row).payload : undefined;
  if (payload?.kind !== 'commit')
    throw logDamaged(epoch, `names ${entry}, which is not a commit of ${trajectoryId}`);
  if (payload.epoch !== epoch)
    throw logDamaged(
      epoch,
      `names the commit ${entry}, which belongs to transaction ${payload.epoch}`,
    );
  const inputs = new Map(payload.delta.effects.map(({ id, effect }) => [id, effect]));
  for (const [n, { key, tool, payload: logged }] of effects.entries()) {
    if (!committed.has(key)) continue;
    const input = inputs.get(key);
    if (!isBlobRef(input) || input.$blob !== logged.$blob)
      throw logDamaged(epoch, `has a call of ${tool} that its commit ${entry} does not name`);
    if (NEXT.has(state.effects[n]!.phase) && !unsettled.has(key))
      throw logDamaged(epoch, `has an open call of ${tool} that the ledger has settled`);
  }
  return committed;
}
