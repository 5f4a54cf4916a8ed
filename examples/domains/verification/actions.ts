/**
 * The actions of the agents. An action records its arguments, and the invariants decide whether the
 * record is allowed. The action itself refuses only records without meaning: an unknown finding, or
 * a duplicate row.
 */
import type { Action } from 'assize/internal/kernel';
import { z } from 'zod';
import { EXPERT } from './experts.ts';
import { newFinding } from './initial.ts';
import { evidenceAt } from './record.ts';
import type { ProcessName } from './roles.ts';
import {
  type Evidence,
  type Finding,
  id,
  kind,
  type Level,
  level,
  sha256,
  type VerificationState,
} from './schema.ts';

// A type and not an interface: `defineDomain` asks for an index signature, and only types get one
// implicitly.
export type VerificationActions = {
  open_finding: Record<never, never>;
  submit: { submission: string; component: string; title: string; fingerprint: string };
  attach_evidence: { hash: string; kind: Evidence['kind'] };
  withdraw_evidence: { hash: string };
  reproduce: { attempt: string; environment: string; reproduced: boolean; evidence?: string };
  rate: { rating: string; level: Level; rationale: string };
  assign: { assignment: string; expert: string };
  release: { assignment: string };
  judge: { verdict: string; genuine: boolean; reason: string; rating?: string };
  report: { report: string; verdict: string };
  retract: { report: string; reason: string };
};

interface VerificationAction<Name extends ProcessName, Args, Params = OfFinding>
  extends Action<VerificationState, Args, Params> {
  readonly process: Name;
  /** The arguments are recorded unchanged: nothing is filled in. */
  readonly args: z.ZodType<Args, Args>;
}

/** Every role is confined to one finding. */
type OfFinding = { readonly finding: string };
type OfAnalyser = OfFinding & { readonly analyser: string };

const text = z.string().min(1);

const openFinding: VerificationAction<'opening', VerificationActions['open_finding']> = {
  process: 'opening',
  description: 'Open the empty record of a finding.',
  args: z.object({}),
  apply: ({ findings }, _, { role: { finding } }) => {
    if (findings[finding] !== undefined)
      throw new Error(`the finding ${finding} has a record already`);
    findings[finding] = newFinding();
  },
};

const submit: VerificationAction<'submitting', VerificationActions['submit'], OfAnalyser> = {
  process: 'submitting',
  description: 'Submit a candidate, or a second discovery of the same finding.',
  args: z.object({ submission: id, component: text, title: text, fingerprint: sha256 }),
  apply: (state, { submission, ...row }, { role: { finding, analyser }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.submissions, submission, {
      ...row,
      submitter: analyser,
      at,
      n: nextEvent(record),
    });
    if (record.identity[row.fingerprint] === undefined)
      record.identity[row.fingerprint] = row.component;
  },
};

const attachEvidence: VerificationAction<
  'attaching',
  VerificationActions['attach_evidence'],
  OfAnalyser
> = {
  process: 'attaching',
  description: 'Attach evidence by its hash. A verdict without it is no longer valid.',
  args: z.object({ hash: sha256, kind }),
  apply: (state, { hash, kind }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.evidence, hash, { kind, at, n: nextEvent(record) });
  },
};

const withdrawEvidence: VerificationAction<
  'attaching',
  VerificationActions['withdraw_evidence'],
  OfAnalyser
> = {
  process: 'attaching',
  description: 'Retract evidence. A verdict with it is no longer valid.',
  args: z.object({ hash: sha256 }),
  apply: (state, { hash }, { role: { finding } }) => {
    const record = recordOf(state, finding);
    const row = rowOf(record.evidence, hash, 'evidence');
    if (row.withdrawn !== undefined) throw new Error(`the evidence ${hash} is retracted already`);
    row.withdrawn = nextEvent(record);
  },
};

const reproduce: VerificationAction<'reproducing', VerificationActions['reproduce']> = {
  process: 'reproducing',
  description: 'Record an attempt to reproduce the finding, and the evidence that shows it.',
  args: z.object({
    attempt: id,
    environment: text,
    reproduced: z.boolean(),
    evidence: sha256.exactOptional(),
  }),
  apply: (state, { attempt, ...row }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.attempts, attempt, { ...row, at, n: nextEvent(record) });
  },
};

const rate: VerificationAction<'rating', VerificationActions['rate']> = {
  process: 'rating',
  description: 'Propose a severity and its reason. The expert agrees with one of the ratings.',
  args: z.object({ rating: id, level, rationale: text }),
  apply: (state, { rating, ...row }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.ratings, rating, { ...row, at, n: nextEvent(record) });
  },
};

const assign: VerificationAction<'assigning', VerificationActions['assign']> = {
  process: 'assigning',
  description: 'Put the finding into the queue of an expert.',
  args: z.object({ assignment: id, expert: id }),
  apply: (state, { assignment, expert }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.assignments, assignment, { expert, at, n: nextEvent(record) });
  },
};

const release: VerificationAction<'assigning', VerificationActions['release']> = {
  process: 'assigning',
  description: 'Remove the finding from the queue of its expert, who has finished or was relieved.',
  args: z.object({ assignment: id }),
  apply: (state, { assignment }, { role: { finding } }) => {
    const record = recordOf(state, finding);
    const row = rowOf(record.assignments, assignment, 'assignment');
    if (row.released !== undefined) throw new Error(`${assignment} is released already`);
    row.released = nextEvent(record);
  },
};

const judge: VerificationAction<'judging', VerificationActions['judge']> = {
  process: 'judging',
  description: 'Submit a proposed verdict to the expert. The expert decides.',
  args: z.object({ verdict: id, genuine: z.boolean(), reason: text, rating: id.exactOptional() }),
  channel: EXPERT,
  apply: (state, { verdict, ...row }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    const n = nextEvent(record);
    addRow(record.verdicts, verdict, {
      ...row,
      evidence: [...evidenceAt(record.evidence, n)],
      at,
      n,
    });
  },
};

const report: VerificationAction<'reporting', VerificationActions['report']> = {
  process: 'reporting',
  description: 'Report a verified finding to the disclosure team.',
  args: z.object({ report: id, verdict: id }),
  apply: (state, { report, verdict }, { role: { finding }, at }) => {
    const record = recordOf(state, finding);
    addRow(record.reports, report, { verdict, at, n: nextEvent(record) });
  },
};

const retract: VerificationAction<'reporting', VerificationActions['retract']> = {
  process: 'reporting',
  description: 'Retract a report whose verdict is no longer valid.',
  args: z.object({ report: id, reason: text }),
  apply: (state, { report, reason }, { role: { finding } }) => {
    const record = recordOf(state, finding);
    const row = rowOf(record.reports, report, 'report');
    if (row.retracted !== undefined) throw new Error(`the report ${report} is retracted already`);
    row.retracted = { reason, n: nextEvent(record) };
  },
};

export const actions = {
  open_finding: openFinding,
  submit,
  attach_evidence: attachEvidence,
  withdraw_evidence: withdrawEvidence,
  reproduce,
  rate,
  assign,
  release,
  judge,
  report,
  retract,
} satisfies {
  readonly [Name in keyof VerificationActions]: VerificationAction<
    ProcessName,
    VerificationActions[Name],
    any
  >;
};

function recordOf({ findings }: VerificationState, finding: string): Finding {
  const record = findings[finding];
  if (record === undefined) throw new Error(`the finding ${finding} has no record; open one`);
  return record;
}

function nextEvent(record: Pick<Finding, 'events'>): number {
  record.events += 1;
  return record.events;
}

function addRow<Row>(rows: Record<string, Row>, key: string, row: Row): void {
  if (rows[key] !== undefined) throw new Error(`there is ${key} already`);
  rows[key] = row;
}

function rowOf<Row>(rows: Record<string, Row>, key: string, what: string): Row {
  const row = rows[key];
  if (row === undefined) throw new Error(`there is no ${what} ${key}`);
  return row;
}
