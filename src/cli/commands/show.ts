import { checkRow, type EntryRow, LedgerFault, type LedgerStore } from 'assize';
import type { Fault, Payload } from 'assize/ledger';
import type { Command } from 'commander';
import { blobsOf, blobValue, type NamedBlob } from '../blobs.ts';
import { findEntry } from '../entries.ts';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../options.ts';
import type { Output } from '../output.ts';
import { bold, dim, line, red } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';

interface Options extends SharedOptions {
  readonly blobs?: boolean;
}

export function show(program: Command): void {
  withSharedOptions(
    program
      .command('show')
      .description('one entry with its whole payload')
      .argument('<entry>', 'its id, or the first digits of it, at least 8')
      .option('--blobs', 'also the large values that the payload only names'),
  )
    .addHelpText('after', 'Negative: the entry does not hash to its id, or is damaged otherwise.')
    .action(
      inSession(({ json, out, withStore }, options: Options, prefix: string) =>
        withStore('readonly', async (store) => {
          const row = await findEntry(store, prefix);
          const read = readChecked(row);
          const blobs = 'fault' in read ? [] : await loaded(store, blobsOf(read.payload), options.blobs === true);
          if (json) out.document({ ...row, ...read, blobs });
          else print(out, row, read, blobs);
          return 'fault' in read ? EXIT.negative : EXIT.ok;
        }),
      ),
    );
}

/** The payload, or what is wrong with the entry; then its text stays as it is. */
type Read = { readonly payload: Payload } | { readonly payload: string; readonly fault: Fault };

function readChecked(row: EntryRow): Read {
  try {
    return { payload: checkRow(row).payload };
  } catch (error) {
    if (error instanceof LedgerFault) return { payload: row.payload, fault: error.fault };
    throw error;
  }
}

interface Loaded extends NamedBlob {
  /** Absent unless asked for; null when the store does not have it. */
  readonly value?: unknown;
}

function loaded(store: LedgerStore, blobs: readonly NamedBlob[], values: boolean): Promise<Loaded[]> {
  return Promise.all(
    blobs.map(async (blob) => (values ? { ...blob, value: (await blobValue(store, blob.hash)) ?? null } : blob)),
  );
}

function print(out: Output, row: EntryRow, read: Read, blobs: readonly Loaded[]): void {
  out.line(line`${bold(row.kind)} ${row.id}`);
  out.line(line`${row.trajectory_id}, seq ${row.seq}, parent ${row.parent ?? 'none'}`);
  if ('fault' in read) {
    out.line(red(line`It does not verify: ${read.fault.detail} (${read.fault.code}). The text as it is stored:`));
    out.line(line`${read.payload}`);
    return;
  }
  out.document(read.payload);
  for (const blob of blobs) {
    const size = `${blob.bytes.toLocaleString('en')} bytes`;
    if (!('value' in blob)) {
      out.line(dim(line`${blob.pointer} is a blob of ${size}; --blobs shows it.`));
    } else {
      out.line(bold(line`${blob.pointer}, ${size}`));
      if (blob.value === null) out.line(red('The store does not have it, or has something else under its name.'));
      else out.document(blob.value);
    }
  }
}
