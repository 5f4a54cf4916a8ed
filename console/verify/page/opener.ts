import type { Files } from '../bundle/files.ts';
import { type Fault, Unreadable } from '../bundle/findings.ts';
import { readZip } from '../bundle/read-zip.ts';
import { element } from './element.ts';

/** A place to drop a bundle, and a button to choose one. */
export function opener(onFiles: (files: Files) => void, onFault: (fault: Fault) => void): HTMLElement {
  const input = element('input', { type: 'file', id: 'file', accept: '.zip,application/zip' });
  const zone = element(
    'div',
    { class: 'drop' },
    element('label', { for: 'file' }, 'Choose a proof bundle (.zip), or drop it here'),
    input,
    element('p', { class: 'dim' }, 'The file stays in this browser. The page makes no request.'),
  );
  const open = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      onFiles(readZip(new Uint8Array(await file.arrayBuffer())));
    } catch (error) {
      if (!(error instanceof Unreadable)) throw error;
      onFault(error.fault);
    }
  };
  input.addEventListener('change', () => void open(input.files?.[0]));
  zone.addEventListener('dragover', (event) => event.preventDefault());
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    void open(event.dataTransfer?.files[0]);
  });
  return zone;
}
