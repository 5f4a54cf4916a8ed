import type { FactRow } from '#memory';

/** Whether the text of a version was erased. */
export function isErased({ subject, object }: Pick<FactRow, 'subject' | 'object'>): boolean {
  return subject.startsWith('{"$erased":') || object.startsWith('{"$erased":');
}
