import { element } from './element.ts';

/** A place to drop files, and a button to choose some. */
export function opener(onFiles: (files: readonly File[]) => void): HTMLElement {
  const input = element('input', { type: 'file', id: 'file', multiple: '' });
  const zone = element(
    'div',
    { class: 'drop' },
    element(
      'label',
      { for: 'file' },
      'Choose a proof bundle, an export or a checkpoint, or drop it here',
    ),
    input,
    element('p', { class: 'dim' }, 'The files stay in this browser. The page makes no request.'),
  );
  input.addEventListener('change', () => onFiles([...(input.files ?? [])]));
  zone.addEventListener('dragover', (event) => event.preventDefault());
  zone.addEventListener('drop', (event) => {
    event.preventDefault();
    onFiles([...(event.dataTransfer?.files ?? [])]);
  });
  return zone;
}
