import type { FactHit, FactQuery, FactTextQuery, FactVersion } from 'assize/internal/ledger';
import { wordsOf, wordsOfDocument } from 'assize/internal/memory';
import type { FactModel } from './fact-model.ts';

// A minimal ranking: scores every text of the space, and gives each requested row the score of its
// text.

/** Same as `FactStore.factsByText`, by the formula that `Bm25` states. */
export function rankedByText(
  model: FactModel,
  { text, limit = 1_000, ...query }: FactTextQuery,
): FactHit[] {
  const texts = new Map<string, string[]>();
  for (const row of model.rows)
    if (row.space === query.space && !isErased(row)) texts.set(nameOf(row), wordsOfDocument(row));
  const lengths = [...texts.values()].map((words) => words.length);
  const average = lengths.reduce((sum, length) => sum + length, 0) / lengths.length;
  const scoreOf = (words: readonly string[]): number => {
    let score = 0;
    for (const word of new Set(wordsOf(text))) {
      const n = [...texts.values()].filter((each) => each.includes(word)).length;
      const f = words.filter((each) => each === word).length;
      const idf = Math.log(1 + (texts.size - n + 0.5) / (n + 0.5));
      score += (idf * f * 2.2) / (f + 1.2 * (0.25 + (0.75 * words.length) / average));
    }
    return score;
  };
  return ranked(model, query, limit, (row) => scoreOf(texts.get(nameOf(row)) ?? []));
}

/** The rows of a query with a score other than 0, best first; equal scores in row order. */
export function ranked(
  model: FactModel,
  query: FactQuery,
  limit: number,
  scoreOf: (row: FactVersion) => number | undefined,
): FactHit[] {
  return model
    .query({ ...query, limit: Number.MAX_SAFE_INTEGER })
    .map((fact) => ({
      fact,
      score: isErased(fact) ? 0 : Math.round((scoreOf(fact) ?? 0) * 1e6) / 1e6,
    }))
    .filter(({ score }) => score !== 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** Whether the object or the subject of a row is erased. */
export function isErased({ object, subject, content }: FactVersion): boolean {
  return object === `{"$erased":"${content.hash}"}` || subject.startsWith('{"$erased":');
}

/** Rows with one text have one name. An inherited text of a branch is a separate text. */
export function nameOf({
  space,
  branch,
  subject,
  predicate,
  content,
  row_kind,
  asserted_from,
}: FactVersion): string {
  return JSON.stringify([
    space,
    branch ?? null,
    subject,
    predicate,
    content.hash,
    row_kind,
    asserted_from.slice(0, 10),
  ]);
}
