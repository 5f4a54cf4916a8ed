import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  ExportError,
  exportLines,
  IMPORT_GROUP,
  type ImportOptions,
  type ImportReport,
  importLines,
} from '@assize/audit/internal/export';
import {
  EXIT,
  type ExitCode,
  entryKeyOption,
  faultText,
  green,
  inSession,
  line,
  note,
  positive,
  red,
  type Session,
  type SharedOptions,
  unwritable,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import { isAssizeError } from 'assize/internal/base';
import {
  type Fault,
  integrateLog,
  type LedgerStore,
  type VerifyReport,
} from 'assize/internal/ledger';
import {
  checkMemory,
  isForeignEntry,
  type RebuiltMemory,
  rebuildMemory,
  verifyStore,
} from 'assize/internal/runtime';
import { openStore, type Store } from 'assize/internal/stores';
import { counted } from 'assize/internal/views';
import type { Command } from 'commander';
import { openExport } from '../files/export-file.ts';
import { areIncomplete, areKnownIncomplete } from '../store/incomplete-facts.ts';

interface Options extends SharedOptions {
  readonly erase?: boolean;
  readonly mark?: boolean;
  readonly keepInvalid?: boolean;
  readonly maxBlobs?: number;
  readonly entryKey: readonly string[];
}

const KEPT =
  '--keep-invalid keeps entries whose lines are sound and whose rules or changes fail. ' +
  'A line that does not hash to its id is never imported; verifiers/python/verify.py lists every fault.';

export function importCommand(program: Command): void {
  withSharedOptions(
    program
      .command('import')
      .description('verify an export, import it into a new or existing store, and verify the store')
      .argument('[file]', 'file of the export, or - for standard input', '-')
      .option(
        '--erase',
        'also erase values that the export marks as erased; only for a trusted export',
      )
      .option(
        '--mark',
        'also mark existing entries without effects in the effect log as imported, such as imports of an earlier version',
      )
      .option(
        '--keep-invalid',
        'write the entries before verifying them, to examine an export that does not verify',
      )
      .option(
        '--max-blobs <n>',
        'characters of all blobs before one entry (default: 536,870,912)',
        positive,
      )
      .addOption(entryKeyOption),
  )
    .addHelpText(
      'after',
      'The command first verifies the export in a temporary store, in TMPDIR. It writes nothing if an entry does not verify.\n' +
        'The import skips existing entries, so an interrupted import can be repeated.\n' +
        'Imported entries are marked, and verify does not compare them with the effect log of this store.\n' +
        `${KEPT}\n` +
        'An imported trajectory calls no tools until: assize restore adopt TRAJECTORY.\n' +
        'Use --mark only with the export that the entries came from: it also hides a loss of local effect records.\n' +
        'If the export has facts, the command rebuilds the facts of the store from all its entries.\n' +
        'After an interruption, the facts are incomplete until the import is repeated or assize memory rebuild runs.\n' +
        'The earlier facts are kept until then, and assize memory rebuild --keep restores them.\n' +
        'Negative: an entry does not verify, in the export or in the store. An invalid line is misuse, and the error names it.',
    )
    .action(
      inSession(async (session, options: Options, file: string) => {
        // An invalid export creates no store.
        const { maxBlobs, keepInvalid = false } = options;
        const onRead = (bytes: number, size?: number): void =>
          session.progress.report('bytes of the export read', bytes, size);
        if (keepInvalid) {
          const first = IMPORT_GROUP;
          const lines = await openExport(file, session.interruption, {
            maxBlobs,
            first,
            onRead,
          }).catch((error: unknown) => {
            if (isAssizeError(error, 'bad_export')) note(`Nothing was imported. ${KEPT}`);
            throw error;
          });
          return keep(session, options, lines);
        }
        const lines = await openExport(file, session.interruption, { maxBlobs, onRead });
        return withScratchStore(async (scratch) => {
          const { done, reports } = await imported(session, scratch, lines, options, {
            verifying: 'verifying the export',
          });
          if (faultsOf(reports).length === 0) {
            await integrateLog(scratch);
            return keep(
              session,
              options,
              linesOf(watchedStore(scratch, session.interruption)),
              scratch,
            );
          }
          session.progress.end();
          print(session, { ...done, imported: 0 }, reports, { place: 'export' });
          note(
            'Nothing was imported. To examine the entries, import them into a new store with --keep-invalid.',
          );
          return EXIT.negative;
        });
      }),
    );
}

async function* linesOf(store: Store): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

/** Writes the entries into the store, verifies it and rebuilds its facts. */
async function keep(
  session: Session,
  options: Options,
  lines: AsyncIterable<string>,
  checked?: Store,
): Promise<ExitCode> {
  // The lines of a file report their bytes.
  const total = await checked?.logSize();
  return session.withStore('create', async (store) => {
    if (checked !== undefined) await refuseConflicts(checked, store);
    // Left by an earlier, interrupted import. Its entries are included, because that import
    // did not finish.
    const wereIncomplete = await areIncomplete(store);
    const { done, reports } = await imported(session, store, lines, options, {
      verifying: 'verifying the store',
      ...(total !== undefined && {
        onProgress: (done: number) => session.progress.report('entries imported', done, total),
      }),
      erase: options.erase === true,
      awaitsFacts: true,
      ...(options.mark === true && { cameBefore: isForeignEntry(store) }),
    }).catch(async (error: unknown) => {
      session.progress.end();
      const before = isAssizeError(error, 'bad_export') ? Number(error.evidence['entries']) : 0;
      if (before > 0)
        note(
          `The import wrote ${counted(before, 'entry')} before that line. Correct the export and import it again to continue.`,
        );
      if (await areKnownIncomplete(store))
        note(
          'The facts of the store are incomplete, because the import did not finish. Import again, or run assize memory rebuild.',
        );
      throw error;
    });
    const faults = faultsOf(reports);
    // Entries that fail verification yield no facts, and the effect log is not affected.
    const doVerify = faults.every(({ code }) => code === 'effects_differ');
    if (done.beliefs > 0 && !doVerify && !wereIncomplete) await store.keepFacts();
    const rebuilt = done.beliefs > 0 && doVerify ? await believed(session, store, done) : undefined;
    session.progress.end();
    print(session, done, reports, { place: 'store', ...(rebuilt && { rebuilt }) });
    return faults.length === 0 ? EXIT.ok : EXIT.negative;
  });
}

async function imported(
  session: Session,
  store: Store,
  lines: AsyncIterable<string>,
  { entryKey, maxBlobs }: Options,
  { verifying, ...options }: ImportOptions & { readonly verifying: string },
): Promise<{ readonly done: ImportReport; readonly reports: readonly VerifyReport[] }> {
  const done = await importLines(store, lines, {
    ...options,
    ...(maxBlobs !== undefined && { blobUnitsMax: maxBlobs }),
  });
  const reports = await verifyStore(watchedStore(store, session.interruption), {
    ...(entryKey.length > 0 && { entryKeys: entryKey }),
    onProgress: (at, total) => session.progress.report(verifying, at, total),
  });
  return { done, reports };
}

function faultsOf(reports: readonly VerifyReport[]): readonly Fault[] {
  return reports.flatMap(({ fault }) => fault ?? []);
}

function print(
  { json, out }: Session,
  done: ImportReport,
  reports: readonly VerifyReport[],
  { place, rebuilt }: { readonly place: 'export' | 'store'; readonly rebuilt?: RebuiltMemory },
): void {
  const faults = faultsOf(reports);
  if (json)
    out.document({
      ...done,
      valid: faults.length === 0,
      trajectories: reports.length,
      faults,
      ...(rebuilt && { rebuilt }),
    });
  else {
    for (const fault of faults)
      out.line(red(line`${fault.trajectory_id} seq ${fault.seq}: ${faultText(fault)}`));
    const taken = place === 'export' ? 'none imported' : `${done.imported} of them new`;
    const sum = line`${counted(done.entries, 'entry')}, ${taken}; ${counted(reports.length, 'trajectory')} in the ${place}.`;
    out.line(faults.length === 0 ? green(sum) : red(sum));
    if (rebuilt !== undefined)
      out.line(
        line`Rebuilt ${counted(rebuilt.facts, 'fact version')} from ${counted(rebuilt.changes, 'change')}.`,
      );
    if (done.marked > 0)
      out.line(line`Marked ${counted(done.marked, 'existing entry')} as imported.`);
    if (done.unerased > 0)
      out.line(
        line`${counted(done.unerased, 'value')} ${done.unerased === 1 ? 'is' : 'are'} erased in the export and not in this store; --erase erases here too.`,
      );
  }
}

/** The facts that the entries yield. Undefined if the store has them already. */
async function believed(
  { progress }: Session,
  store: Store,
  { imported }: { readonly imported: number },
): Promise<RebuiltMemory | undefined> {
  const onProgress = (at: number, total: number): void =>
    progress.report('rebuilding facts', at, total);
  if (imported === 0 && (await areSame(store, onProgress))) return undefined;
  return rebuildMemory(store, { onProgress, keep: true });
}

/** Facts that an earlier import did not complete are incomplete. */
async function areSame(
  store: Store,
  onProgress: (at: number, total: number) => void,
): Promise<boolean> {
  try {
    return (await checkMemory(store, { onProgress })).valid;
  } catch (error) {
    if (isAssizeError(error, 'store_facts_incomplete')) return false;
    throw error;
  }
}

/**
 * Refuses an import into a store that has other entries at the same places. Each entry names the
 * one before it, so the last common place decides for a whole trajectory.
 *
 * @throws ExportError `wrong_state`, before anything is written
 */
async function refuseConflicts(from: LedgerStore, into: LedgerStore): Promise<void> {
  for (const { trajectory_id } of await from.trajectories()) {
    const [ours, theirs] = await Promise.all([into.head(trajectory_id), from.head(trajectory_id)]);
    if (ours === undefined || theirs === undefined) continue;
    const seq = Math.min(ours.seq, theirs.seq);
    const [here, there] = await Promise.all(
      [into, from].map(
        async (store) => (await store.entries(trajectory_id, { from: seq, limit: 1 }))[0],
      ),
    );
    if (here?.id !== there?.id)
      throw new ExportError(
        'wrong_state',
        `The store has another entry at ${trajectory_id} seq ${seq}. Nothing was imported. Import into a separate store.`,
        { evidence: { trajectory_id, seq } },
      );
  }
}

/**
 * Runs the work with an empty store in a private temporary folder, and removes the folder after the
 * work. The folder is in `TMPDIR`. It needs space for everything that the work writes.
 *
 * @throws CliError `usage` if the temporary folder cannot be created
 */
async function withScratchStore<T>(work: (store: Store) => Promise<T>): Promise<T> {
  const folder = newFolder();
  try {
    const store = await openStore(`sqlite:${join(folder, 'scratch.db')}`, { mode: 'create' });
    try {
      return await work(store);
    } finally {
      await store.close();
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Created with mode 0700, so other users cannot read the values. */
function newFolder(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'assize-scratch-'));
  } catch (error) {
    throw unwritable(tmpdir(), error, 'Set TMPDIR to a folder for temporary files');
  }
}
