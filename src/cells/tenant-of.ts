/**
 * The tenant of a trajectory: the part of its name before the first colon, or all of it. So
 * `acme:orders` and `acme:returns` live in one cell.
 */
export function tenantOf(trajectoryId: string): string {
  const colon = trajectoryId.indexOf(':');
  return colon < 0 ? trajectoryId : trajectoryId.slice(0, colon);
}
