import {
  bold,
  dim,
  ENTRY_HELP,
  EXIT,
  entryNamed,
  inSession,
  line,
  type Output,
  type Printable,
  red,
  type SharedOptions,
  shownWords,
  withSharedOptions,
  yellow,
} from '@assize/command';
import type { EntryRow, LedgerStore, Payload } from 'assize/internal/ledger';
import {
  causeOf,
  conclusionsOf,
  type DelegationStep,
  decidedBy,
  type EntryView,
  entryView,
  overridesIn,
  overrideText,
  type Summary,
  shortTime,
  stepOf,
  summaryOf,
} from 'assize/internal/views';
import type { Command } from 'commander';
import { paintedRuling } from '../render/ruling.ts';
import { answersOf, type NamedAnswer } from '../store/oracle-answers.ts';
import { projectWords } from '../store/project-domains.ts';
import { printAnswerOf } from './oracle-answer.ts';

interface Options extends SharedOptions {
  readonly blobs?: boolean;
}

export function show(program: Command): void {
  withSharedOptions(
    program
      .command('show')
      .description(
        'show an entry with its verdict and payload, or the recorded answer of an oracle key',
      )
      .argument('<entry>', `${ENTRY_HELP}; or an oracle key, as in assize memory explain`)
      .option(
        '--blobs',
        'also print referenced values: large and sensitive ones, and answers of the oracle log',
      ),
  )
    .addHelpText(
      'after',
      'For judge votes, the oracle log has the first 32 attempts without their content: a code and a length.\n' +
        'failed: the call threw or timed out. refused: the answer was not a possible one.\n' +
        'superseded: another answer was recorded first. erased: an entry erased the attempt.\n' +
        'Negative: the entry does not hash to its id, or is damaged.',
    )
    .action(
      inSession((session, options: Options, named: string) =>
        session.withStore('readonly', async (store) => {
          if (await printAnswerOf(session, store, named)) return EXIT.ok;
          const { json, out } = session;
          const row = await entryNamed(store, named);
          const values = options.blobs === true;
          const entry = await entryView(store, row, {
            values,
            traces: process.env['ASSIZE_TRACES'],
          });
          const payload = 'fault' in entry ? undefined : entry.payload;
          const delegation = payload && (await delegated(store, row, payload));
          const answers = payload === undefined ? [] : await answersOf(store, payload, values);
          if (json)
            out.document({
              ...entry,
              ...(answers.length > 0 && { answers }),
              ...(delegation && { delegation }),
            });
          else {
            const summary = summaryOf(row, {
              actions: await (await projectWords(store)).of(row.trajectory_id),
            });
            if (payload !== undefined) out.line(verdictLine(summary));
            if (summary.title !== undefined) out.line(bold(shownWords(summary.title)));
            print(out, entry, delegation);
            for (const answer of answers) printAnswer(out, answer);
          }
          return 'fault' in entry ? EXIT.negative : EXIT.ok;
        }),
      ),
    );
}

/** The ruling with its reason, in one line. */
function verdictLine(summary: Summary): Printable {
  const { ruling, at, reason, invariant_id, detail } = summary;
  const why = [causeOf(reason, invariant_id), decidedBy(summary), detail]
    .filter((text) => text !== undefined && text !== '')
    .join(': ');
  return line`${paintedRuling(ruling)} at ${shortTime(at)}${why === '' ? '' : `: ${why}`}`;
}

async function delegated(
  store: LedgerStore,
  row: EntryRow,
  payload: Payload,
): Promise<DelegationStep | undefined> {
  if (payload.kind !== 'delegation') return undefined;
  const isStart = payload.concludes === undefined;
  return stepOf(
    row,
    payload,
    isStart ? await conclusionsOf(store, row.trajectory_id, row.seq) : undefined,
  );
}

function print(out: Output, entry: EntryView, delegation: DelegationStep | undefined): void {
  const { kind, id, trajectory_id, seq, parent, values, trace } = entry;
  out.line(line`${bold(kind)} ${id}`);
  out.line(line`${trajectory_id}, seq ${seq}, parent ${parent ?? 'none'}`);
  if ('fault' in entry) {
    out.line(
      red(
        line`The entry does not verify: ${entry.fault.detail} (${entry.fault.code}). The stored text:`,
      ),
    );
    out.line(line`${entry.text}`);
    return;
  }
  if (trace !== undefined) out.line(line`trace ${trace.trace_id}, span ${trace.span_id}`);
  if (trace?.url !== undefined) out.line(line`${trace.url}`);
  if (delegation !== undefined) printDelegation(out, delegation);
  for (const override of overridesIn(entry.payload))
    out.line(yellow(line`${overrideText(override)}`));
  out.document(entry.payload);
  for (const blob of values) {
    const size = `${blob.bytes.toLocaleString('en')} bytes`;
    if (blob.erased_by !== undefined) {
      out.line(yellow(line`${blob.pointer} was erased by ${blob.erased_by}.`));
    } else if (!('value' in blob)) {
      out.line(
        dim(
          line`${blob.pointer} is a ${blob.salted ? 'sensitive ' : ''}blob of ${size}; --blobs shows it.`,
        ),
      );
    } else {
      out.line(bold(line`${blob.pointer}, ${size}`));
      if (blob.value === null)
        out.line(red('The store does not have the value, or has another value under its hash.'));
      else out.document(blob.value);
    }
  }
}

function printAnswer(
  out: Output,
  { pointer, name, is, by = '', bytes = 0, at = '', value }: NamedAnswer,
): void {
  const size = `${bytes.toLocaleString('en')} bytes`;
  if (is === 'missing')
    out.line(
      yellow(
        line`${pointer} ${name} is an answer that the oracle log of this store does not have.`,
      ),
    );
  else if (is === 'erased')
    out.line(yellow(line`${pointer} ${name} is an answer that was erased by ${by}.`));
  else if (is === 'changed')
    out.line(red(line`${pointer} ${name} is an answer that differs in the oracle log.`));
  else if (value === undefined)
    out.line(
      dim(line`${pointer} ${name} is an answer of ${size}, first asked ${at}; --blobs shows it.`),
    );
  else {
    out.line(bold(line`${pointer} ${name}, first asked ${at}`));
    out.document(value);
  }
}

function printDelegation(
  out: Output,
  { step, child, task, started_by, concluded_by }: DelegationStep,
): void {
  if (step === 'answer')
    out.line(line`The final answer of ${child} to the delegation ${started_by}.`);
  else if (step === 'conclusion')
    out.line(line`Concludes the delegation ${started_by} to ${child}.`);
  else if (concluded_by == null) out.line(line`Delegates to ${child}; ${yellow('open')}.`);
  else out.line(line`Delegates to ${child}; concluded by ${concluded_by}.`);
  out.line(line`${dim('Task:')} ${task}`);
}
