import { askNodes, compareWithHead, comparisonFault, integrateLog, logHead } from '#ledger';
import { consistencyProof } from '#merkle';
import { verifyLogged } from '#runtime';
import type { DirectoryState } from './directory.ts';
import { CellsError } from './errors.ts';
import type { Cell } from './open-cell.ts';

/**
 * Records the head of a cell's log in the root log, if it has grown. The entries since the last
 * report are verified before. A log that does not continue its last report stops the writes of the
 * cell: a promoted standby, or a restored backup, lacks answered entries.
 *
 * @throws CellsError `cell_diverged`; LedgerFault for an entry that does not verify
 */
export async function reportCheckpoint(cell: Pick<Cell, 'own' | 'log' | 'watch' | 'place'>): Promise<void> {
  const { own, log, watch, place } = cell;
  await integrateLog(own);
  for (;;) {
    const last = lastOf(watch.directory, place.name);
    const fault = await divergenceOf(cell, watch.directory);
    if (fault !== undefined) throw watch.diverge(fault);
    const { size, root } = await logHead(own);
    if (size === 0 || size === last?.size) return;
    await verifyLogged(own, { from: last?.size ?? 0, to: size });
    const proof = last === undefined ? [] : await askNodes(own, (read) => consistencyProof(last.size, size, read));
    const ruling = await log.report(place.name, { size, root: hexOf(root), proof: proof.map(hexOf) });
    if (ruling.ruling === 'committed') return;
    // Another server of the cell may have reported a later head.
    const before = last?.size;
    await watch.readAgain();
    if (lastOf(watch.directory, place.name)?.size === before)
      throw watch.diverge(diverged(place.name, size, refusalOf(ruling)));
  }
}

/**
 * The fault of a cell whose log does not continue its last checkpoint in the root log. Undefined if
 * it does, or has none.
 */
export async function divergenceOf(
  { own, place }: Pick<Cell, 'own' | 'place'>,
  directory: DirectoryState,
): Promise<CellsError | undefined> {
  const last = lastOf(directory, place.name);
  if (last === undefined) return undefined;
  await integrateLog(own);
  const comparison = await compareWithHead(own, { size: last.size, root: Buffer.from(last.root, 'hex') });
  const fault = comparisonFault(comparison, { origin: `the cell ${place.name} in the root log`, size: last.size });
  return fault === undefined ? undefined : diverged(place.name, last.size, fault);
}

function lastOf({ cells }: DirectoryState, name: string): DirectoryState['cells'][string] | undefined {
  return Object.hasOwn(cells, name) ? cells[name] : undefined;
}

function diverged(cell: string, size: number, message: string): CellsError {
  return new CellsError('cell_diverged', message, { evidence: { cell, size } });
}

function refusalOf(ruling: object): string {
  const { detail = 'it gave no reason' } = ruling as { readonly detail?: string };
  return `The root log refused the checkpoint: ${detail}.`;
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}
