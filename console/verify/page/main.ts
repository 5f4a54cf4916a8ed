import { embeddedFiles, type Files } from '../bundle/files.ts';
import { type Fault, Findings, Unreadable } from '../bundle/findings.ts';
import { verify } from '../bundle/verify.ts';
import { element } from './element.ts';
import { opener } from './opener.ts';
import { result } from './result.ts';

const page = document.getElementById('page') as HTMLElement;
const shown = element('div', { 'aria-live': 'polite' });

start();

function start(): void {
  const embedded = document.getElementById('bundle')?.textContent?.trim() ?? '';
  const about = 'Verified by this page, in this browser, without a network.';
  page.replaceChildren(
    element('header', {}, element('h1', {}, 'Proof bundle'), element('p', { class: 'dim' }, about)),
    ...(embedded === '' ? [opener((files) => void show(files), showFault)] : []),
    shown,
  );
  if (embedded !== '') showEmbedded(embedded);
}

function showEmbedded(text: string): void {
  try {
    void show(embeddedFiles(text));
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error;
    showFault(error.fault);
  }
}

async function show(files: Files): Promise<void> {
  shown.replaceChildren(element('p', { role: 'status' }, 'Verifying…'));
  shown.replaceChildren(result(await verify(files)));
}

function showFault(fault: Fault): void {
  const findings = new Findings();
  findings.faults.push(fault);
  shown.replaceChildren(result({ findings, content: undefined }));
}
