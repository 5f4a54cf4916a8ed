import { CellsError } from './errors.ts';

/**
 * The tenant of a trajectory: the part of its name before the first colon, or all of it. So
 * `acme:orders` and `acme:returns` live in one cell.
 */
export function tenantOf(trajectoryId: string): string {
  const colon = trajectoryId.indexOf(':');
  return colon < 0 ? trajectoryId : trajectoryId.slice(0, colon);
}

/** Refuses a branch or a delegation of another tenant. @throws CellsError `bad_argument` */
export function requireSameTenant(source: string, name: string): void {
  const tenant = tenantOf(source);
  if (tenantOf(name) === tenant) return;
  throw new CellsError(
    'bad_argument',
    `${name} is not of the tenant of ${source}. Name it ${tenant}:NAME.`,
    {
      evidence: { tenant },
    },
  );
}
