import {
  compareWithHead,
  comparisonFault,
  integrateLog,
  type LogStore,
} from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import type { DirectoryState } from './directory.ts';
import { CellsError } from './errors.ts';

type Checkpoint = DirectoryState['cells'][string];

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
  const fault = await faultOf(store, cell, last);
  return fault === undefined ? undefined : diverged(cell, last.size, fault);
}

/** The fault of a log beside a checkpoint of its cell, in one sentence. Writes nothing. */
export async function faultOf(
  store: LogStore,
  cell: string,
  { size, root }: Checkpoint,
): Promise<string | undefined> {
  const comparison = await compareWithHead(store, { size, root: Buffer.from(root, 'hex') });
  return comparisonFault(comparison, { origin: `the cell ${cell} in the root log`, size });
}

export function diverged(cell: string, size: number, message: string): CellsError {
  return new CellsError('cell_diverged', message, { evidence: { cell, size } });
}

/** The last checkpoint of a cell in the root log. */
export function lastOf({ cells }: DirectoryState, cell: string): Checkpoint | undefined {
  return Object.hasOwn(cells, cell) ? cells[cell] : undefined;
}
