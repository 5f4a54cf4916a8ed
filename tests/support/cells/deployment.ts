import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { type Cell, type CellsFile, openCell, RootLog, readCellsFile } from '#cells';
import { freePort } from '../free-port.ts';
import { ROOT, type Starting, start, type TestServer } from '../server/serving.ts';

/** Cells on SQLite files in a folder of the test. */
export interface TestDeployment {
  readonly folder: string;
  readonly file: CellsFile;
  /** The root log, as an operator has it open. */
  readonly log: RootLog;
  /** Opens a cell, whose store is closed at the end of the test. */
  open(name: string): Promise<Cell>;
  /** Starts a server of a cell at its address. */
  serve(name: string, starting?: Starting): Promise<TestServer & { readonly cell: Cell }>;
}

export interface DeploymentOptions {
  readonly cells?: readonly string[];
  readonly silence?: number;
  /** The tenants that are placed at the start. */
  readonly tenants?: Readonly<Record<string, string>>;
}

const PRINCIPAL = 'operator:test';

export async function deployment({
  cells = ['one', 'two'],
  silence = 5,
  tenants = {},
}: DeploymentOptions = {}): Promise<TestDeployment> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-cells-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  // The file of cells names the ports before the servers start.
  const ports = new Map(
    await Promise.all(cells.map(async (name) => [name, await freePort()] as const)),
  );
  const lines = cells.map(
    (name) =>
      `  ${name}: { store: 'sqlite:./${name}.db', url: 'http://127.0.0.1:${ports.get(name)}' }`,
  );
  const path = join(folder, 'cells.yaml');
  writeFileSync(
    path,
    [`root: sqlite:./root.db`, `silence: ${silence}`, 'cells:', ...lines, ''].join('\n'),
  );
  const file = readCellsFile(path);
  const log = await RootLog.open({ url: file.root, root: ROOT });
  onTestFinished(() => log.close());
  for (const [tenant, cell] of Object.entries(tenants))
    await log.order('place', { tenant, cell }, PRINCIPAL);
  const open = async (name: string): Promise<Cell> => {
    const failed = (error: unknown): void => void console.error(error);
    const cell = await openCell(`cells:${path}?cell=${name}`, { root: ROOT, onFailure: failed });
    onTestFinished(() => cell.store.close());
    return cell;
  };
  return {
    ...{ folder, file, log, open },
    serve: async (name, starting = {}) => {
      const cell = await open(name);
      const port = ports.get(name)!;
      const server = await start({ cell, ...starting, server: { port, ...starting.server } });
      return { ...server, cell };
    },
  };
}
