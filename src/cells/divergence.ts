import { compareWithHead, comparisonFault, integrateLog } from '#ledger';
import type { Store } from '#stores';
import type { DirectoryState } from './directory.ts';
import { CellsError } from './errors.ts';

/**
 * The fault of a cell whose log does not continue its last checkpoint in the root log. Undefined if
 * it does, or has none.
 */
export async function divergenceOf(
  store: Store,
  cell: string,
  directory: DirectoryState,
): Promise<CellsError | undefined> {
  const last = lastOf(directory, cell);
  if (last === undefined) return undefined;
  await integrateLog(store);
  const comparison = await compareWithHead(store, { size: last.size, root: Buffer.from(last.root, 'hex') });
  const fault = comparisonFault(comparison, { origin: `the cell ${cell} in the root log`, size: last.size });
  return fault === undefined ? undefined : diverged(cell, last.size, fault);
}

export function diverged(cell: string, size: number, message: string): CellsError {
  return new CellsError('cell_diverged', message, { evidence: { cell, size } });
}

/** The last checkpoint of a cell in the root log. */
export function lastOf({ cells }: DirectoryState, cell: string): DirectoryState['cells'][string] | undefined {
  return Object.hasOwn(cells, cell) ? cells[cell] : undefined;
}
