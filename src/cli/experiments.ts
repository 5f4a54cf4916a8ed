import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Table, Watched } from 'assize/tables';
import { CliError } from './errors.ts';
import { bold, line } from './printable.ts';
import type { Session } from './session.ts';

/** What a command that runs experiments knows of one. */
export interface Listed {
  readonly name: string;
  /** One line, for the help. */
  readonly about: string;
}

/** What an experiment came to. */
export interface Done {
  readonly name: string;
  readonly tables: readonly Table[];
}

/** Says which there are. */
export function listExperiments({ json, out }: Session, command: string, experiments: readonly Listed[]): void {
  if (json) {
    out.document({ experiments: experiments.map(({ name, about }) => ({ name, about })) });
    return;
  }
  out.table(
    [{ title: 'experiment' }, { title: 'what it measures' }],
    experiments.map(({ name, about }) => [name, about]),
  );
  out.line(line``);
  out.line(line`Run some with ${bold(`assize ${command} NAME...`)}, or all with ${bold(`assize ${command} all`)}.`);
}

/** In their own order, each once. @throws CliError `not_found` */
export function namedExperiments<Of extends Listed>(
  experiments: readonly Of[],
  names: readonly string[],
): readonly Of[] {
  const known = new Set(experiments.map(({ name }) => name));
  const unknown = names.find((name) => name !== 'all' && !known.has(name));
  if (unknown !== undefined)
    throw new CliError('not_found', `There is no experiment ${unknown}; there are ${[...known].join(', ')}, and all.`);
  return names.includes('all') ? experiments : experiments.filter(({ name }) => names.includes(name));
}

/** Runs one: how far it is stands on standard error, and Ctrl-C ends it between two runs. */
export async function runExperiment(
  { interruption, progress }: Session,
  { name }: Listed,
  run: (watched: Watched) => Promise<readonly Table[]>,
): Promise<readonly Table[]> {
  const tables = await run({ signal: interruption, progress: (done, of) => progress.report(name, done, of) });
  progress.end();
  return tables;
}

/** Each as text, unless one document is printed in the end. */
export function printTables({ json, out }: Session, tables: readonly Table[], textOf: (table: Table) => string): void {
  if (json) return;
  for (const table of tables) for (const text of textOf(table).split('\n')) out.line(line`${text}`);
}

/** Draws into a folder, which is made; what can't be drawn is found out before anything is run. `known` columns keep their colours. */
export async function drawingInto(
  folder: string | undefined,
  known: readonly string[],
): Promise<(experiment: Listed, tables: readonly Table[]) => void> {
  if (folder === undefined) return () => undefined;
  const { plotter } = await import('assize/tables');
  const svgOf = await plotter(known);
  mkdirSync(folder, { recursive: true });
  return ({ name }, tables) => {
    const drawn = tables.filter(({ plot }) => plot !== undefined);
    for (const [i, table] of drawn.entries())
      writeFileSync(join(folder, drawn.length === 1 ? `${name}.svg` : `${name}-${i + 1}.svg`), svgOf(table));
  };
}
