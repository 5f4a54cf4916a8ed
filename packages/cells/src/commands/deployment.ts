import {
  CliError,
  type ExitCode,
  inSession,
  requireRootKey,
  type Session,
  type SharedOptions,
} from '@assize/command';
import { nearestName } from 'assize/internal/base';
import type { RootKey } from 'assize/internal/config';
import { Option } from 'commander';
import {
  type CellsFile,
  type DirectoryState,
  isCellsUrl,
  partsOfCellsUrl,
  RootLog,
  readCellsFile,
} from '../index.ts';
import { requireCellsKey, requireRootLog } from './cells-key.ts';

/** The options of an order. */
export interface OrderOptions extends SharedOptions {
  readonly principal: string;
  readonly reason: string;
  readonly force?: boolean;
}

/** The root log of a deployment, and its file. */
export interface Deployment {
  readonly file: CellsFile;
  readonly log: RootLog;
  readonly root: RootKey;
}

export const principalOption: Option = new Option(
  '--principal <name>',
  'principal of the order',
).default('operator:cli');

export const reasonOption: Option = new Option(
  '--reason <text>',
  'reason; it stays in the root log',
).makeOptionMandatory();

export const forceOption: Option = new Option(
  '--force',
  'give the order although the command does not find the name',
);

/**
 * Opens the root log of the store URL, and closes it. `create`: makes one that does not exist. An
 * order in a new log by mistake would reach no cell. The configuration is read only if it has to
 * name the store.
 */
export function inDeployment<O extends SharedOptions>(
  work: (
    deployment: Deployment,
    session: Session,
    options: O,
    ...args: string[]
  ) => Promise<ExitCode>,
  mode: 'create' | 'existing' = 'existing',
) {
  return inSession(async (session: Session, options: O, ...args: string[]) => {
    const { storeUrl } = session;
    if (!isCellsUrl(storeUrl))
      throw new CliError(
        'usage',
        'The store is not a file of cells. Pass --store cells:FILE, such as cells:cells.yaml.',
      );
    const file = readCellsFile(partsOfCellsUrl(storeUrl).file);
    if (mode === 'existing') await requireRootLog(storeUrl);
    await requireCellsKey(storeUrl);
    const root = requireRootKey(storeUrl);
    const log = await RootLog.open({ url: file.root, root, mode });
    try {
      return await work({ file, log, root }, session, options, ...args);
    } finally {
      await log.close();
    }
  }, 'store');
}

/** The cell of that name. @throws CliError `not_found` */
export function cellOf({ cells, file }: CellsFile, name: string): string {
  const names = cells.map((cell) => cell.name);
  if (names.includes(name)) return name;
  throw new CliError('not_found', `${file} has no cell ${name}. Name one of: ${names.join(', ')}.`);
}

/** @throws CliError `usage` for the name of a trajectory */
export function requireTenantName(tenant: string): void {
  const colon = tenant.indexOf(':');
  if (colon < 0) return;
  throw new CliError(
    'usage',
    `${tenant} is the name of a trajectory. Name its tenant, the part before the colon: ${tenant.slice(0, colon)}`,
  );
}

/** @throws CliError `not_found` unless a cell has the tenant */
export function requireTenant(
  { tenants }: DirectoryState,
  tenant: string,
  otherwise: string,
): void {
  if (Object.hasOwn(tenants, tenant)) return;
  const nearest = tenant === '' ? undefined : nearestName(tenant, Object.keys(tenants));
  const meant =
    nearest === undefined ? 'List the tenants with assize cells status' : `Did you mean ${nearest}`;
  throw new CliError(
    'not_found',
    `No cell has the tenant ${tenant}. ${meant}${nearest === undefined ? '.' : '?'} ${otherwise}`,
  );
}
