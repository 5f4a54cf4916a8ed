import type { FactVersion } from 'assize/internal/ledger';
import { dayOf, OCCURRENCES_MAX, wordsOfDocument } from 'assize/internal/memory';
import { erasedText, isErasedText } from 'assize/internal/stores/facts.ts';
import { composite } from '../connection/row.ts';

type TextOfRow = Pick<
  FactVersion,
  'subject' | 'predicate' | 'object' | 'asserted_from' | 'row_kind' | 'content'
>;

/**
 * The texts of a partition's rows, each once, as `write_texts` accepts them. Erased texts are
 * omitted.
 */
export function textRows(n: number, rows: readonly TextOfRow[]): string[] {
  const texts = new Map<string, string>();
  for (const row of rows) {
    const { subject, object, content, row_kind } = row;
    const day = dayOf(row);
    const name = `${content.hash} ${row_kind} ${day}`;
    if (texts.has(name) || object === erasedText(content.hash) || isErasedText(subject)) continue;
    const words = wordsOfDocument(row);
    const lexemes = counted(words).map(([word, positions]) => ` '@${word}':${positions}`);
    texts.set(
      name,
      composite([n, content.hash, row_kind === 'audit', day, words.length, lexemes.join('')]),
    );
  }
  return [...texts.values()];
}

/** Each word with one position per occurrence. */
function counted(words: readonly string[]): [word: string, positions: string][] {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return [...counts].map(([word, count]) => [
    word,
    Array.from({ length: Math.min(count, OCCURRENCES_MAX) }, (_, at) => at + 1).join(','),
  ]);
}
