/** A place of a state with its values. Absent: the state has no such place. */
export interface ChangedPlace {
  /** A JSON Pointer. */
  readonly place: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

/**
 * The places where two JSON values differ, in UTF-16 order of their keys. A list counts as one
 * value.
 */
export function changedPlaces(before: unknown, after: unknown, place = ''): ChangedPlace[] {
  if (!isMembers(before) || !isMembers(after))
    return JSON.stringify(before) === JSON.stringify(after)
      ? []
      : [{ place, ...(before !== undefined && { before }), ...(after !== undefined && { after }) }];
  const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return keys.flatMap((key) =>
    changedPlaces(own(before, key), own(after, key), `${place}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`),
  );
}

type Members = Readonly<Record<string, unknown>>;

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function own(members: Members, key: string): unknown {
  return Object.hasOwn(members, key) ? members[key] : undefined;
}
