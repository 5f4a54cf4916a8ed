import { verifyLogged } from '@assize/audit/internal/checkpoints';
import { askNodes, integrateLog, logHead } from 'assize/internal/ledger';
import { consistencyProof } from 'assize/internal/merkle';
import { diverged, divergenceOf, lastOf } from './divergence.ts';
import type { Cell } from './open-cell.ts';

/**
 * Records the head of a cell's log in the root log, if it has grown. The entries since the last
 * report are verified before. A log that does not continue its last report stops the writes of the
 * cell: a promoted standby, or a restored backup, lacks answered entries.
 *
 * @throws CellsError `cell_diverged`; LedgerFault for an entry that does not verify
 */
export async function reportCheckpoint(
  cell: Pick<Cell, 'own' | 'log' | 'watch' | 'place'>,
): Promise<void> {
  const { own, log, watch, place } = cell;
  await integrateLog(own);
  for (;;) {
    const last = lastOf(watch.directory, place.name);
    const fault = await divergenceOf(own, place.name, watch.directory);
    if (fault !== undefined) throw watch.diverge(fault);
    const { size, root } = await logHead(own);
    if (size === 0 || size === last?.size) return;
    await verifyLogged(own, { from: last?.size ?? 0, to: size });
    const proof =
      last === undefined
        ? []
        : await askNodes(own, (read) => consistencyProof(last.size, size, read));
    const ruling = await log.report(place.name, {
      size,
      root: hexOf(root),
      proof: proof.map(hexOf),
    });
    if (ruling.ruling === 'committed') return;
    // Another server of the cell may have reported a later head.
    const before = last?.size;
    await watch.readAgain();
    if (lastOf(watch.directory, place.name)?.size === before)
      throw watch.diverge(diverged(place.name, size, refusalOf(ruling)));
  }
}

function refusalOf(ruling: object): string {
  const { detail = 'it gave no reason' } = ruling as { readonly detail?: string };
  return `The root log refused the checkpoint: ${detail}.`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
