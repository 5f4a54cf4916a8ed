import type { Command } from 'commander';
import { ownerOf } from '#canon';
import {
  auditCells,
  type CellsFile,
  cancelMove,
  EVERY_TENANT,
  isCellsUrl,
  type MoveStep,
  moveTenant,
  partsOfCellsUrl,
  RootLog,
  readCellsFile,
} from '#cells';
import { counted } from '#views';
import { CliError, EXIT, type ExitCode, note } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { requireRootKey } from '../store/root-key.ts';
import { inSession, type Session, type SharedOptions } from '../store/session.ts';
import { green, line, red } from '../terminal/printable.ts';

interface Options extends SharedOptions {
  readonly principal: string;
}

interface ReasonOptions extends Options {
  readonly reason: string;
}

interface MoveOptions extends Options {
  readonly to?: string;
  readonly cancel?: boolean;
}

/** The root log of a deployment, and its file. */
interface Deployment {
  readonly file: CellsFile;
  readonly log: RootLog;
}

const PRINCIPAL = 'operator:cli';

const STEPS: Readonly<Record<MoveStep, string>> = {
  stopping: 'waits until a server of the old cell has stopped the tenant',
  settling: 'waits for tool calls in progress',
  copying: 'copies the entries',
  verifying: 'verifies the copy',
  remembering: 'rebuilds the facts of the new cell',
  moved: 'moved',
};

export function cells(program: Command): void {
  const family = program
    .command('cells')
    .description('place tenants over several databases, and give orders to all of them')
    .addHelpText(
      'after',
      '\nExamples:\n  assize cells status --store cells:cells.yaml\n  assize cells move acme --to eu-2\n\n' +
        'The store is cells:FILE, from --store, ASSIZE_STORE or the configuration.',
    );
  status(family);
  place(family);
  move(family);
  stops(family, 'halt', 'stop a tenant, or every tenant (*), in every cell');
  stops(family, 'resume', 'end a halt of the root log');
  revoke(family);
  audit(family);
}

function status(family: Command): void {
  withSharedOptions(
    family.command('status').description('show the cells, their tenants and the orders in force'),
  ).action(
    inDeployment(async ({ file, log }, { json, out }) => {
      const { cells, tenants, halted, revoked, orders } = await log.read();
      const lastOf = (name: string) => (Object.hasOwn(cells, name) ? cells[name] : undefined);
      if (json) {
        const places = file.cells.map(({ name, url }) => ({ name, url: url ?? null, last: lastOf(name) ?? null }));
        out.document({ cells: places, tenants, halted, revoked, orders });
        return EXIT.ok;
      }
      const count = (name: string) => Object.values(tenants).filter(({ cell }) => cell === name).length;
      out.table(
        [{ title: 'cell' }, { title: 'tenants' }, { title: 'entries in its last checkpoint' }, { title: 'address' }],
        file.cells.map(({ name, url }) => [name, String(count(name)), String(lastOf(name)?.size ?? 'none'), url ?? '']),
      );
      for (const [tenant, { cell, to }] of Object.entries(tenants))
        if (to !== undefined) out.line(line`${tenant} moves from ${cell} to ${to}`);
      for (const [tenant, reason] of Object.entries(halted))
        out.line(line`${tenant === EVERY_TENANT ? 'every tenant' : tenant} is halted: ${reason}`);
      for (const [principal, reason] of Object.entries(revoked)) out.line(line`${principal} is revoked: ${reason}`);
      return EXIT.ok;
    }),
  );
}

function place(family: Command): void {
  withSharedOptions(
    family
      .command('place')
      .description('place a new tenant in a cell')
      .argument('<tenant>', 'the part of its trajectories’ names before the first colon')
      .option('--cell <name>', 'the cell (default: chosen by the name of the tenant)')
      .option('--principal <name>', 'principal of the order', PRINCIPAL),
  ).action(
    inDeployment(
      async ({ file, log }, { json, out }, options: Options & { readonly cell?: string }, tenant: string) => {
        const chosen = ownerOf(
          tenant,
          file.cells.map(({ name }) => ({ id: name })),
        )!.id;
        const cell = options.cell === undefined ? chosen : known(file, options.cell);
        await log.order('place', { tenant, cell }, options.principal);
        if (json) out.document({ tenant, cell });
        else out.line(line`${tenant} lives in ${cell}.`);
        return EXIT.ok;
      },
      'create',
    ),
  );
}

function move(family: Command): void {
  withSharedOptions(
    family
      .command('move')
      .description('move a tenant to another cell: stop, copy, verify, flip')
      .argument('<tenant>', 'the tenant')
      .option('--to <cell>', 'the cell that gets the tenant')
      .option('--cancel', 'end a move that was interrupted: the tenant stays where it is')
      .option('--principal <name>', 'principal of the order', PRINCIPAL),
  )
    .addHelpText(
      'after',
      'Both cells go on for their other tenants. A server of each must run: they halt and resume the tenant.\n' +
        'An interrupted move goes on when the command is repeated. The old cell keeps its copy of the entries.',
    )
    .action(
      inDeployment(async ({ file, log }, { json, out, interruption }, options: MoveOptions, tenant: string) => {
        const { to, cancel = false, principal } = options;
        if (cancel === (to !== undefined)) throw new CliError('usage', 'Pass --to CELL, or --cancel.');
        if (to === undefined) {
          const cell = await cancelMove({ log, tenant, principal });
          if (json) out.document({ tenant, cell, moved: false });
          else out.line(line`${tenant} stays in ${cell}.`);
          return EXIT.ok;
        }
        let isStopped = false;
        const moved = await moveTenant({
          ...{ file, log, tenant, to: known(file, to), principal, signal: interruption },
          onStep: (step) => {
            isStopped = true;
            if (!json && step !== 'moved') out.line(line`${STEPS[step]}`);
          },
        }).catch((error: unknown) => {
          if (isStopped)
            note(
              `${tenant} is stopped. Repeat the command to go on, or end the move: assize cells move ${tenant} --cancel`,
            );
          throw error;
        });
        if (json) out.document({ tenant, cell: to, moved: true, ...moved });
        else {
          const what = `${counted(moved.trajectories, 'trajectory')} with ${counted(moved.entries, 'entry')}`;
          out.line(green(line`${tenant} lives in ${to}: ${what} came from ${moved.from}.`));
        }
        return EXIT.ok;
      }),
    );
}

function stops(family: Command, does: 'halt' | 'resume', description: string): void {
  withSharedOptions(
    family
      .command(does)
      .description(description)
      .argument('<tenant>', 'the tenant, or * for every one')
      .requiredOption('--reason <text>', 'reason; it stays in the root log')
      .option('--principal <name>', 'principal of the order', PRINCIPAL),
  ).action(
    inDeployment(async ({ log }, { json, out }, { reason, principal }: ReasonOptions, tenant: string) => {
      await log.order(does, { tenant, reason }, principal);
      if (json) out.document({ tenant, [does === 'halt' ? 'halted' : 'resumed']: true });
      else out.line(line`Ordered. Each cell follows within a second, or accepts no entry.`);
      return EXIT.ok;
    }),
  );
}

function revoke(family: Command): void {
  withSharedOptions(
    family
      .command('revoke')
      .description('revoke every grant of a principal in every cell, for good')
      .argument('<name>', 'name of the principal')
      .requiredOption('--reason <text>', 'reason; it stays in the root log')
      .option('--principal <name>', 'principal of the order', PRINCIPAL),
  ).action(
    inDeployment(async ({ log }, { json, out }, { reason, principal }: ReasonOptions, name: string) => {
      await log.order('revoke', { principal: name, reason }, principal);
      if (json) out.document({ revoked: name });
      else out.line(line`Ordered. Each cell follows within a second, or accepts no entry.`);
      return EXIT.ok;
    }),
  );
}

function audit(family: Command): void {
  withSharedOptions(
    family
      .command('audit')
      .description('compare the log of each cell with its last checkpoint in the root log')
      .addHelpText(
        'after',
        'The root log itself is verified as every store is: assize verify --store cells:FILE\n' +
          'Negative: a cell lacks entries, was changed, or cannot be read.',
      ),
  ).action(
    inDeployment(async ({ file, log }, { json, out }) => {
      const audits = await auditCells(file, log);
      const isSound = audits.every(({ fault }) => fault === undefined);
      if (json)
        out.document({
          sound: isSound,
          cells: audits.map(({ cell, recorded, size, fault }) => ({
            ...{ cell, recorded: recorded ?? null, size: size ?? null },
            ...(fault !== undefined && { fault }),
          })),
        });
      else
        for (const { cell, recorded, size, fault } of audits)
          out.line(
            fault === undefined
              ? green(
                  line`${cell}: ${counted(size ?? 0, 'entry')}, of which ${String(recorded ?? 0)} are in the root log`,
                )
              : red(line`${cell}: ${fault}`),
          );
      return isSound ? EXIT.ok : EXIT.negative;
    }),
  );
}

/**
 * Opens the root log of the store URL, and closes it. `create`: makes one that does not exist. An
 * order in a new log by mistake would reach no cell.
 */
function inDeployment<O extends SharedOptions>(
  work: (deployment: Deployment, session: Session, options: O, ...args: string[]) => Promise<ExitCode>,
  mode: 'create' | 'existing' = 'existing',
) {
  return inSession(async (session: Session, options: O, ...args: string[]) => {
    const { storeUrl } = session;
    if (!isCellsUrl(storeUrl))
      throw new CliError('usage', 'The store is no file of cells. Pass --store cells:FILE, such as cells:cells.yaml.');
    const file = readCellsFile(partsOfCellsUrl(storeUrl).file);
    const log = await RootLog.open({ url: file.root, root: requireRootKey(storeUrl), mode });
    try {
      return await work({ file, log }, session, options, ...args);
    } finally {
      await log.close();
    }
  });
}

/** @throws CliError `not_found` */
function known({ file, cells }: CellsFile, name: string): string {
  if (cells.some((cell) => cell.name === name)) return name;
  throw new CliError(
    'not_found',
    `${file} has no cell ${name}. Name one of: ${cells.map((cell) => cell.name).join(', ')}.`,
  );
}
