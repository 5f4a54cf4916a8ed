import { embeddedFiles, type Files } from '../bundle/files.ts';
import { type Fault, Findings, Unreadable } from '../bundle/findings.ts';
import { verify } from '../bundle/verify.ts';
import { counted, element } from './element.ts';
import { opener } from './opener.ts';
import { result } from './result.ts';

const page = document.getElementById('page') as HTMLElement;
const shown = element('div', {});

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
  const progress = element('p', {}, 'Verifying…');
  shown.replaceChildren(progress);
  const report = await verify(files, {}, (findings) => {
    const [proofs, rules] = [findings.countOf('proofs'), findings.countOf('rules')];
    progress.textContent = `Verifying… ${counted(proofs, 'proof', 'proofs')}, ${counted(rules, 'entry', 'entries')}`;
  });
  shown.replaceChildren(result(report));
}

function showFault(fault: Fault): void {
  const findings = new Findings();
  findings.faults.push(fault);
  shown.replaceChildren(result({ findings, content: undefined }));
}
