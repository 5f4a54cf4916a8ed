import type { Ground, Incident } from './schema.ts';

/** Dollars for each passenger (policy.md, Refund). */
const AMOUNT: Record<Ground, number> = { cancelled: 100, delayed: 50 };

/** A delay is compensated only once the reservation has been changed or cancelled over it. */
export function isGround({ ground, settled }: Incident): boolean {
  return ground === 'cancelled' || settled;
}

export function isEligible({ membership, insurance, cabin }: Incident): boolean {
  return membership !== 'regular' || insurance === 'yes' || cabin === 'business';
}

export function amountDue({ ground, passengers }: Incident): number {
  return AMOUNT[ground] * passengers;
}

/** The first incident that entitles its reservation's owner to a certificate of this amount. */
export function entitling(incidents: readonly Incident[], amount: number): Incident | undefined {
  return incidents.find(
    (incident) =>
      isGround(incident) &&
      isEligible(incident) &&
      amountDue(incident) === amount &&
      !incident.compensated,
  );
}
