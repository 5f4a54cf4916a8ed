/**
 * The state of the verification domain. The whole record of one finding is stored together. So a
 * parameter confines a role to a finding, and a pending verdict blocks only that finding. Rows are
 * events: each row has its time and the number of its event in the finding. So a rule checks a row
 * against the record at that time, and never again.
 */
import { type Instant, isInstant } from 'assize/internal/canon';
import { z } from 'zod';

export const LEVELS = ['low', 'medium', 'high', 'critical'] as const;
export type Level = (typeof LEVELS)[number];

/** Lower-case hex: the name of evidence, and the fingerprint of a finding. */
export type Sha256 = string;

/** When something happened, and as which event of its finding. */
interface Event {
  at: Instant;
  n: number;
}

/** One analyser's candidate. A second discovery adds a submission. */
export interface Submission extends Event {
  submitter: string;
  component: string;
  title: string;
  /** The hash of component, place and weakness. These identify a candidate. */
  fingerprint: Sha256;
}

export interface Evidence extends Event {
  kind: 'trace' | 'input' | 'patch' | 'writeup';
  /** The event in which it was taken back. */
  withdrawn?: number;
}

/** An attempt to make it happen again. */
export interface Attempt extends Event {
  environment: string;
  reproduced: boolean;
  /** The evidence that shows the reproduction. */
  evidence?: Sha256;
}

export interface Rating extends Event {
  level: Level;
  rationale: string;
}

export interface Assignment extends Event {
  expert: string;
  /** The event in which the expert was done with it, or was relieved of it. */
  released?: number;
}

export interface Verdict extends Event {
  genuine: boolean;
  reason: string;
  /** The rating that the expert agrees with, for a genuine finding. */
  rating?: string;
  /** The evidence that the verdict covers, in order. */
  evidence: Sha256[];
  by?: string;
}

/** A report to the disclosure team. */
export interface Report extends Event {
  verdict: string;
  retracted?: { reason: string; n: number };
}

export interface Finding {
  events: number;
  /** The component by fingerprint: one. */
  identity: Record<Sha256, string>;
  submissions: Record<string, Submission>;
  /** By the hash of the evidence. */
  evidence: Record<Sha256, Evidence>;
  attempts: Record<string, Attempt>;
  ratings: Record<string, Rating>;
  assignments: Record<string, Assignment>;
  verdicts: Record<string, Verdict>;
  reports: Record<string, Report>;
}

export interface VerificationState {
  /**
   * The maximum number of findings of an expert at a time. Chosen when a trajectory is created, and
   * never changed.
   */
  experts: Record<string, { queue: number }>;
  findings: Record<string, Finding>;
}

/**
 * Ids appear in JSON Pointers as they are: no `/`, no `~`, and no name with a meaning in
 * JavaScript.
 */
export const id: z.ZodString = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/);
export const sha256: z.ZodString = z.string().regex(/^[0-9a-f]{64}$/);
export const level: z.ZodType<Level, Level> = z.enum(LEVELS);
export const kind: z.ZodType<Evidence['kind'], Evidence['kind']> = z.enum([
  'trace',
  'input',
  'patch',
  'writeup',
]);

const count = z.number().int().nonnegative();
const event = { at: z.string().refine(isInstant), n: count };
const by = <Row extends z.ZodType>(row: Row) => z.record(id, row);

export const verificationState: z.ZodType<VerificationState> = z.object({
  experts: by(z.object({ queue: count })),
  findings: by(
    z.object({
      events: count,
      identity: z.record(sha256, z.string()),
      submissions: by(
        z.object({
          ...event,
          submitter: id,
          component: z.string(),
          title: z.string(),
          fingerprint: sha256,
        }),
      ),
      evidence: z.record(sha256, z.object({ ...event, kind, withdrawn: count.exactOptional() })),
      attempts: by(
        z.object({
          ...event,
          environment: z.string(),
          reproduced: z.boolean(),
          evidence: sha256.exactOptional(),
        }),
      ),
      ratings: by(z.object({ ...event, level, rationale: z.string() })),
      assignments: by(z.object({ ...event, expert: id, released: count.exactOptional() })),
      verdicts: by(
        z.object({
          ...event,
          genuine: z.boolean(),
          reason: z.string(),
          rating: id.exactOptional(),
          evidence: z.array(sha256),
          by: z.string().exactOptional(),
        }),
      ),
      reports: by(
        z.object({
          ...event,
          verdict: id,
          retracted: z.object({ reason: z.string(), n: count }).exactOptional(),
        }),
      ),
    }),
  ),
});
