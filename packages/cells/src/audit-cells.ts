import { isInstance } from 'assize/internal/base';
import { openStore, type Store, type StoreOptions } from 'assize/internal/stores';
import type { CellPlace, CellsFile } from './cells-file.ts';
import type { DirectoryState } from './directory.ts';
import { faultOf, lastOf } from './divergence.ts';
import type { RootLog } from './root-log.ts';

/** A cell beside its last checkpoint in the root log. */
export interface CellAudit {
  readonly cell: string;
  /** Entries of its last checkpoint in the root log. Undefined: it has none. */
  readonly recorded: number | undefined;
  /** Entries of its log now. Undefined: its store could not be read. */
  readonly size: number | undefined;
  readonly fault: string | undefined;
}

/**
 * Compares each cell with its last checkpoint in the root log: whether its log has that head, or
 * continues it. The root log itself is verified as every ledger is, with `verify` and `audit`.
 */
export async function auditCells(file: CellsFile, log: RootLog): Promise<readonly CellAudit[]> {
  const directory = await log.read();
  return Promise.all(file.cells.map((place) => audited(place, directory, log)));
}

async function audited(
  place: CellPlace,
  directory: DirectoryState,
  { sealKeys }: RootLog,
): Promise<CellAudit> {
  const last = lastOf(directory, place.name);
  const found = { cell: place.name, recorded: last?.size };
  try {
    const store = await openCellReadonly(place, sealKeys);
    try {
      const size = await store.logSize();
      return { ...found, size, fault: last && (await faultOf(store, place.name, last)) };
    } finally {
      await store.close();
    }
  } catch (error) {
    return {
      ...found,
      size: undefined,
      fault: isInstance(error, Error) ? error.message : String(error),
    };
  }
}

/** The store of a cell for reads, without a look at its last checkpoint. */
export function openCellReadonly(
  { store, archive }: CellPlace,
  keys: Pick<StoreOptions, 'rootKeys'> = {},
): Promise<Store> {
  return openStore(atPrimary(store), { mode: 'readonly', checkpoint: false, archive, ...keys });
}

/**
 * The URL with the server that takes the writes. A reader takes the first of several hosts, and a
 * former primary that still runs lacks entries.
 */
function atPrimary(url: string): string {
  const hasSeveralHosts = /^postgres(ql)?:\/\/[^/?]*,/.test(url);
  if (!hasSeveralHosts || url.includes('target_session_attrs=')) return url;
  return `${url}${url.includes('?') ? '&' : '?'}target_session_attrs=primary`;
}
