import { openStore, type Store, type StoreOptions, sealKeys } from 'assize/internal/stores';
import { cellStore } from './cell-store.ts';
import {
  type CellPlace,
  type CellsFile,
  cellNamed,
  partsOfCellsUrl,
  readCellsFile,
} from './cells-file.ts';
import { divergenceOf } from './divergence.ts';
import { RootLog, type RootLogOptions } from './root-log.ts';
import { RootWatch } from './root-watch.ts';

export interface OpenCellOptions
  extends Pick<
    StoreOptions,
    'mode' | 'checkpoint' | 'vectors' | 'statementTimeoutMs' | 'connectTimeoutMs'
  > {
  readonly root: RootLogOptions['root'];
  readonly onFailure: (error: unknown) => void;
}

/** One cell of a deployment, as a process has it open. */
export interface Cell {
  readonly place: CellPlace;
  readonly file: CellsFile;
  /** The store of the cell. It refuses what the root log does not allow. */
  readonly store: Store;
  /** The same store without that check, for the orders themselves. */
  readonly own: Store;
  readonly log: RootLog;
  readonly watch: RootWatch;
}

/**
 * Opens the cell that a URL `cells:FILE?cell=NAME` names, and follows the root log. The store of
 * the cell closes both.
 *
 * @throws CellsError `bad_config`, `not_found`; the errors of `openStore`
 */
export async function openCell(url: string, options: OpenCellOptions): Promise<Cell> {
  const { file: path, cell } = partsOfCellsUrl(url);
  const file = readCellsFile(path);
  const place = cellNamed(file, cell);
  const { root, onFailure, mode = 'create', ...others } = options;
  const own = await openStore(place.store, {
    ...others,
    mode,
    archive: place.archive,
    ...sealKeys(root),
  });
  let log: RootLog | undefined;
  try {
    // A cell with entries has a root log: an empty one in its place would place its tenants again.
    const isNew = (await own.trajectories()).length === 0;
    log = await RootLog.open({ url: file.root, root, mode: isNew ? mode : 'existing' });
    const watch = new RootWatch({
      ...{ log, file, cell: place.name, applied: log.appliedIn(place.name, own), onFailure },
      compare: (directory) => divergenceOf(own, place.name, directory),
      nowMs: () => performance.now(),
    });
    await watch.start();
    const ended = log;
    const store = cellStore(own, watch, async () => {
      await watch.stop();
      await ended.close();
    });
    return { place, file, store, own, log, watch };
  } catch (error) {
    await log?.close();
    await own.close();
    throw error;
  }
}
