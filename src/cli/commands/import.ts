import { createReadStream, fstatSync, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { Command } from 'commander';
import { type AssizeError, isAssizeError } from '#base';
import { importLines, readExport, splitLines } from '#ledger';
import { checkMemory, isForeignEntry, type RebuiltMemory, rebuildMemory, verifyStore } from '#runtime';
import type { Store } from '#stores';
import { CliError, EXIT, note } from '../errors.ts';
import { isSystemFault, unreadable } from '../files/file-faults.ts';
import { entryKeyOption, positive, withSharedOptions } from '../files/options.ts';
import { faultText } from '../render/fault-text.ts';
import { areIncomplete, areKnownIncomplete } from '../store/incomplete-facts.ts';
import { inSession, type Session, type SharedOptions } from '../store/session.ts';
import { counted } from '../terminal/counted.ts';
import { whileBlocked } from '../terminal/interrupt.ts';
import { green, line, red } from '../terminal/printable.ts';

interface Options extends SharedOptions {
  readonly erase?: boolean;
  readonly mark?: boolean;
  readonly maxBlobs?: number;
  readonly entryKey: readonly string[];
}

export function importCommand(program: Command): void {
  withSharedOptions(
    program
      .command('import')
      .description('import an export into a new or existing store, and verify the store')
      .argument('[file]', 'file of the export, or - for standard input', '-')
      .option('--erase', 'also erase values that the export marks as erased; only for a trusted export')
      .option(
        '--mark',
        'also mark existing entries without effects in the effect log as imported, such as imports of an earlier version',
      )
      .option('--max-blobs <n>', 'characters of all blobs before one entry (default: 536,870,912)', positive)
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      'The import skips existing entries, so an interrupted import can be repeated.\n' +
        'Imported entries are marked, and verify does not compare them with the effect log of this store.\n' +
        'Use --mark only with the export that the entries came from: it also hides a loss of local effect records.\n' +
        'If the export has facts, the command rebuilds the facts of the store from all its entries.\n' +
        'After an interruption, the facts are incomplete until the import is repeated or assize memory rebuild runs.\n' +
        'The earlier facts are kept until then, and assize memory rebuild --keep restores them.\n' +
        'Negative: an imported entry does not verify. An invalid line is misuse, and the error names it.',
    )
    .action(
      inSession(async (session, { erase = false, mark = false, maxBlobs, entryKey }: Options, file: string) => {
        const bytes = file === '-' ? process.stdin : opened(file);
        // An invalid export creates no store.
        const lines = await checkedBeginning(splitLines(watched(bytes, file, session.interruption)), file, maxBlobs);
        return session.withStore('create', async (store) => {
          // Left by an earlier, interrupted import. Its entries are included, because that import
          // did not finish.
          const wereIncomplete = await areIncomplete(store);
          const checked = async () => {
            const done = await importLines(store, lines, {
              erase,
              awaitsFacts: true,
              ...(maxBlobs !== undefined && { blobUnitsMax: maxBlobs }),
              ...(mark && { cameBefore: isForeignEntry(store) }),
              onProgress: (entries) => session.progress.report('entries imported', entries),
            });
            const reports = await verifyStore(store, {
              ...(entryKey.length > 0 && { entryKeys: entryKey }),
              onProgress: (at, total) => session.progress.report('verifying entries', at, total),
            });
            return { done, reports };
          };
          const { done, reports } = await checked().catch(async (error: unknown) => {
            session.progress.end();
            if (await areKnownIncomplete(store))
              note(
                'The facts of the store are incomplete, because the import did not finish. Import again, or run assize memory rebuild.',
              );
            throw error;
          });
          const faults = reports.flatMap(({ fault }) => fault ?? []);
          // Entries that fail verification yield no facts, and the effect log is not affected.
          const doVerify = faults.every(({ code }) => code === 'effects_differ');
          if (done.beliefs > 0 && !doVerify && !wereIncomplete) await store.keepFacts();
          const rebuilt = done.beliefs > 0 && doVerify ? await believed(session, store, done) : undefined;
          session.progress.end();
          if (session.json)
            session.out.document({
              ...done,
              valid: faults.length === 0,
              trajectories: reports.length,
              faults,
              ...(rebuilt && { rebuilt }),
            });
          else {
            for (const fault of faults)
              session.out.line(red(line`${fault.trajectory_id} seq ${fault.seq}: ${faultText(fault)}`));
            const sum = line`${counted(done.entries, 'entry')}, ${done.imported} of them new; ${counted(reports.length, 'trajectory')} in the store.`;
            session.out.line(faults.length === 0 ? green(sum) : red(sum));
            if (rebuilt !== undefined)
              session.out.line(
                line`Rebuilt ${counted(rebuilt.facts, 'fact version')} from ${counted(rebuilt.changes, 'change')}.`,
              );
            if (done.marked > 0) session.out.line(line`Marked ${counted(done.marked, 'existing entry')} as imported.`);
            if (done.unerased > 0)
              session.out.line(
                line`${done.unerased} values are erased in the export and not in this store; --erase erases them here too.`,
              );
          }
          return faults.length === 0 ? EXIT.ok : EXIT.negative;
        });
      }),
    );
}

/** The facts that the entries yield. Undefined if the store has them already. */
async function believed(
  { progress }: Session,
  store: Store,
  { imported }: { readonly imported: number },
): Promise<RebuiltMemory | undefined> {
  const onProgress = (at: number, total: number): void => progress.report('rebuilding facts', at, total);
  if (imported === 0 && (await areSame(store, onProgress))) return undefined;
  return rebuildMemory(store, { onProgress, keep: true });
}

/** Facts that an earlier import did not complete are incomplete. */
async function areSame(store: Store, onProgress: (at: number, total: number) => void): Promise<boolean> {
  try {
    return (await checkMemory(store, { onProgress })).valid;
  } catch (error) {
    if (isAssizeError(error, 'store_facts_incomplete')) return false;
    throw error;
  }
}

async function* watched(bytes: Readable, file: string, interruption: AbortSignal): AsyncGenerator<Uint8Array> {
  try {
    // Also ends the wait for the next bytes of a pipe.
    for await (const chunk of addAbortSignal(interruption, bytes)) yield chunk;
  } catch (error) {
    interruption.throwIfAborted();
    throw asUnreadable(file, error);
  }
}

/**
 * Attached before the store is opened, which may take long: without a listener, a stream error in
 * the meantime would be lost.
 */
function opened(file: string): Readable {
  try {
    const fd = whileBlocked(() => openSync(file, 'r'));
    const stats = fstatSync(fd);
    // A read of a pipe would hold a thread, for which the end of the process waits.
    return stats.isFIFO() || stats.isSocket() ? new Socket({ fd, readable: true }) : createReadStream(file, { fd });
  } catch (error) {
    throw asUnreadable(file, error);
  }
}

function asUnreadable(file: string, error: unknown): unknown {
  return isSystemFault(error) ? unreadable(file, error) : error;
}

/**
 * The same lines, after checking that the lines up to the first entry are an export's.
 * @throws CliError for a file that does not start as an export; ExportError
 */
async function checkedBeginning(
  lines: AsyncIterable<string>,
  file: string,
  maxBlobs?: number,
): Promise<AsyncIterable<string>> {
  const iterator = lines[Symbol.asyncIterator]();
  const seen: string[] = [];
  const noted = {
    next: async () => {
      const read = await iterator.next();
      if (read.done !== true) seen.push(read.value);
      return read;
    },
  };
  await readExport({ [Symbol.asyncIterator]: () => noted }, maxBlobs)
    .next()
    .catch((error: unknown) => {
      throw isAssizeError(error, 'bad_export') && error.evidence['line'] === 1 ? noExport(file, seen, error) : error;
    });
  return (async function* () {
    yield* seen;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
}

/** The first line of an export names its format. */
function noExport(file: string, [first]: readonly string[], cause: AssizeError): CliError {
  const place = file === '-' ? 'Standard input' : file;
  if (first?.startsWith('{"format":"assize/export/'))
    return new CliError('bad_input', `${place} is an export of another version. Export the store again.`, { cause });
  return new CliError('bad_input', `${place} is not an export. Pass a file that assize export wrote.`, { cause });
}
