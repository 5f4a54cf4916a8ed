import { type ArgumentSchema, arg, checkArgument } from 'assize/internal/base';
import { type Instant, isInstant } from 'assize/internal/canon';
import type { LedgerStore, LogStore } from 'assize/internal/ledger';
import { ComplianceError } from './errors.ts';
import { type Evidence, type EvidenceOptions, gatherEvidence } from './evidence/gather.ts';
import { type CheckedCheckpoint, FAULTS_MAX, type IntegrityFault } from './evidence/integrity.ts';
import { frameworksNamed } from './frameworks/all.ts';
import type { Clause, Framework } from './frameworks/framework.ts';
import { type Finding, type Measure, type Status, tallyOf } from './measures/measure.ts';
import type { Proof } from './measures/proofs.ts';

export interface ReportOptions extends EvidenceOptions {
  /** The names of frameworks. Default: all. */
  readonly frameworks?: readonly string[];
}

export interface MeasureReport extends Finding {
  readonly id: string;
  readonly title: string;
  readonly proof: Proof;
}

export interface ClauseReport {
  readonly id: string;
  readonly title: string;
  readonly asks: string;
  /** `gap` if a measure has a gap; otherwise `shown` if one is shown. */
  readonly status: Status;
  readonly measures: readonly MeasureReport[];
}

export interface FrameworkReport {
  readonly id: string;
  readonly title: string;
  readonly clauses: readonly ClauseReport[];
}

/**
 * A report about a period of a ledger. Names, reasons and notes in it are text of the ledger, and a
 * model may control it: a reader escapes them.
 */
export interface ComplianceReport {
  readonly format: 'assize/report/v1';
  readonly note: string;
  readonly scope: {
    readonly since: Instant | null;
    readonly until: Instant | null;
    /** Null: all. */
    readonly trajectories: readonly string[] | null;
    /** The number of entries in the period and trajectories. Without one, nothing is shown. */
    readonly entries: number;
  };
  /** The log that the report is of. With the same size, period and checkpoint it is made again. */
  readonly log: {
    readonly size: number;
    readonly root: string;
    /** The time to which the report looks, from the entries. Null: there is no entry. */
    readonly as_of: Instant | null;
    readonly checkpoint: CheckedCheckpoint | null;
  };
  readonly valid: boolean;
  /** At most `FAULTS_MAX`. */
  readonly faults: readonly IntegrityFault[];
  readonly frameworks: readonly FrameworkReport[];
  /** The number of clauses with a gap. */
  readonly gaps: number;
}

export const NOTE =
  'This report lists evidence of one ledger. It is neither legal advice nor a certification. ' +
  'The paraphrases of clauses and the choice of measures are the reading of the Assize project.';

const OPTIONS: ArgumentSchema = arg.options<ReportOptions>({
  frameworks: arg.optional(arg.list(arg.text)),
  since: arg.optional(arg.text),
  until: arg.optional(arg.text),
  trajectories: arg.optional(arg.list(arg.text)),
  size: arg.optional(arg.number),
  checkpoint: arg.optional(arg.members({ signed: arg.text })),
  onProgress: arg.optional(arg.code),
});

/**
 * A report of the frameworks. Two reports of one store with the same options and size are equal,
 * however the log grows between them. A fault of the ledger is a gap of the report.
 *
 * @throws ComplianceError `not_found`, `bad_argument`; the errors of `openCheckpoint` for a wrong
 * key; ArgumentError `bad_argument`
 */
export async function makeReport(
  store: LedgerStore & LogStore,
  options: ReportOptions = {},
): Promise<ComplianceReport> {
  checkArgument(OPTIONS, options, 'options');
  const { frameworks: names = [], ...asked } = options;
  const frameworks = frameworksNamed(names);
  requirePeriod(asked);
  await requireTrajectories(store, asked.trajectories);
  const evidence = await gatherEvidence(store, asked);
  const reports = frameworks.map((framework) => ofFramework(framework, evidence));
  return {
    format: 'assize/report/v1',
    note: NOTE,
    scope: {
      since: asked.since ?? null,
      until: asked.until ?? null,
      trajectories:
        asked.trajectories === undefined ? null : [...new Set(asked.trajectories)].sort(),
      entries: entriesOf(evidence),
    },
    log: {
      ...{ size: evidence.size, root: evidence.root },
      ...{ as_of: evidence.asOf ?? null, checkpoint: evidence.checkpoint ?? null },
    },
    valid: evidence.faults.length === 0,
    faults: evidence.faults.slice(0, FAULTS_MAX),
    frameworks: reports,
    gaps: reports.flatMap(({ clauses }) => clauses).filter(({ status }) => status === 'gap').length,
  };
}

/** @throws ComplianceError `bad_argument`; ArgumentError `bad_argument` */
function requirePeriod({ since, until }: EvidenceOptions): void {
  for (const [name, at] of Object.entries({ since, until }))
    if (at !== undefined) checkArgument(arg.of('an instant', isInstant), at, `options.${name}`);
  if (since === undefined || until === undefined || since < until) return;
  throw new ComplianceError(
    'bad_argument',
    `The period begins at ${since} and ends at ${until}. Pass a begin before the end.`,
  );
}

/** @throws ComplianceError `not_found` */
async function requireTrajectories(
  store: LedgerStore,
  names: readonly string[] | undefined,
): Promise<void> {
  if (names === undefined) return;
  const known = new Set((await store.trajectories()).map(({ trajectory_id }) => trajectory_id));
  const unknown = names.find((name) => !known.has(name));
  if (unknown === undefined) return;
  throw new ComplianceError(
    'not_found',
    `The ledger has no trajectory ${JSON.stringify(unknown)}. List the names with assize log.`,
  );
}

function ofFramework({ id, title, clauses }: Framework, evidence: Evidence): FrameworkReport {
  return { id, title, clauses: clauses.map((clause) => ofClause(clause, evidence)) };
}

function ofClause({ id, title, asks, measures }: Clause, evidence: Evidence): ClauseReport {
  const found = measures.map((measure) => ofMeasure(measure, evidence));
  return { id, title, asks, status: statusOf(found), measures: found };
}

function ofMeasure({ id, title, proof, find }: Measure, evidence: Evidence): MeasureReport {
  const found = find(evidence);
  // A period without entries shows nothing, also of what holds for the whole log.
  if (found.status === 'shown' && entriesOf(evidence) === 0)
    return { id, title, proof, ...NOTHING };
  return { id, title, proof, ...found };
}

const NOTHING: Finding = Object.freeze({ status: 'none', figure: 'no entry' });

function entriesOf(evidence: Evidence): number {
  return tallyOf(evidence, 'entries').count;
}

function statusOf(found: readonly Finding[]): Status {
  const has = (status: Status): boolean => found.some((each) => each.status === status);
  return has('gap') ? 'gap' : has('shown') ? 'shown' : 'none';
}
