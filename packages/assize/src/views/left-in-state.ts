import type { Json } from '#base';
import { type Domain, failureIntent } from '#kernel';
import { type Hash, type LedgerStore, type RoleRef, readRow, type ValueReader } from '#ledger';

/** The changes that a commit left in the state, although one of its calls did not happen. */
export interface LeftInState {
  readonly entry_id: Hash;
  readonly action: string;
  readonly paths: string[];
  /** The proposal that the domain declares for a failure (`onFailure`), not made yet. */
  readonly correction?: {
    readonly action: string;
    readonly role: string | RoleRef;
    readonly args: Json;
  };
}

/** Undefined for a transaction without a commit, and for a commit that changed no state. */
export async function leftInState(
  store: Pick<LedgerStore, 'resolve'>,
  values: Pick<ValueReader, 'read'>,
  commit: Hash | undefined,
  actions: Domain['actions'],
): Promise<LeftInState | undefined> {
  const row = commit === undefined ? undefined : await store.resolve(commit);
  const payload = row === undefined ? undefined : readRow(row).payload;
  if (row === undefined || payload?.kind !== 'commit') return undefined;
  const { action, delta } = payload;
  const [args, changes] = [
    await values.read<Json>(payload, action.args),
    await values.read(payload, delta.state),
  ];
  const paths = 'value' in changes ? changes.value.map(({ path }) => path) : [];
  if (paths.length === 0) return undefined;
  const left = { entry_id: row.id, action: action.name, paths };
  if (!('value' in args)) return left;
  const intent = failureIntent(actions[action.name], args.value, action.role.params);
  return 'fault' in intent
    ? left
    : { ...left, correction: { role: action.role, ...intent, args: intent.args as Json } };
}
