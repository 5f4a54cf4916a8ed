import { parsePointer } from 'assize/internal/canon';
import type { CommitPayload, Entry, Patch, ValueReader } from 'assize/internal/ledger';

/**
 * The row that a commit of the gateway's action `call` added to its state, with the id of the call.
 * Undefined for another commit, and after an erasure.
 */
export async function gatewayCall(
  entry: Entry<CommitPayload>,
  values: ValueReader,
): Promise<{ readonly id: string; readonly row: { readonly tool: string } } | undefined> {
  const { action, delta } = entry.payload;
  if (action.name !== 'call') return undefined;
  const patches = (await values.value(entry, delta.state as never)) as unknown;
  for (const patch of Array.isArray(patches) ? (patches as Patch[]) : []) {
    const [member, id, ...below] = parsePointer(patch.path);
    if (member !== 'calls' || id === undefined || below.length > 0 || !('value' in patch)) continue;
    const row = (await values.value(entry, patch.value)) as unknown as
      | { readonly tool?: unknown }
      | undefined;
    // Another entry of the row is that of the call which this one takes back.
    if (typeof row?.tool === 'string') return { id, row: row as { readonly tool: string } };
  }
  return undefined;
}
