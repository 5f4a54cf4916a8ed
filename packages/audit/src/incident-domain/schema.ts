import { STATEMENTS_MAX } from 'assize/internal/kernel';
import { z } from 'zod';

/** The most steps of one incident, and the most remaining items at its opening. */
export const STEPS_MAX = 2_000;

/** The most characters of a text of a plan or an outcome. */
export const TEXT_MAX = 4_096;

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().min(1).max(1_000);
const text = z.string().min(1).max(TEXT_MAX);

/** The start of the blast radius, as its caller named it. */
const start = z.strictObject({
  entry: hash.optional(),
  writ: hash.optional(),
  principal: name.optional(),
  approver: name.optional(),
  tool: name.optional(),
  definition: hash.optional(),
  source: name.optional(),
  facts: z.strictObject({ space: name, subject: name, predicate: name.optional() }).optional(),
  since: name.optional(),
  until: name.optional(),
});

/** The most characters of the objects that the approver of a step reads. */
export const OBJECT_SHOWN_MAX = 500;

const about = {
  /** The trajectory that states it. */
  trajectory: name,
  space: name,
  /** Absent: facts of the shared memory. */
  branch: name.optional(),
  subject: name,
  predicate: name,
  /** The believed objects, for the approver. */
  object: z.string().max(OBJECT_SHOWN_MAX),
};

const step = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('revoke'), trajectory: name, writ: hash }),
  z.strictObject({
    kind: z.literal('withdraw'),
    ...about,
    /** The objects that the statements displaced, for the approver. */
    displaced: z.string().max(OBJECT_SHOWN_MAX),
    statements: z
      .array(z.strictObject({ entry: hash, n: z.int().min(0) }))
      .min(1)
      .max(STATEMENTS_MAX),
  }),
  /** Of plans from before withdrawals. */
  z.strictObject({
    kind: z.literal('retract'),
    ...about,
    /** The row of the fact, and the entry that wrote it. */
    fact: name,
    entry: hash,
  }),
  z.strictObject({ kind: z.literal('halt'), trajectory: name }),
]);

/** A consequence that no step undoes. */
const remaining = z.strictObject({ what: text, entry: hash.optional(), why: text, advice: text });

/** `already`: the step had nothing to do any more. */
const OUTCOMES = ['done', 'already', 'failed'] as const;
const outcome = z.strictObject({
  outcome: z.enum(OUTCOMES),
  reason: text.optional(),
  at: z.string(),
});

const incident = z.strictObject({
  start,
  because: z.string().min(1).max(2_000),
  steps: z.array(step).max(STEPS_MAX),
  remains: z.array(remaining).max(2 * STEPS_MAX),
  /** As the opener names itself. The entry has the writ. */
  openedBy: name,
  openedAt: z.string(),
  approvedBy: z.string().optional(),
  /** By the index of the step. */
  outcomes: z.record(z.string(), outcome),
  closedAt: z.string().optional(),
});

export const incidentState = z.strictObject({ incidents: z.record(z.string(), incident) });

/** A name of an incident in its trajectory. */
export const incidentId: z.ZodString = z.string().regex(/^[0-9a-z][0-9a-z-]{0,63}$/);

export const openArgs = z.strictObject({
  start,
  because: z.string().min(1).max(2_000),
  openedBy: name,
  steps: z.array(step).max(STEPS_MAX),
  remains: z.array(remaining).max(STEPS_MAX),
});

export const recordArgs = z
  .strictObject({
    step: z
      .int()
      .min(0)
      .max(STEPS_MAX - 1),
    outcome: z.enum(OUTCOMES),
    /** The reason of a failure. */
    reason: text.optional(),
  })
  .refine(
    ({ outcome, reason }) => (outcome === 'failed') === (reason !== undefined),
    'a failure needs a reason',
  );

export type IncidentState = z.infer<typeof incidentState>;
export type Incident = z.infer<typeof incident>;
export type ResponseStep = z.infer<typeof step>;
export type RemainingItem = z.infer<typeof remaining>;
export type StepOutcome = z.infer<typeof outcome>;
