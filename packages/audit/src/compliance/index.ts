/**
 * compliance: reports of what a ledger shows for the clauses of laws and standards.
 *
 * Guarantees
 * - A report names the size and the root of the log that it is of. The same store, period,
 *   checkpoint and size give the same bytes: no clock is read.
 * - A duty that the ledger does not show is a gap, with a remedy. A number of no events shows
 *   nothing, and says so.
 * - Faults of the ledger are part of the report. Text of the ledger is escaped in each form.
 *
 * Never: says that a law or a standard is met, names a date on which one applies, or writes an
 * entry.
 */
export { ComplianceError } from './errors.ts';
export type { CheckedCheckpoint, GivenCheckpoint, IntegrityFault } from './evidence/integrity.ts';
export type { Example } from './evidence/tally.ts';
export { FRAMEWORKS } from './frameworks/all.ts';
export type { Clause, Framework } from './frameworks/framework.ts';
export type { Finding, Measure, Status } from './measures/measure.ts';
export type { Proof } from './measures/proofs.ts';
export { reportHtml } from './render/html.ts';
export { reportMarkdown } from './render/markdown.ts';
export { emptyText } from './render/words.ts';
export {
  type ClauseReport,
  type ComplianceReport,
  type FrameworkReport,
  type MeasureReport,
  makeReport,
  type ReportOptions,
} from './report.ts';
