import { memoryHref } from '../../parts/addresses.ts';

interface Recall {
  /** The page of the memory with the same question. */
  readonly href: string;
  /** How many facts it returned. */
  readonly count: number;
  readonly facts: readonly { readonly id: string; readonly href: string }[];
}

/** The facts listed at most. The JSON below has all. */
const LISTED_MAX = 20;

/**
 * A recall in an observation: its question, and the versions of facts that it returned. The agent
 * gives this value, so it may have any form. Undefined for another one.
 */
export function recallOf(
  trajectory: string,
  { name, value }: { readonly name: string; readonly value?: unknown },
): Recall | undefined {
  if (name !== 'recall' || typeof value !== 'object' || value === null) return undefined;
  const { query, rows } = value as { readonly query?: unknown; readonly rows?: unknown };
  if (typeof query !== 'object' || query === null || !Array.isArray(rows)) return undefined;
  const { space, subject, predicate, text } = query as Readonly<Record<string, unknown>>;
  if (typeof space !== 'string') return undefined;
  const key = texts({ subject, predicate });
  const isKey = Object.keys(key).length === 2;
  const asked = isKey ? key : { view: 'recall', ...texts({ subject, predicate, text }) };
  const facts = rows.slice(0, LISTED_MAX).flatMap((row: unknown) => {
    const [id, since] = Array.isArray(row) ? (row as readonly unknown[]) : [];
    // The page of a fact is found by its key.
    if (!isKey || typeof id !== 'string' || typeof since !== 'string') return [];
    return [{ id, href: memoryHref(trajectory, space, { ...key, fact: id, since }) }];
  });
  return { href: memoryHref(trajectory, space, asked), count: rows.length, facts };
}

function texts(members: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(members).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}
