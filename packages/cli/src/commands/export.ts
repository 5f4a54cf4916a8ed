import { type FileHandle, open, rm } from 'node:fs/promises';
import { type ExportedStore, exportLines } from '@assize/audit/internal/export';
import {
  CliError,
  EXIT,
  featuresInUse,
  inSession,
  positive,
  type Session,
  type SharedOptions,
  unwritable,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import { integrateLog } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';

interface ExportOptions extends SharedOptions {
  readonly out?: string;
  readonly size?: number;
  readonly tenant?: string;
}

export function exportCommand(program: Command): void {
  const command = withSharedOptions(
    program
      .command('export')
      .description('write all entries and their blobs as JSON Lines, in the order of the log')
      .option('--out <file>', 'output file (default: standard output)')
      .option(
        '--size <n>',
        'only the first n entries of the log, such as those of a checkpoint (default: all)',
        positive,
      ),
  );
  const tenantLog = featuresInUse().find((feature) => feature.tenantLog !== undefined)?.tenantLog;
  if (tenantLog !== undefined)
    command.option(
      '--tenant <name>',
      'only the trajectories whose names begin with this, up to the first colon',
    );
  command
    .addHelpText(
      'after',
      'The command first adds all entries to the log. The same ledger gives the same bytes from any store.\n' +
        'docs/reference/ledger.md describes the format, and verifiers/python/verify.py verifies it without this program.',
    )
    .action(
      inSession((session, options: ExportOptions) =>
        writable(session, async (store, mayWrite) => {
          if (mayWrite)
            await integrateLog(store, {
              onProgress: (size) => session.progress.report('entries logged', size),
            });
          const waiting = await store.unlogged(1);
          if (waiting.length > 0 && options.size === undefined) {
            throw new CliError(
              'usage',
              'Some entries are not in the log yet, and the store is read-only. Export with write access.',
            );
          }
          const size = await store.logSize();
          if (options.size !== undefined && options.size > size) {
            throw new CliError(
              'usage',
              `The log has ${counted(size, 'entry')}, fewer than ${options.size}. Pass a smaller --size.`,
            );
          }
          const { tenant } = options;
          if (tenant !== undefined && options.size !== undefined)
            throw new CliError(
              'usage',
              'The first entries of a log have several tenants. Pass --size or --tenant.',
            );
          const source = tenant === undefined ? store : await tenantLog!(store, tenant);
          if (tenant !== undefined && (await source.logSize()) === 0) throw noTenant(tenant);
          await write(session, source, options, options.size ?? (await source.logSize()));
          return EXIT.ok;
        }),
      ),
    );
}

/** Opens the store for writing if possible. */
async function writable<T>(
  session: Session,
  work: (store: Store, mayWrite: boolean) => Promise<T>,
): Promise<T> {
  try {
    return await session.withStore('existing', (store) => work(store, true));
  } catch (error) {
    if (!isAssizeError(error, 'store_readonly') && !isAssizeError(error, 'store_retired'))
      throw error;
    return session.withStore('readonly', (store) => work(store, false));
  }
}

function noTenant(tenant: string): CliError {
  return new CliError(
    'not_found',
    `The store has no trajectory of the tenant ${tenant}. List them with assize log.`,
  );
}

async function write(
  session: Session,
  store: ExportedStore,
  { out }: ExportOptions,
  size: number,
): Promise<void> {
  const lines = exportLines(store, {
    size,
    onProgress: (entries) => session.progress.report('entries exported', entries, size),
  });
  if (out === undefined) {
    for await (const line of lines) {
      session.interruption.throwIfAborted();
      await session.out.piece(line);
    }
    return;
  }
  // Never overwrites an existing file: it may be the only copy. An export has texts and salts.
  const file = await written(out, () => open(out, 'wx', 0o600));
  try {
    for await (const line of lines) {
      session.interruption.throwIfAborted();
      await written(out, () => file.appendFile(line));
    }
    await written(out, () => ended(file));
  } catch (error) {
    await file.close().catch(() => undefined);
    // A partial ledger is unusable, and would block the next attempt.
    await rm(out, { force: true }).catch(() => undefined);
    throw error;
  }
  session.progress.end();
  if (session.json) session.out.document({ entries: size, file: out });
}

/** Some file systems report a full disk only when the file is closed. */
async function ended(file: FileHandle): Promise<void> {
  await file.sync();
  await file.close();
}

async function written<T>(out: string, step: () => Promise<T>): Promise<T> {
  try {
    return await step();
  } catch (cause) {
    throw unwritable(out, cause);
  }
}
