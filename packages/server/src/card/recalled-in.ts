import { isAssizeError, type Json } from 'assize/internal/base';
import type { Assize } from 'assize/internal/runtime';
import type { Remembered } from './contradictions.ts';

/** The name of an observation that a recall gave. An agent can write any value under it. */
export const RECALL = 'recall';

interface Observed {
  readonly name: string;
  readonly value?: unknown;
}

/** The most recalls of a proposal that are read, the most facts, and the most characters of one. */
const RECALLS_MAX = 5;
const FACTS_MAX = 20;
const TEXT_MAX = 400;
/** The most versions that are searched for a recall. */
const VERSIONS_MAX = 1_000;

/** The facts that the observations of a proposal recall, as they were then. */
export async function recalledIn(
  assize: Pick<Assize, 'memory'>,
  trajectoryId: string,
  observations: readonly Observed[],
): Promise<readonly Remembered[]> {
  const found: Remembered[] = [];
  const recalls = observations.flatMap(recallOf).filter(({ versions }) => versions.length > 0);
  for (const { space, key, versions } of recalls.slice(0, RECALLS_MAX)) {
    const asked = {
      kind: 'all',
      valid: 'any',
      system: 'any',
      limit: VERSIONS_MAX,
      ...key,
    } as const;
    const { facts } = await readable(assize.memory(space, trajectoryId).recall(asked));
    for (const [fact, since] of versions.slice(0, FACTS_MAX - found.length)) {
      const one = facts.find((each) => each.fact_id === fact && each.system_time_start === since);
      if (one === undefined) continue;
      const { subject, predicate, object } = one;
      found.push({ space, fact, since, subject, predicate, text: textOf(object as Json) });
    }
  }
  return found;
}

const UNREADABLE: readonly string[] = ['bad_argument', 'store_invalid_input'];

/** No facts for a space or a key that no memory can have: the agent wrote the recall itself. */
function readable<T>(recall: Promise<{ readonly facts: readonly T[] }>) {
  return recall.catch((error: unknown) => {
    if (!isAssizeError(error) || !UNREADABLE.includes(error.code)) throw error;
    return { facts: [] };
  });
}

function textOf(object: Json): string {
  return (typeof object === 'string' ? object : JSON.stringify(object)).slice(0, TEXT_MAX);
}

interface Recall {
  readonly space: string;
  readonly key: { readonly subject?: string; readonly predicate?: string };
  readonly versions: readonly (readonly [fact: string, since: string])[];
}

/** Empty for a value of another form. */
function recallOf({ name, value }: Observed): Recall[] {
  if (name !== RECALL || typeof value !== 'object' || value === null) return [];
  const { query, rows } = value as { readonly query?: unknown; readonly rows?: unknown };
  if (typeof query !== 'object' || query === null || !Array.isArray(rows)) return [];
  const { space, subject, predicate } = query as Readonly<Record<string, unknown>>;
  if (!isText(space)) return [];
  const key = { ...(isText(subject) && { subject }), ...(isText(predicate) && { predicate }) };
  const versions = rows
    .slice(0, FACTS_MAX)
    .flatMap((row: unknown) =>
      Array.isArray(row) && isText(row[0]) && isText(row[1]) ? [[row[0], row[1]] as const] : [],
    );
  return [{ space, key, versions }];
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
