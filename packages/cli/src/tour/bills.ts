import { addMicros, type Instant } from 'assize/internal/canon';

/** A bill that the agent paid. */
export interface Bill {
  readonly id: string;
  readonly at: Instant;
  readonly supplier: string;
  readonly cents: number;
  /** Whether the agent looked the supplier up before it paid. */
  readonly isLookedUp: boolean;
}

const START: Instant = '2026-05-04T08:00:00.000000Z';
const DAY_MICROS = 86_400_000_000;
const DAYS = 24;
const SUPPLIERS = ['city-water', 'clean-desk', 'north-power', 'paper-mill'] as const;

/** The bill of a supplier that the list of the office does not have. */
const UNKNOWN = { day: 19, supplier: 'acme-gold', cents: 4_900 } as const;

/** A bill a day. Their order and amounts look random, and are the same in every tour. */
export const BILLS: readonly Bill[] = Array.from({ length: DAYS }, (_, day) => {
  const isUnknown = day === UNKNOWN.day;
  const number = (day * 48_271 + 11_399) % 9_973;
  const supplier = SUPPLIERS[number % SUPPLIERS.length] as string;
  return {
    ...{ id: `bill-${day + 1}`, at: addMicros(START, day * DAY_MICROS), supplier, cents: 1_000 + number * 2 },
    ...(isUnknown && { supplier: UNKNOWN.supplier, cents: UNKNOWN.cents }),
    isLookedUp: !isUnknown,
  };
});
