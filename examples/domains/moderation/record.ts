/** Functions of the rows of one account. They read only their arguments. */
import type { Instant } from 'assize/internal/canon';
import {
  type Action,
  type Appeal,
  type Decision,
  type End,
  type Enforcement,
  KINDS,
  type Kind,
  type Level,
  type Standing,
  type Strike,
} from './schema.ts';
import { daysAfter } from './time.ts';

type Rows<Row> = Readonly<Record<string, Row>>;

const LEVEL: Readonly<Record<Kind, Level>> = {
  warn: 'good',
  limit: 'limited',
  suspend: 'suspended',
  ban: 'banned',
};

/** How many strikes of an account counted at a time, by what was known in event `n`. */
export function activeStrikes(
  strikes: Rows<Rows<Strike>>,
  at: Instant,
  n: number,
  strikeDays: number,
): number {
  return Object.values(strikes)
    .flatMap((ofCase) => Object.values(ofCase))
    .filter((strike) => isActive(strike, at, n, strikeDays)).length;
}

export function isActive(strike: Strike, at: Instant, n: number, strikeDays: number): boolean {
  const isOverturned = strike.overturned !== undefined && strike.overturned.n < n;
  return strike.n < n && !isOverturned && at < daysAfter(strike.at, strikeDays);
}

/** The rung for so many strikes. */
export function rungFor(strikes: number, ladder: readonly Kind[]): Kind | undefined {
  return ladder[Math.min(strikes, ladder.length) - 1];
}

/** The event in which a decision was the end of its appeal: granted, when that was carried out. */
function settledIn({ granted, n, carried_out }: Decision): number {
  return granted ? (carried_out ?? Number.POSITIVE_INFINITY) : n;
}

export interface AppealRecord {
  readonly appeals: Rows<Appeal>;
  readonly decisions: Rows<Decision>;
}

/** An appeal that was open just before event `n`: against a case, or any. */
export function openAppeal(
  { appeals, decisions }: AppealRecord,
  n: number,
  ofCase?: string,
): string | undefined {
  return Object.keys(appeals).find((id) => {
    const appeal = appeals[id] as Appeal;
    const decision = decisions[id];
    if (appeal.n >= n || (ofCase !== undefined && appeal.case !== ofCase)) return false;
    return decision === undefined || settledIn(decision) >= n;
  });
}

/** Whether an appeal against a case was granted before event `n`. */
export function isOverturned(
  { decisions }: Pick<AppealRecord, 'decisions'>,
  n: number,
  ofCase: string,
): boolean {
  return Object.values(decisions).some(
    (decision) => decision.case === ofCase && decision.granted && decision.n < n,
  );
}

/**
 * The standing that follows from the actions in force: the harshest action, and among equals the
 * action that ends last.
 */
export function standingOf({
  enforcements,
  ends,
  actions,
}: {
  readonly enforcements: Rows<Enforcement>;
  readonly ends: Rows<End>;
  readonly actions: Rows<Action>;
}): Standing {
  const inForce = Object.keys(enforcements)
    .filter((id) => ends[id] === undefined && actions[id] !== undefined)
    .sort(
      (a, b) =>
        harshness(actions[b]) - harshness(actions[a]) ||
        byEnd(enforcements[b], enforcements[a]) ||
        byText(a, b),
    )[0];
  if (inForce === undefined) return { level: 'good' };
  const { kind } = actions[inForce] as Action;
  const { until } = enforcements[inForce] as Enforcement;
  return { level: LEVEL[kind], case: inForce, ...(until === undefined ? {} : { until }) };
}

function harshness(action: Action | undefined): number {
  return KINDS.indexOf((action as Action).kind);
}

/** A period without an end sorts after all periods with an end. */
function byEnd(a: Enforcement | undefined, b: Enforcement | undefined): number {
  const never = '\uffff';
  return byText(a?.until ?? never, b?.until ?? never);
}

/** No order of keys decides: it is another one where a state was read from elsewhere. */
function byText(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
