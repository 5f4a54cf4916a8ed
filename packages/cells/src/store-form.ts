import { CliError, described, note, type StoreForm } from '@assize/command';
import { openStore } from 'assize/internal/stores';
import { partsOfCellsUrl, readCellsFile } from './cells-file.ts';
import { requireCellsKey } from './commands/cells-key.ts';
import { explainedHalt } from './explained-halt.ts';
import { openCell } from './open-cell.ts';
import { cellDeployment } from './served/cell-deployment.ts';

/**
 * `cells:FILE` is the store of the root log, and `cells:FILE?cell=NAME` the one of a cell. The
 * latter refuses what the root log does not allow.
 */
export const cellsForm: StoreForm = {
  open: async (url, { root: wantsRoot = false, ...options }, root) => {
    const { file: path, cell } = partsOfCellsUrl(url);
    const file = readCellsFile(path);
    const { archive: _, ...others } = options;
    const asItIs = (error: unknown): unknown => error;
    if (cell === undefined || wantsRoot)
      return { store: await openStore(file.root, others), explained: asItIs };
    const place = file.cells.find(({ name }) => name === cell);
    if (place !== undefined && options.mode === 'readonly')
      return {
        store: await openStore(place.store, { ...others, archive: place.archive }),
        explained: asItIs,
      };
    if (root === undefined)
      throw new CliError(
        'usage',
        'A cell follows the root log by its root key. Set ASSIZE_ROOT_KEY_FILE to its file.',
      );
    const { store, watch } = await openCell(url, {
      root,
      ...others,
      onFailure: (error) => note(described(error).message),
    });
    return { store, explained: (error) => explainedHalt(error, watch) };
  },
  serve: async (url, options) => {
    const cell = await openCell(url, options);
    return { store: cell.store, url: cell.place.store, deployment: cellDeployment(cell) };
  },
  requireKey: requireCellsKey,
  note: (url) =>
    url.includes('?cell=')
      ? undefined
      : `This is the root log. The entries of a cell are at ${url}?cell=NAME`,
};
