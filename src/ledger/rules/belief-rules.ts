import type { Delta, Instant } from '../entry/entry.ts';
import type { BeliefChange, Inheritance } from '../entry/fact-rows.ts';

/**
 * The violation in a commit's changes of facts, beyond their form, or undefined. The check covers
 * one entry. The store's append and every rebuild check the rules between entries: versions without
 * gaps, growing system times, and closed rows that were open. Those entries belong to many
 * trajectories.
 */
export function beliefsFault(beliefs: Delta['beliefs'], at: Instant): string | undefined {
  if (beliefs.length === 0) return undefined;
  const partitions = new Set<string>();
  for (const change of beliefs) {
    const { $blob: hash } = change.partition;
    if (partitions.has(hash)) return `it changes the partition ${hash} twice`;
    partitions.add(hash);
    const fault = changeFault(change, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function changeFault({ version, system_time, close, insert, inherit }: BeliefChange, at: Instant): string | undefined {
  if (system_time < at) return `beliefs change at ${system_time}, before it`;
  const closed = new Set<string>();
  for (const { fact_id, system_time_start } of close) {
    if (system_time_start >= system_time) return `it closes ${fact_id}, which did not begin before`;
    const key = `${system_time_start} ${fact_id}`;
    if (closed.has(key)) return `it closes ${fact_id} twice`;
    closed.add(key);
  }
  const inserted = new Set<string>();
  for (const { fact_id, row_kind } of insert) {
    if (inserted.has(fact_id)) return `it has two rows of ${fact_id}`;
    inserted.add(fact_id);
    if (row_kind === 'audit' && !fact_id.startsWith('audit::')) return `${fact_id} is no id of an audit row`;
  }
  if (inherit === undefined) return undefined;
  if (inherit.until >= system_time) return `it inherits what was believed at ${inherit.until}, and not before it`;
  return inheritanceFault(inherit, version, closed);
}

/** `closed`: the rows that the change closes. Only inherited rows can be closed. */
function inheritanceFault(
  { until, rows }: Inheritance,
  version: number,
  closed: ReadonlySet<string>,
): string | undefined {
  const inherited = new Set<string>();
  let last = 0;
  for (const { fact_id, system_time_start, seq } of rows) {
    if (system_time_start > until) return `it inherits ${fact_id}, which began after ${until}`;
    const key = `${system_time_start} ${fact_id}`;
    if (inherited.has(key)) return `it inherits ${fact_id} twice`;
    inherited.add(key);
    last = Math.max(last, seq);
  }
  if (version !== last + 1) return `it is version ${version}, and what it inherits goes to ${last}`;
  for (const key of closed) if (!inherited.has(key)) return 'it closes what it does not inherit';
  return undefined;
}
