import type { FactRow } from 'assize/internal/memory';

/** Whether the text of a version was erased. */
export function isErased({ subject, object }: Pick<FactRow, 'subject' | 'object'>): boolean {
  return isErasedText(subject) || isErasedText(object);
}

/** Whether a text stands for an erased value: `{"$erased": …}`. */
export function isErasedText(text: string): boolean {
  return text.startsWith('{"$erased":');
}
