/** The address of a trajectory, or of an entry in it. */
export function timelineHref(trajectory: string, seq?: number): string {
  return `/timeline/${encodeURIComponent(trajectory)}${seq === undefined ? '' : `/${seq}`}`;
}

/** A proposal that an agent may make. */
export interface Proposable {
  readonly action: string;
  readonly role:
    | string
    | { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly args: unknown;
}

/** The address where a proposal is written already, and judged after an entry. */
export function proposalHref(trajectory: string, seq: number, proposal: Proposable): string {
  const query = new URLSearchParams({ view: 'try', propose: JSON.stringify(proposal) });
  return `${timelineHref(trajectory, seq)}?${query}`;
}

/** A name in a path. The router leaves the characters encoded that have a meaning in an address. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** The address of a space of the memory, with choices on its page. */
export function memoryHref(
  trajectory: string,
  space: string,
  query: Readonly<Record<string, string>>,
): string {
  const search = new URLSearchParams(query).toString();
  const path = `/memory/${encodeURIComponent(trajectory)}/${encodeURIComponent(space)}`;
  return search === '' ? path : `${path}?${search}`;
}
