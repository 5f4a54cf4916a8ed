/**
 * The state of the moderation domain. An account's whole record is stored together, with the data
 * of each case under that case. So parameters confine a role, and no account waits for another
 * account. Rows are events: each row has its time and the number of its event in the account. So a
 * rule checks a change against the record at that time, and never again.
 */
import { type Instant, isInstant } from 'assize/internal/canon';
import { z } from 'zod';

/** The rungs of the ladder, from the mildest. */
export const KINDS = ['warn', 'limit', 'suspend', 'ban'] as const;
export type Kind = (typeof KINDS)[number];
export type Level = 'good' | 'limited' | 'suspended' | 'banned';

/** Chosen when a trajectory is created, and never changed. */
export interface Policy {
  /**
   * The answer to the first strike, the second, and so on. The last rung answers all further
   * strikes.
   */
  ladder: Kind[];
  /** How long a strike counts. */
  strike_days: number;
  /** How long an action can be appealed, from its notice. */
  appeal_days: number;
  /** How long what ends by itself is in force. */
  term_days: { limit: number; suspend: number };
}

/** When something happened, and as which event of its account. */
interface Event {
  at: Instant;
  n: number;
}

export interface Report extends Event {
  content: string;
  /** The clause of the policy that it is said to break. */
  clause: string;
  reporter: string;
  /** The case that it was merged into; none before triage. */
  case?: string;
}

/** All reports of one content under one clause. */
export interface Case extends Event {
  content: string;
  clause: string;
}

export interface Assessment extends Event {
  violates: boolean;
  rationale: string;
}

export interface Strike extends Event {
  /** The appeal that took it away. */
  overturned?: { appeal: string; n: number };
  /** Recorded once its time is over; it counts for nothing from then on, recorded or not. */
  expired?: Event;
}

/** The answer to the strike of a case: decided, not yet in force. */
export interface Action extends Event {
  kind: Kind;
  strike: string;
  officer: string;
  /** The moderator that approved the ban. */
  approved_by?: string;
}

export interface Notice extends Event {
  text: string;
}

export interface Enforcement extends Event {
  /** When it ends by itself; a ban does not. */
  until?: Instant;
}

/** Why something is no longer in force. */
export interface End extends Event {
  ground: 'served' | 'granted';
}

export interface Appeal extends Event {
  /** The case of the appealed action. */
  case: string;
  statement: string;
}

export interface Decision extends Event {
  case: string;
  granted: boolean;
  reason: string;
  by?: string;
  /** The event in which what was granted was done. */
  carried_out?: number;
}

export interface Standing {
  level: Level;
  /** The case of the action in force, and the end of that action. */
  case?: string;
  until?: Instant;
}

type ByCase<Row> = Record<string, Row>;

/** The record of one account. Data that is checked together is stored together. */
export interface Account {
  /** Events so far. */
  events: number;
  standing: Standing;
  reports: Record<string, Report>;
  cases: ByCase<Case>;
  assessments: ByCase<Assessment>;
  strikes: ByCase<Record<string, Strike>>;
  actions: ByCase<Action>;
  notices: ByCase<Notice>;
  enforcements: ByCase<Enforcement>;
  ends: ByCase<End>;
  appeals: Record<string, Appeal>;
  /** By appeal. */
  decisions: Record<string, Decision>;
  closures: ByCase<Event>;
}

export interface ModerationState {
  policy: Policy;
  accounts: Record<string, Account>;
}

/**
 * Ids appear in JSON Pointers as they are: no `/`, no `~`, and no name with a meaning in
 * JavaScript.
 */
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
export const instant: z.ZodType<Instant, Instant> = z.string().refine(isInstant);
export const kind: z.ZodType<Kind, Kind> = z.enum(KINDS);

const count = z.number().int().nonnegative();
const days = z.number().int().min(1).max(3_650);
const event = { at: instant, n: count };
const by = <Row extends z.ZodType>(row: Row) => z.record(id, row);

const account: z.ZodType<Account> = z.object({
  events: count,
  standing: z.object({
    level: z.enum(['good', 'limited', 'suspended', 'banned']),
    case: id.exactOptional(),
    until: instant.exactOptional(),
  }),
  reports: by(
    z.object({ ...event, content: id, clause: id, reporter: id, case: id.exactOptional() }),
  ),
  cases: by(z.object({ ...event, content: id, clause: id })),
  assessments: by(z.object({ ...event, violates: z.boolean(), rationale: z.string() })),
  strikes: by(
    by(
      z.object({
        ...event,
        overturned: z.object({ appeal: id, n: count }).exactOptional(),
        expired: z.object(event).exactOptional(),
      }),
    ),
  ),
  actions: by(
    z.object({ ...event, kind, strike: id, officer: id, approved_by: z.string().exactOptional() }),
  ),
  notices: by(z.object({ ...event, text: z.string() })),
  enforcements: by(z.object({ ...event, until: instant.exactOptional() })),
  ends: by(z.object({ ...event, ground: z.enum(['served', 'granted']) })),
  appeals: by(z.object({ ...event, case: id, statement: z.string() })),
  decisions: by(
    z.object({
      ...event,
      case: id,
      granted: z.boolean(),
      reason: z.string(),
      by: z.string().exactOptional(),
      carried_out: count.exactOptional(),
    }),
  ),
  closures: by(z.object(event)),
});

export const moderationState: z.ZodType<ModerationState> = z.object({
  policy: z.object({
    ladder: z.array(kind).min(1).max(16),
    strike_days: days,
    appeal_days: days,
    term_days: z.object({ limit: days, suspend: days }),
  }),
  accounts: by(account),
});
