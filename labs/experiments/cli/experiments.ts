import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bold,
  CliError,
  line,
  makeFolder,
  note,
  requireWritable,
  type Session,
  unwritable,
} from '@assize/command';
import type { ProgressListener, Table } from '../tables/index.ts';

/** The properties of an experiment that its command uses. */
export interface Listed {
  readonly name: string;
  /** One line, for the help. */
  readonly about: string;
  readonly needs?: 'postgres';
  /** Optional packages that it can't be run without. */
  readonly packages?: readonly string[];
  /** Why it can't be run with the data in this folder. */
  lacks?(data: string): string | undefined;
  /** The settings that it goes by, where they are not those that most go by. */
  readonly uses?: readonly string[];
}

/** The experiments that did not run, and the reasons. */
export interface Skipped {
  readonly name: string;
  readonly because: string;
}

/** The result of an experiment. */
export interface Done {
  readonly name: string;
  readonly tables: readonly Table[];
}

/** Says which there are. */
export function listExperiments(
  { json, out }: Session,
  command: string,
  experiments: readonly Listed[],
): void {
  if (json) {
    out.document({ experiments: experiments.map(({ name, about }) => ({ name, about })) });
    return;
  }
  out.table(
    [{ title: 'experiment' }, { title: 'what it measures' }],
    experiments.map(({ name, about }) => [name, about]),
  );
  out.line(line``);
  out.line(
    line`Run some with ${bold(`assize ${command} NAME...`)}, or all with ${bold(`assize ${command} all`)}.`,
  );
}

/** In their own order, each once. @throws CliError `not_found` */
export function namedExperiments<Of extends Listed>(
  experiments: readonly Of[],
  names: readonly string[],
): readonly Of[] {
  const known = new Set(experiments.map(({ name }) => name));
  const unknown = names.find((name) => name !== 'all' && !known.has(name));
  if (unknown !== undefined)
    throw new CliError(
      'not_found',
      `There is no experiment ${unknown}. Choose from ${[...known].join(', ')}, or all.`,
    );
  return names.includes('all')
    ? experiments
    : experiments.filter(({ name }) => names.includes(name));
}

/**
 * The experiments that can run with the given options and the installed packages. Naming an
 * experiment that cannot run is an immediate error.
 *
 * @throws CliError `usage`
 */
export function possible<Of extends Listed>(
  chosen: readonly Of[],
  names: readonly string[],
  { postgres, data }: { readonly postgres?: string; readonly data?: string },
): { readonly runnable: readonly Of[]; readonly skipped: readonly Skipped[] } {
  const lackOf = (experiment: Listed): string | undefined => {
    if (experiment.needs === 'postgres' && postgres === undefined)
      return 'it needs a PostgreSQL server. Name one with --postgres postgres://….';
    const absent = [
      ...(experiment.needs === 'postgres' ? ['pg'] : []),
      ...(experiment.packages ?? []),
    ].filter(isAbsent);
    if (absent.length > 0) {
      const which = absent.length === 1 ? 'the package' : 'the packages';
      return `it needs ${which} ${absent.join(' and ')}. Run npm install ${absent.join(' ')}.`;
    }
    return data === undefined ? undefined : experiment.lacks?.(data);
  };
  const skipped = chosen.flatMap((experiment) => {
    const because = lackOf(experiment);
    return because === undefined ? [] : [{ name: experiment.name, because }];
  });
  const named = skipped.find(({ name }) => names.includes(name));
  if (named !== undefined)
    throw new CliError('usage', `${named.name} cannot run: ${named.because}`);
  return {
    runnable: chosen.filter(({ name }) => skipped.every((each) => each.name !== name)),
    skipped,
  };
}

/**
 * Checked before any experiment runs. A later error would come after minutes and lose all
 * measurements until then.
 */
function isAbsent(name: string): boolean {
  try {
    import.meta.resolve(name);
    return false;
  } catch {
    return true;
  }
}

/** The settings that were typed, by option. */
export interface Typed {
  readonly settings: Readonly<Record<string, string | undefined>>;
  /** The settings of an experiment that declares none. */
  readonly usual: readonly string[];
}

/**
 * Rejects an option that none of the chosen experiments uses.
 *
 * @throws CliError `usage`, naming the experiments that use it
 */
export function refuseUnusedOptions(
  experiments: readonly Listed[],
  chosen: readonly Listed[],
  { settings, usual }: Typed,
): void {
  const goesBy = (setting: string) => (experiment: Listed) =>
    (experiment.uses ?? usual).includes(setting);
  for (const [setting, option] of Object.entries(settings)) {
    if (option === undefined || chosen.some(goesBy(setting))) continue;
    // A loop over all experiments gives each of them the same seed.
    if (setting === 'seed' && chosen.length > 0) {
      note(
        `${option} changes nothing here: chance has no part in ${listOf(chosen.map(({ name }) => name))}.`,
      );
      continue;
    }
    const names = experiments.filter(goesBy(setting)).map(({ name }) => name);
    const which =
      names.length === 1
        ? `experiment ${names[0]}. Name it`
        : `experiments ${listOf(names)}. Name some of them`;
    throw new CliError('usage', `${option} is for the ${which}, or all.`);
  }
}

function listOf(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`;
}

/** Runs one: how far it is stands on standard error, and Ctrl-C ends it between two runs. */
export async function runExperiment(
  { interruption, progress }: Session,
  { name }: Listed,
  run: (watched: ProgressListener) => Promise<readonly Table[]>,
): Promise<readonly Table[]> {
  const tables = await run({
    signal: interruption,
    progress: (done, of) => progress.report(name, done, of),
  });
  progress.end();
  return tables;
}

/** The omitted experiments, by name. */
export function printSkipped(
  { out }: Session,
  {
    skipped,
    undrawn,
  }: { readonly skipped: readonly Skipped[]; readonly undrawn: readonly string[] },
): void {
  for (const { name, because } of skipped) out.line(line`${name} was not run: ${because}`);
  for (const name of undrawn) out.line(line`${name} was not drawn: none of its tables has a plot.`);
}

type TableTexts = Pick<typeof import('../tables/index.ts'), 'tableText' | 'tableTextWithin'>;

/** Each as text, as wide as a terminal is, unless one document is printed in the end. */
export function printTables(
  { json, out }: Session,
  tables: readonly Table[],
  { tableText, tableTextWithin }: TableTexts,
): void {
  if (json) return;
  const textOf = (table: Table): string =>
    out.width === undefined ? tableText(table) : tableTextWithin(table, out.width);
  for (const table of tables) for (const text of textOf(table).split('\n')) out.line(line`${text}`);
}

/**
 * Draws into a folder, and creates it. A missing package or an unwritable folder is reported before
 * any experiment runs. `known` columns keep their colours. The returned function reports whether
 * there was a table to draw.
 *
 * @throws CliError `usage`
 */
export async function drawingInto(
  folder: string | undefined,
  known: readonly string[],
): Promise<(experiment: Listed, tables: readonly Table[]) => boolean> {
  if (folder === undefined) return () => true;
  const { plotter } = await import('../tables/index.ts');
  const svgOf = await plotter(known);
  try {
    makeFolder(folder);
    requireWritable(folder);
  } catch (cause) {
    throw unwritable(`--svg ${folder}`, cause);
  }
  return ({ name }, tables) => {
    const drawn = tables.filter(({ plot }) => plot !== undefined);
    for (const [i, table] of drawn.entries())
      writeFileSync(
        join(folder, drawn.length === 1 ? `${name}.svg` : `${name}-${i + 1}.svg`),
        svgOf(table),
      );
    return drawn.length > 0;
  };
}
