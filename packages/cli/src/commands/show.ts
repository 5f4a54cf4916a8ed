import type { Output } from '@assize/command';
import {
  bold,
  dim,
  ENTRY_HELP,
  EXIT,
  entryNamed,
  inSession,
  line,
  red,
  type SharedOptions,
  withSharedOptions,
  yellow,
} from '@assize/command';
import { isInstance } from 'assize/internal/base';
import type { Fault, Payload } from 'assize/internal/ledger';
import { checkRow, type EntryRow, LedgerFault, type LedgerStore } from 'assize/internal/ledger';
import {
  blobsOf,
  blobValue,
  conclusionsOf,
  type DelegationStep,
  type EntryTrace,
  type NamedBlob,
  overridesIn,
  overrideText,
  stepOf,
  traceOf,
} from 'assize/internal/views';
import type { Command } from 'commander';
import { answersOf, type NamedAnswer } from '../store/oracle-answers.ts';

interface Options extends SharedOptions {
  readonly blobs?: boolean;
}

export function show(program: Command): void {
  withSharedOptions(
    program
      .command('show')
      .description('show an entry with its payload')
      .argument('<entry>', ENTRY_HELP)
      .option('--blobs', 'also print referenced values: large and sensitive ones, and answers of the oracle log'),
  )
    .addHelpText('after', 'Negative: the entry does not hash to its id, or is damaged.')
    .action(
      inSession(({ json, out, withStore }, options: Options, entry: string) =>
        withStore('readonly', async (store) => {
          const row = await entryNamed(store, entry);
          const read = readChecked(row);
          const blobs = 'fault' in read ? [] : await loaded(store, blobsOf(read.payload), options.blobs === true);
          const delegation = 'fault' in read ? undefined : await delegated(store, row, read.payload);
          const answers = 'fault' in read ? [] : await answersOf(store, read.payload, options.blobs === true);
          const trace = 'fault' in read ? undefined : traceOf(read.payload, process.env['ASSIZE_TRACES']);
          const extra = {
            ...(answers.length > 0 && { answers }),
            ...(delegation && { delegation }),
            ...(trace && { trace }),
          };
          if (json) out.document({ ...row, ...read, blobs, ...extra });
          else {
            print(out, row, read, { blobs, delegation, trace });
            for (const answer of answers) printAnswer(out, answer);
          }
          return 'fault' in read ? EXIT.negative : EXIT.ok;
        }),
      ),
    );
}

/** The payload, or the entry's fault. A faulty entry keeps its text. */
type Read = { readonly payload: Payload } | { readonly payload: string; readonly fault: Fault };

function readChecked(row: EntryRow): Read {
  try {
    return { payload: checkRow(row).payload };
  } catch (error) {
    if (isInstance(error, LedgerFault)) return { payload: row.payload, fault: error.fault };
    throw error;
  }
}

async function delegated(store: LedgerStore, row: EntryRow, payload: Payload): Promise<DelegationStep | undefined> {
  if (payload.kind !== 'delegation') return undefined;
  const isStart = payload.concludes === undefined;
  return stepOf(row, payload, isStart ? await conclusionsOf(store, row.trajectory_id, row.seq) : undefined);
}

interface Loaded extends NamedBlob {
  /** The entry that erased the value. */
  readonly erased_by?: string;
  /** Absent unless requested, and if the value was erased. Null if the store does not have it. */
  readonly value?: unknown;
}

function loaded(store: LedgerStore, blobs: readonly NamedBlob[], values: boolean): Promise<Loaded[]> {
  return Promise.all(
    blobs.map(async (blob) => {
      const erased_by = blob.salted === true ? await store.erasedBy(blob.hash) : undefined;
      if (erased_by !== undefined) return { ...blob, erased_by };
      return values ? { ...blob, value: (await blobValue(store, blob)) ?? null } : blob;
    }),
  );
}

/** The parts of an entry beside its payload. */
interface Shown {
  readonly blobs: readonly Loaded[];
  readonly delegation: DelegationStep | undefined;
  readonly trace: EntryTrace | undefined;
}

function print(out: Output, row: EntryRow, read: Read, { blobs, delegation, trace }: Shown): void {
  out.line(line`${bold(row.kind)} ${row.id}`);
  out.line(line`${row.trajectory_id}, seq ${row.seq}, parent ${row.parent ?? 'none'}`);
  if ('fault' in read) {
    out.line(red(line`The entry does not verify: ${read.fault.detail} (${read.fault.code}). The stored text:`));
    out.line(line`${read.payload}`);
    return;
  }
  if (trace !== undefined) out.line(line`trace ${trace.trace_id}, span ${trace.span_id}`);
  if (trace?.url !== undefined) out.line(line`${trace.url}`);
  if (delegation !== undefined) printDelegation(out, delegation);
  for (const override of overridesIn(read.payload)) out.line(yellow(line`${overrideText(override)}`));
  out.document(read.payload);
  for (const blob of blobs) {
    const size = `${blob.bytes.toLocaleString('en')} bytes`;
    if (blob.erased_by !== undefined) {
      out.line(yellow(line`${blob.pointer} was erased by ${blob.erased_by}.`));
    } else if (!('value' in blob)) {
      out.line(dim(line`${blob.pointer} is a ${blob.salted ? 'sensitive ' : ''}blob of ${size}; --blobs shows it.`));
    } else {
      out.line(bold(line`${blob.pointer}, ${size}`));
      if (blob.value === null) out.line(red('The store does not have the value, or has another value under its hash.'));
      else out.document(blob.value);
    }
  }
}

function printAnswer(out: Output, { pointer, name, is, by = '', bytes = 0, at = '', value }: NamedAnswer): void {
  const size = `${bytes.toLocaleString('en')} bytes`;
  if (is === 'missing')
    out.line(yellow(line`${pointer} ${name} is an answer that the oracle log of this store does not have.`));
  else if (is === 'erased') out.line(yellow(line`${pointer} ${name} is an answer that was erased by ${by}.`));
  else if (is === 'changed') out.line(red(line`${pointer} ${name} is an answer that differs in the oracle log.`));
  else if (value === undefined)
    out.line(dim(line`${pointer} ${name} is an answer of ${size}, first asked ${at}; --blobs shows it.`));
  else {
    out.line(bold(line`${pointer} ${name}, first asked ${at}`));
    out.document(value);
  }
}

function printDelegation(out: Output, { step, child, task, started_by, concluded_by }: DelegationStep): void {
  if (step === 'answer') out.line(line`The final answer of ${child} to the delegation ${started_by}.`);
  else if (step === 'conclusion') out.line(line`Concludes the delegation ${started_by} to ${child}.`);
  else if (concluded_by == null) out.line(line`Delegates to ${child}; ${yellow('open')}.`);
  else out.line(line`Delegates to ${child}; concluded by ${concluded_by}.`);
  out.line(line`${dim('Task:')} ${task}`);
}
