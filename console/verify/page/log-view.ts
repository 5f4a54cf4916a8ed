import type { Fault } from '../bundle/findings.ts';
import { pausing } from '../bundle/pause.ts';
import type { GivenKeys } from '../bundle/verify.ts';
import { base64Of } from '../bytes/text.ts';
import { checkLog, type LogReport } from '../checkpoint/check-log.ts';
import { cosignersOf } from '../checkpoint/check-signed.ts';
import type { ExportReport } from '../export/verify-export.ts';
import { checksPart, OF_CHECKPOINT, OF_EXPORT } from './checks-part.ts';
import { counted, element, facts, section } from './element.ts';
import { code, inert } from './inert.ts';
import { LogFields } from './log-fields.ts';
import { faultList, invalid, verdictLine } from './verdict.ts';

/** An export that was read, by the name of its file. */
export interface ShownExport extends ExportReport {
  readonly name: string;
}

/** The verdict on an export and on checkpoints. It follows the fields of the reader. */
export class LogView {
  readonly #top = element('div', { class: 'top' });
  readonly #facts = element('div', {});
  readonly #below = element('div', {});
  readonly #exported: ShownExport | undefined;
  #run = 0;

  readonly fields: LogFields;
  readonly part: HTMLElement;

  /** `fields`: those of an earlier view, with what the reader has entered. */
  constructor(exported: ShownExport | undefined, entered?: LogFields) {
    this.#exported = exported;
    this.fields = new LogFields(() => void this.update());
    if (entered !== undefined) this.fields.takeFrom(entered);
    this.part = element(
      'div',
      {},
      this.#top,
      element('div', { class: 'columns' }, this.fields.part, this.#facts),
      this.#below,
    );
  }

  /** Checks everything again. A later call replaces one that is still at work. */
  async update(): Promise<void> {
    const run = ++this.#run;
    const { keys, texts } = this.fields;
    const exported = this.#exported;
    const report = await checkLog(
      texts,
      keys,
      exported?.content?.leaves,
      pausing(() => undefined),
    );
    if (run !== this.#run) return;
    const faults = [...(exported?.findings.faults ?? []), ...report.findings.faults];
    const list = faultList(faults, undefined);
    this.#top.replaceChildren(
      verdictOn(faults, report, keys, exported),
      ...(list === undefined ? [] : [list]),
    );
    this.#facts.replaceChildren(factsPart(report, keys, exported));
    this.#below.replaceChildren(
      exported === undefined
        ? checksPart(report.findings, OF_CHECKPOINT)
        : checksPart(exported.findings.with(report.findings), OF_EXPORT),
      limits(exported !== undefined),
    );
  }
}

function verdictOn(
  faults: readonly Fault[],
  { checkpoint, earlier, proof }: LogReport,
  { log }: GivenKeys,
  exported: ShownExport | undefined,
): HTMLElement {
  if (faults.length > 0) return invalid(faults);
  if (checkpoint === undefined)
    return exported === undefined
      ? verdictLine('open', 'Not checked', 'Give a signed checkpoint below.', '?')
      : verdictLine(
          'open',
          'Valid',
          'Every line holds. Nothing here shows that these are the entries of the log: give a signed checkpoint and the key of the log below.',
        );
  if (log === undefined)
    return exported === undefined
      ? verdictLine('open', 'Not checked', 'Give the key of the log below.', '?')
      : verdictLine(
          'open',
          'Valid',
          'Everything holds, if the key of the log signed the checkpoint: give it below.',
        );
  const isOpen =
    exported === undefined && earlier !== undefined && earlier.size < checkpoint.size && !proof;
  if (isOpen)
    return verdictLine(
      'open',
      'Valid',
      'The key that you have signed both. Nothing here shows that the log continues the earlier one: give the proof below.',
    );
  if (exported?.content === undefined)
    return verdictLine('valid', 'Valid', 'The key that you have signed this checkpoint.');
  const later = exported.content.leaves.size - Number(checkpoint.size);
  const more =
    later > 0 ? ` ${counted(later, 'entry', 'entries')} at the end came after the checkpoint.` : '';
  return verdictLine('valid', 'Valid', `Everything holds, under the key that you have.${more}`);
}

function factsPart(
  { checkpoint, earlier }: LogReport,
  keys: GivenKeys,
  exported: ShownExport | undefined,
): HTMLElement {
  const { content, name } = exported ?? {};
  const cosigners = checkpoint === undefined ? [] : cosignersOf(checkpoint, keys);
  return section(
    'Content',
    facts(
      ['File', name === undefined ? undefined : inert(name)],
      ['Entries', content === undefined ? undefined : content.leaves.size.toLocaleString('en')],
      [
        'Trajectories',
        content === undefined ? undefined : content.trajectories.toLocaleString('en'),
      ],
      ['Root', content === undefined ? undefined : code(base64Of(content.leaves.root()))],
      ['Log', checkpoint && inert(checkpoint.origin)],
      ['Checkpoint', checkpoint && `${checkpoint.size.toLocaleString('en')} entries`],
      ['Its root', checkpoint && code(base64Of(checkpoint.root))],
      ['Earlier', earlier && `${earlier.size.toLocaleString('en')} entries`],
      ...cosigners.map(
        ({ name: witness, at }) => ['Cosigned', inert(`${witness}, ${instant(at)}`)] as const,
      ),
    ),
  );
}

/** Seconds since 1970, as people write them. A witness may write any number. */
function instant(seconds: bigint): string {
  const date = new Date(Number(seconds) * 1_000);
  return Number.isNaN(date.getTime())
    ? `${seconds} seconds since 1970`
    : `${date.toISOString().slice(0, 19)}Z`;
}

function limits(isExport: boolean): HTMLElement {
  return section(
    'Limits',
    element(
      'p',
      {},
      isExport
        ? 'This page checks the form of each line, the hashes, the chains, signatures, decisions and writs, and the tree. It does not compute states, budgets and facts again, or the attenuation of writs, or the rules between trajectories: assize verify and verify.py do.'
        : 'A checkpoint alone shows what its log promised at a time: the number of its entries, and one hash over all of them.',
    ),
  );
}
