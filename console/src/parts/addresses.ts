/** The address of a trajectory, or of an entry in it. */
export function timelineHref(trajectory: string, seq?: number): string {
  return `/timeline/${encodeURIComponent(trajectory)}${seq === undefined ? '' : `/${seq}`}`;
}

/** A name in a path. The router leaves the characters encoded that have a meaning in an address. */
export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}
