import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BranchFolders } from '@assize/tools/internal/branches';
import { fileTools } from '@assize/tools/internal/files';
import type { Delivery } from 'assize/internal/effects';
import { type Cell, type Table, yieldToEventLoop } from '../../tables/index.ts';
import type { Running } from '../experiment.ts';
import { scaled } from '../measure.ts';
import { Metrics, SIX_COLUMNS } from '../metrics.ts';
import { MODES, type Mode, type ModeName } from '../modes.ts';
import type { TaskResult } from '../run-task.ts';
import { openScratch } from '../scratch.ts';
import { numbersFrom } from '../seeded-random.ts';
import {
  type Branch,
  GIVEN,
  isInPaper,
  placesOf,
  speculatorIn,
  type Trying,
  WRITES,
} from './speculators.ts';

/** Chance decides here only which branch is chosen. Few runs show that as well as many. */
const RUNS = 6;
const BRANCHES = [2, 3, 4, 8, 16];
interface Place {
  readonly name: string;
  /** Missing for copies: each branch writes them immediately. */
  readonly delivery?: Delivery;
}

/** Where branches write. Copies are of the runtime, so only transactions have them. */
const PLACES: readonly Place[] = [
  ...WRITES.map(({ name, delivery }) => ({ name: `the folder, ${name}`, delivery })),
  { name: 'copies of it' },
];

/**
 * Files of aborted branches at the end of all runs of the paper, with `IN_PAPER` branches (§6.3).
 */
const LEAKED: Partial<Record<ModeName, number>> = {
  'Tx-Full': 0,
  CR: 40,
  'No-Frontier': 40,
  'No-Tx': 40,
};
const IN_PAPER = 3;

/**
 * Files that losing branches leave in a real folder, and files that are there before a branch is
 * chosen.
 */
export async function leakedFiles(running: Running): Promise<Table[]> {
  const runs = scaled(RUNS, running);
  const settings = PLACES.flatMap((place) => BRANCHES.map((branches) => ({ place, branches })));
  const cells = settings.flatMap((setting) =>
    MODES.filter((mode) => isThere(setting.place, mode)).map((mode) => ({ ...setting, mode })),
  );
  const measured = new Map<string, Metrics>();
  let done = 0;
  for (const { place, branches, mode } of cells) {
    const metrics = new Metrics(running.seed);
    for (let run = 0; run < runs; run++) {
      await yieldToEventLoop(running);
      metrics.add(await filesIn(mode, place, branches, numbersFrom('files', running.seed, run)));
      running.progress(++done, runs * cells.length);
    }
    measured.set(nameOf(place, branches, mode), metrics);
  }
  const tableOf = (
    title: string,
    cellOf: (metrics: Metrics, place: Place, branches: number, mode: Mode) => Cell,
  ): Table => ({
    source: 'RQ2',
    title,
    keys: ['branches write into', 'branches'],
    columns: MODES.map(({ name }) => name),
    rows: settings.map(({ place, branches }) => ({
      keys: [place.name, branches],
      cells: MODES.map((mode) => {
        const metrics = measured.get(nameOf(place, branches, mode));
        return metrics === undefined ? { measured: '–' } : cellOf(metrics, place, branches, mode);
      }),
    })),
    notes: [
      `Means of ${runs} runs a cell; a branch writes one file, through the tools of @assize/tools/files, into a folder, or into a copy of it that is its own (@assize/tools/unstable/branches), and the folder is then listed by other means, with all copies that were left. Without transactions there are no copies. A checkpoint is of the state and not of the disk, as the paper’s of a browser is not of its server. Ours without a frontier undoes what it wrote directly; the paper’s has left it. Its figures are of all its runs; it does not say how many there were.`,
      GIVEN,
    ],
    plot: { sort: 'line', x: 'branches', y: 'files a run' },
  });
  return [
    tableOf('files that losing branches left, a run', (metrics, { delivery }, branches, mode) => {
      const isPaper = branches === IN_PAPER && delivery !== undefined && isInPaper(mode, delivery);
      const paper = isPaper ? LEAKED[mode.name] : undefined;
      return {
        measured: metrics.counted('leaked') / metrics.runs,
        ...(paper === undefined ? {} : { paper: `${paper} in all` }),
      };
    }),
    tableOf('files of any branch that were to be seen before one was chosen, a run', (metrics) => ({
      measured: metrics.counted('seen') / metrics.runs,
    })),
    {
      source: 'RQ2',
      title:
        'files of branches: all six metrics, in per cent but for errors, over all numbers of branches',
      digits: 1,
      keys: ['branches write into', 'mode'],
      columns: SIX_COLUMNS,
      rows: PLACES.flatMap((place) =>
        MODES.filter((mode) => isThere(place, mode)).map((mode) => ({
          keys: [place.name, mode.name],
          cells: Metrics.together(
            BRANCHES.map((branches) => measured.get(nameOf(place, branches, mode))!),
            running.seed,
          ).six(),
        })),
      ),
      notes: [
        `${runs * BRANCHES.length} runs a row. The one step that is to be there is the file of the branch that is chosen. Nothing goes wrong with a call here, so none is undone for that, and no error is told.`,
      ],
    },
  ];
}

function isThere({ delivery }: Place, { transactional }: Mode): boolean {
  return delivery !== undefined || transactional;
}

function nameOf(place: Place, branches: number, { name }: Mode): string {
  return `${place.name} ${branches} ${name}`;
}

async function filesIn(
  mode: Mode,
  { delivery }: Place,
  count: number,
  chance: () => number,
): Promise<TaskResult> {
  await using scratch = await openScratch();
  // Copies stand beside it.
  const root = join(scratch.path, 'folder');
  await mkdir(root);
  const folders = new BranchFolders({ root });
  const tools = [
    ...fileTools({ root, ...(delivery !== undefined && { delivery }) }),
    ...folders.tools,
  ];
  const speculator = await speculatorIn(mode, {
    tools,
    writes: ['fs:**'],
    world: { snapshot: () => undefined, restore: () => {} },
    ...(delivery !== undefined ? {} : { trying: inCopiesOf(folders) }),
  });
  const winner = Math.floor(chance() * count);
  const contentOf = (branch: number): string => `as branch ${branch} has it`;
  let seen = 0;
  const branches = placesOf(count).map(
    (branch): Branch =>
      async (call) => {
        await call('files.write', { path: `plan-${branch}.txt`, content: contentOf(branch) });
        seen = Math.max(seen, (await plansIn(root)).length);
      },
  );
  let isDone = false;
  try {
    ({ isDone } = await speculator.try(branches, (failed) => (failed.length === 1 ? 0 : winner)));
  } finally {
    await speculator.close();
  }
  const own = join(root, `plan-${winner}.txt`);
  const left = await plansIn(scratch.path);
  const isPresent = left.includes(own);
  const isRight = isPresent && (await readFile(own, 'utf8')) === contentOf(winner);
  const leaked = left.filter((path) => path !== own).length;
  return {
    steps: 1,
    success: isDone,
    faults: 0,
    retries: 0,
    recovered: 0,
    propagated: isDone ? 0 : 1,
    waiting: 0,
    judged: {
      correct: isRight && leaked === 0,
      expected: 1,
      present: isPresent ? 1 : 0,
      wrong: isPresent && !isRight ? 1 : 0,
      // Others than the one that is to stay.
      contaminated: seen > 1 || leaked > 0,
      counts: { leaked, seen },
    },
  };
}

/** Each branch writes into a copy of its own. */
function inCopiesOf(folders: BranchFolders): Trying {
  return (tx, branches, choose) =>
    folders.speculate(
      tx,
      branches.map(
        (branch) => (_: unknown, folder) =>
          branch((_tool, { path, content }) => folder.write(path, content)),
      ),
      choose,
    );
}

async function plansIn(folder: string): Promise<string[]> {
  const all = await readdir(folder, { recursive: true, withFileTypes: true });
  return all
    .filter((each) => each.isFile() && each.name.startsWith('plan-'))
    .map(({ parentPath, name }) => join(parentPath, name));
}
