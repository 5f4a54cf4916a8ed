// A browser imports this file, so it imports no other code.

/** A version of a fact that a recall returned. */
export interface RecalledVersion {
  readonly fact: string;
  /** The start of the version in system time. */
  readonly since: string;
  /** The part of the fact's key that the recall asked for. */
  readonly key: { readonly subject?: string; readonly predicate?: string };
}

/** A recall in an observation: its space, and the versions of facts that it returned. */
export interface Recall {
  readonly space: string;
  readonly count: number;
  /** The first of them. */
  readonly versions: readonly RecalledVersion[];
}

/** The facts shown at most. The JSON of the observation has all. */
const SHOWN_MAX = 10;

/** The recall of an observation. The agent writes its value, so the value may have any form. */
export function recallOf({
  name,
  value,
}: {
  readonly name: string;
  readonly value?: unknown;
}): Recall | undefined {
  if (name !== 'recall' || typeof value !== 'object' || value === null) return undefined;
  const { query, rows } = value as { readonly query?: unknown; readonly rows?: unknown };
  if (typeof query !== 'object' || query === null || !Array.isArray(rows)) return undefined;
  const { space, subject, predicate } = query as Readonly<Record<string, unknown>>;
  if (typeof space !== 'string' || space === '') return undefined;
  const key = {
    ...(typeof subject === 'string' && subject !== '' && { subject }),
    ...(typeof predicate === 'string' && predicate !== '' && { predicate }),
  };
  const versions = rows.slice(0, SHOWN_MAX).flatMap((row: unknown) => {
    const [fact, since] = Array.isArray(row) ? (row as readonly unknown[]) : [];
    return typeof fact === 'string' && fact !== '' && typeof since === 'string'
      ? [{ fact, since, key }]
      : [];
  });
  return { space, count: rows.length, versions };
}
