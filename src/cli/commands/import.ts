import { createReadStream } from 'node:fs';
import { verifyStore } from 'assize';
import { importLines, splitLines } from 'assize/ledger';
import type { Command } from 'commander';
import { CliError, EXIT } from '../errors.ts';
import { withSharedOptions } from '../options.ts';
import { green, line, red } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';

interface Options extends SharedOptions {
  readonly erase?: boolean;
}

export function importCommand(program: Command): void {
  withSharedOptions(
    program
      .command('import')
      .description('read an export into the store, which may be new, and verify what it has then')
      .argument('[file]', 'default: standard input', '-')
      .option('--erase', 'also delete texts that the store has and the export says to be erased: trust who made it'),
  )
    .addHelpText(
      'after',
      'Entries that the store has already are passed over, so an import that was cut off can be made again.\n' +
        'Negative: what was imported does not verify. A line that is wrong is misuse, and is named.',
    )
    .action(
      inSession((session, { erase = false }: Options, file: string) => {
        const bytes = file === '-' ? process.stdin : createReadStream(file);
        return session.withStore('create', async (store) => {
          const done = await importLines(store, splitLines(watched(bytes, file, session.interruption)), {
            erase,
            onProgress: (entries) => session.progress.report('entries imported', entries),
          });
          const reports = await verifyStore(store, {
            onProgress: (at, total) => session.progress.report('verifying entries', at, total),
          });
          session.progress.end();
          const faults = reports.flatMap(({ fault }) => fault ?? []);
          if (session.json)
            session.out.document({ ...done, valid: faults.length === 0, trajectories: reports.length, faults });
          else {
            for (const { trajectory_id, seq, detail, code } of faults) {
              session.out.line(red(line`${trajectory_id} seq ${seq}: ${detail} (${code})`));
            }
            const sum = line`${done.entries} entries, ${done.imported} of them new; ${reports.length} trajectories in the store.`;
            session.out.line(faults.length === 0 ? green(sum) : red(sum));
            if (done.unerased > 0)
              session.out.line(
                line`${done.unerased} values are erased in the export and still here; --erase deletes them here too.`,
              );
          }
          return faults.length === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

async function* watched(
  bytes: AsyncIterable<Uint8Array>,
  file: string,
  interruption: AbortSignal,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of bytes) {
      interruption.throwIfAborted();
      yield chunk;
    }
  } catch (error) {
    if (interruption.aborted) throw error;
    if (!(error instanceof Error && 'syscall' in error)) throw error;
    throw new CliError('unreadable_file', `${file} can't be read: ${error.message}.`, { cause: error });
  }
}
