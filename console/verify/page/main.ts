import { embeddedFiles, type Files } from '../bundle/files.ts';
import { type Code, type Fault, Findings, Unreadable } from '../bundle/findings.ts';
import { readZip } from '../bundle/read-zip.ts';
import { verify } from '../bundle/verify.ts';
import { textOf } from '../bytes/text.ts';
import { readConsistency } from '../checkpoint/consistency-proof.ts';
import { verifyExport } from '../export/verify-export.ts';
import { counted, element } from './element.ts';
import { HEAD_BYTES, kindOf, reasonFor } from './file-kind.ts';
import { filePieces } from './file-pieces.ts';
import { LogView, type ShownExport } from './log-view.ts';
import { opener } from './opener.ts';
import { result } from './result.ts';

const page = document.getElementById('page') as HTMLElement;
const shown = element('div', {});
/** The view of an export and of checkpoints, while the page shows them. */
let log: LogView | undefined;
/** Ends the reading of a file when another one is chosen. */
let reading = new AbortController();

/** A text file with more bytes is not a checkpoint. */
const TEXT_BYTES_MAX = 1_100_000;

start();

function start(): void {
  const embedded = document.getElementById('bundle')?.textContent?.trim() ?? '';
  const about = 'Verified by this page, in this browser, without a network.';
  const choose = opener((files) => void open(files));
  const heading = embedded === '' ? 'Verify a ledger' : 'Proof bundle';
  page.replaceChildren(
    element(
      'header',
      {},
      element('h1', {}, heading),
      element('p', { class: 'dim' }, about),
      printer(),
    ),
    ...(embedded === '' ? [choose] : []),
    shown,
    ...(embedded === '' ? [] : [other(choose)]),
  );
  if (embedded !== '') showEmbedded(embedded);
}

function printer(): HTMLElement {
  const button = element('button', { type: 'button' }, 'Print / save as PDF');
  button.addEventListener('click', () => print());
  return button;
}

function other(choose: HTMLElement): HTMLElement {
  return element(
    'section',
    {},
    element('details', {}, element('summary', {}, 'Verify another file'), choose),
  );
}

function showEmbedded(text: string): void {
  try {
    void showBundle(embeddedFiles(text));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    showFault(error.fault);
  }
}

/** Shows each file by its kind, exports last: they take long. */
async function open(files: readonly File[]): Promise<void> {
  const heads = await Promise.all(files.map(async (file) => bytesOf(file.slice(0, HEAD_BYTES))));
  const found = files.map((file, n) => ({
    file,
    kind: kindOf(heads[n] as Uint8Array),
    head: heads[n] as Uint8Array,
  }));
  const inOrder = [
    ...found.filter(({ kind }) => kind !== 'export'),
    ...found.filter(({ kind }) => kind === 'export'),
  ];
  for (const { file, kind, head } of inOrder) {
    if (kind === 'bundle') await showZip(await bytesOf(file));
    else if (kind === 'export') await showExport(file);
    else if (kind === 'other' || file.size > TEXT_BYTES_MAX)
      showFault(faultOf('bad_form', reasonFor(head)));
    else await showText(kind, textOf(await bytesOf(file)));
  }
}

async function showZip(bytes: Uint8Array): Promise<void> {
  try {
    await showBundle(readZip(bytes));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    showFault(error.fault);
  }
}

async function showBundle(files: Files): Promise<void> {
  leave();
  const progress = element('p', {}, 'Verifying…');
  shown.replaceChildren(progress);
  const report = await verify(files, {}, (findings) => {
    const [proofs, rules] = [findings.countOf('proofs'), findings.countOf('rules')];
    progress.textContent = `Verifying… ${counted(proofs, 'proof', 'proofs')}, ${counted(rules, 'entry', 'entries')}`;
  });
  shown.replaceChildren(result(report));
}

async function showExport(file: File): Promise<void> {
  const entered = log?.fields;
  const { signal } = leave();
  const progress = element('p', {}, 'Reading…');
  shown.replaceChildren(progress);
  const report = await verifyExport(filePieces(file, signal), ({ bytes, entries }) => {
    const share = Math.floor((100 * bytes) / Math.max(1, file.size));
    progress.textContent = `Reading… ${share} %, ${counted(entries, 'entry', 'entries')}`;
  });
  // A checkpoint may have come meanwhile.
  if (!signal.aborted) await showLog({ ...report, name: file.name }, log?.fields ?? entered);
}

async function showText(
  kind: 'checkpoint' | 'consistency',
  text: string | undefined,
): Promise<void> {
  if (text === undefined) return showFault(faultOf('bad_form', 'The file is not UTF-8.'));
  const view = log ?? (await showLog(undefined, undefined));
  if (kind === 'consistency') view.fields.addProof(text);
  const proof = kind === 'consistency' ? readConsistency(text) : undefined;
  const checkpoint =
    kind === 'checkpoint' ? text : typeof proof === 'object' ? proof.checkpoint : undefined;
  if (checkpoint !== undefined) view.fields.addCheckpoint(checkpoint);
  await view.update();
}

async function showLog(
  exported: ShownExport | undefined,
  entered: LogView['fields'] | undefined,
): Promise<LogView> {
  const view = new LogView(exported, entered);
  log = view;
  shown.replaceChildren(view.part);
  await view.update();
  return view;
}

/** Ends the reading and the view of other files. */
function leave(): AbortController {
  reading.abort();
  reading = new AbortController();
  log = undefined;
  return reading;
}

function showFault(fault: Fault): void {
  leave();
  const findings = new Findings();
  findings.faults.push(fault);
  shown.replaceChildren(result({ findings, content: undefined }));
}

function faultOf(code: Code, reason: string): Fault {
  return { code, reason };
}

async function bytesOf(blob: Blob): Promise<Uint8Array> {
  return new Uint8Array(await blob.arrayBuffer());
}
