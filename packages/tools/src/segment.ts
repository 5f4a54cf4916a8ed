/**
 * The inverse of `segment`: the original string. A segment that `segment` did not make from a
 * string is unchanged.
 */
export function unsegment(segment: string): string {
  if (segment === '~') return '';
  return segment.replaceAll(/~([0-9a-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}
