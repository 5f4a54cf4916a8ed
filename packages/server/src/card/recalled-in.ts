import { isAssizeError, type Json } from 'assize/internal/base';
import type { Assize } from 'assize/internal/runtime';
import { recallOf } from 'assize/internal/views';
import type { Remembered } from './contradictions.ts';

interface Observed {
  readonly name: string;
  readonly value?: unknown;
}

/** The most recalls of a proposal that are read, and the most characters of a fact. */
const RECALLS_MAX = 5;
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
  const recalls = observations
    .flatMap((one) => recallOf(one) ?? [])
    .filter(({ versions }) => versions.length > 0);
  for (const { space, versions } of recalls.slice(0, RECALLS_MAX)) {
    const asked = { kind: 'all', valid: 'any', system: 'any', limit: VERSIONS_MAX } as const;
    const { facts } = await readable(
      assize.memory(space, trajectoryId).recall({ ...asked, ...versions[0]?.key }),
    );
    for (const { fact, since } of versions) {
      const one = facts.find((each) => each.fact_id === fact && each.system_time_start === since);
      if (one === undefined) continue;
      const { subject, predicate, object } = one;
      const text = textOf(object as Json);
      if (!text.startsWith(ERASED)) found.push({ space, fact, since, subject, predicate, text });
    }
  }
  return found;
}

/** The start of the object of an erased fact. */
const ERASED = '{"$erased":';

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
