import { z } from 'zod';
import { CLASSES } from './rules/rules.ts';

const instant = z.string();
const applied = z.strictObject({ rule: z.string(), why: z.string() });

/** The ruling of rules that only judge a call. `rule`: the first one that asks or denies. */
const judged = z.strictObject({
  ruling: z.enum(['allow', 'ask', 'deny']),
  rule: z.string().optional(),
  why: z.string().optional(),
});
export type JudgedRuling = z.infer<typeof judged>;

/**
 * One call, with the circumstances under which it was let through. Its arguments are in the entry.
 */
const call = z.strictObject({
  agent: z.string(),
  /** `server/tool`. */
  tool: z.string(),
  /** The tools of its parts, each once. */
  parts: z.array(z.string()).optional(),
  /** The session of its agent. */
  session: z.string().optional(),
  class: z.enum(CLASSES),
  at: instant,
  /** Hash of the arguments, and of the parts if the call has any. */
  digest: z.string(),
  /** `caller`: the caller makes the call and reports its outcome. */
  run: z.enum(['caller', 'assize']),
  amounts: z.record(z.string(), z.int().min(0)),
  reads: z.array(z.string()),
  writes: z.array(z.string()),
  /** The rule that allows the call. */
  allowed: z.string().optional(),
  /** The rule that denies it. No committed call has one. */
  denied: applied.optional(),
  /** The limit that the call exceeds, where rules are only tried. No committed call has one. */
  over: applied.optional(),
  /** Paths to write that were not read before. No committed call has one. */
  unread: z.array(z.strictObject({ rule: z.string(), path: z.string() })),
  asks: z.array(applied),
  /** The approvals that the questions need, and the people who gave one. */
  approvals: z.int().min(0).max(2),
  approvedBy: z.array(z.string()),
  /** How long the questions wait, where a rule says so. */
  minutes: z.int().min(1).optional(),
  /** The standing approval that answers the questions. */
  standing: z.string().optional(),
  /** Absent: open, or made by Assize. `unknown`: in doubt. */
  outcome: z.enum(['done', 'failed', 'unknown']).optional(),
  closedAt: instant.optional(),
  /** The hash of its result. */
  result: z.string().optional(),
  /** Whether the call must start. It can start once. */
  once: z.boolean().optional(),
  /** The digest of the rules that let a call through that must start. */
  rules: z.string().optional(),
  /** The definition that was judged: the shown one, or else the pinned one. */
  definition: z.string().optional(),
  begunAt: instant.optional(),
  /** Whether its question did not start it, because another run had the turn. */
  waited: z.boolean().optional(),
  /** The id under which its caller has started it, if that is another one. */
  begunAs: z.string().optional(),
  /** The call that this one takes back, and the one that takes this one back. */
  undoes: z.string().optional(),
  undoneBy: z.string().optional(),
  /** The ruling of the rules without observation, where it is another one. */
  would: judged.optional(),
  /** The ruling of the trial set. */
  trial: judged.optional(),
});

/** A session of an agent, or of a subagent. */
const session = z.strictObject({
  agent: z.string(),
  at: instant,
  /** The session that started this one. */
  parent: z.string().optional(),
  about: z.string().optional(),
  /** The folder of the project that it began in. */
  project: z.string().optional(),
  endedAt: instant.optional(),
  /** Whether its calls only take back what it has done. */
  failed: z.boolean().optional(),
});

/** A run that holds places until it ends: only its calls start there. */
const turn = z.strictObject({
  /** When it took the first place. A run that began earlier never waits for it in a circle. */
  since: instant,
  /** Its last beginning of a call. */
  at: instant,
  /** `rule|path`. */
  places: z.array(z.string()),
  /** The run that took a place after this one was silent too long. */
  lostTo: z.string().optional(),
});

const standing = z.strictObject({
  agent: z.string(),
  tools: z.array(z.string()),
  uses: z.int().min(1),
  /** The most that all uses together may spend, by unit. */
  amounts: z.record(z.string(), z.int().min(0)),
  expires: instant,
  because: z.string(),
  approvedBy: z.string().optional(),
  /** The time of the approval. A call that was asked for before waits for a person. */
  approvedAt: instant.optional(),
});

const pin = z.strictObject({
  /** Hash of the definition. */
  hash: z.string(),
  class: z.enum(CLASSES),
  idempotent: z.boolean(),
  at: instant,
  /** Hash of the definition before this one. */
  was: z.string().optional(),
  /** Whether the definition needs an approval. */
  held: z.boolean(),
  approvedBy: z.string().optional(),
});

export const gatewayState = z.strictObject({
  rules: z.strictObject({
    id: z.string(),
    digest: z.string(),
    /** The canonical text of the rules. */
    text: z.string(),
    /** Names of registered tools whose calls Assize makes. */
    runs: z.array(z.string()),
    /** A set beside these rules that only judges, until a day. */
    trial: z
      .strictObject({ id: z.string(), digest: z.string(), text: z.string(), until: z.string() })
      .optional(),
  }),
  /** `floors`: figures that were above the maximum when it was lowered, by group. */
  limits: z.record(
    z.string(),
    z.strictObject({ max: z.int().min(0), floors: z.record(z.string(), z.int().min(0)) }),
  ),
  pins: z.record(z.string(), pin),
  calls: z.record(z.string(), call),
  /** The agents of calls without a known outcome, by call. */
  open: z.record(z.string(), z.string()),
  /** Amount by `limit|window|agent|tool|call`. */
  used: z.record(z.string(), z.int().min(0)),
  /** Time by `agent|path`. */
  read: z.record(z.string(), instant),
  standing: z.record(z.string(), standing),
  /** Amounts and `#uses` by `standing|call`. */
  spent: z.record(z.string(), z.record(z.string(), z.int().min(0))),
  sessions: z.record(z.string(), session),
  /** The runs that hold places, by their session. Optional: version 1 of the domain has none. */
  turns: z.record(z.string(), turn).optional(),
});

export type GatewayState = z.infer<typeof gatewayState>;
export type Turn = z.infer<typeof turn>;
export type CallRow = z.infer<typeof call>;
export type Session = z.infer<typeof session>;
export type StandingApproval = z.infer<typeof standing>;
