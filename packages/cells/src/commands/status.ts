import { EXIT, line, type Output, type Printable, withSharedOptions } from '@assize/command';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { type CellsFile, type DirectoryState, EVERY_TENANT } from '../index.ts';
import { inDeployment } from './deployment.ts';

/** The most lines of each list in text. A document has all of them. */
const LISTED_MAX = 20;

export function status(family: Command): void {
  withSharedOptions(
    family.command('status').description('show the cells, their tenants and the orders in force'),
  )
    .addHelpText('after', `The text has ${LISTED_MAX} lines of each list. With --json all of them.`)
    .action(
      inDeployment(async ({ file, log }, { json, out }) => {
        const directory = await log.read();
        if (json) out.document(documentOf(file, directory));
        else print(file, directory, out);
        return EXIT.ok;
      }),
    );
}

function documentOf({ cells }: CellsFile, directory: DirectoryState): object {
  const { tenants, halted, revoked, orders } = directory;
  const places = cells.map(({ name, url }) => ({
    name,
    url: url ?? null,
    last: checkpointOf(directory, name) ?? null,
  }));
  return { cells: places, tenants, halted, revoked, orders };
}

function print({ cells }: CellsFile, directory: DirectoryState, out: Output): void {
  const { tenants, halted, revoked } = directory;
  const tenantsIn = (name: string) =>
    Object.values(tenants).filter(({ cell }) => cell === name).length;
  out.table(
    [
      { title: 'cell' },
      { title: 'tenants' },
      { title: 'entries in its last checkpoint' },
      { title: 'address' },
    ],
    cells.map(({ name, url = '' }) => [
      name,
      tenantsIn(name),
      checkpointOf(directory, name)?.size ?? 'none',
      url,
    ]),
  );
  const placed = Object.entries(tenants);
  if (placed.length > 0) {
    out.line(line``);
    out.table(
      [{ title: 'tenant' }, { title: 'cell' }],
      placed
        .slice(0, LISTED_MAX)
        .map(([tenant, { cell, to }]) => [
          tenant,
          to === undefined ? cell : `${cell}, moves to ${to}`,
        ]),
    );
    printRest(placed.length, 'tenant', out);
  }
  printList(
    Object.entries(halted).map(
      ([name, why]) => line`${name === EVERY_TENANT ? 'every tenant' : name} is halted: ${why}`,
    ),
    'halt',
    out,
  );
  printList(
    Object.entries(revoked).map(([name, why]) => line`${name} is revoked: ${why}`),
    'revocation',
    out,
  );
}

function printList(lines: readonly Printable[], noun: string, out: Output): void {
  for (const text of lines.slice(0, LISTED_MAX)) out.line(text);
  printRest(lines.length, noun, out);
}

/** The number of the lines that are left out. */
function printRest(count: number, noun: string, out: Output): void {
  if (count > LISTED_MAX)
    out.line(line`and ${counted(count - LISTED_MAX, noun)} more (--json has all)`);
}

/** The last checkpoint that the cell has recorded in the root log. */
function checkpointOf(
  { cells }: DirectoryState,
  name: string,
): DirectoryState['cells'][string] | undefined {
  return Object.hasOwn(cells, name) ? cells[name] : undefined;
}
