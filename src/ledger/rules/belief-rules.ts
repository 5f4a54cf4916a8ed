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
  if (system_time < at) return `it changes facts at ${system_time}, before its own time`;
  const closed = new Set<string>();
  for (const { fact_id, system_time_start } of close) {
    if (system_time_start >= system_time) return `it closes ${fact_id}, which does not start earlier`;
    const key = `${system_time_start} ${fact_id}`;
    if (closed.has(key)) return `it closes ${fact_id} twice`;
    closed.add(key);
  }
  const inserted = new Set<string>();
  for (const { fact_id, row_kind } of insert) {
    if (inserted.has(fact_id)) return `it has two rows of ${fact_id}`;
    inserted.add(fact_id);
    if (row_kind === 'audit' && !fact_id.startsWith('audit::')) return `${fact_id} is not the id of an audit row`;
  }
  if (inherit === undefined) return undefined;
  if (inherit.until >= system_time)
    return `it inherits the facts as of ${inherit.until}, which is not before its system time`;
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
    if (system_time_start > until) return `it inherits ${fact_id}, which starts after ${until}`;
    const key = `${system_time_start} ${fact_id}`;
    if (inherited.has(key)) return `it inherits ${fact_id} twice`;
    inherited.add(key);
    last = Math.max(last, seq);
  }
  if (version !== last + 1) return `it is version ${version}, but its inherited facts end at version ${last}`;
  for (const key of closed) if (!inherited.has(key)) return 'it closes a row that it does not inherit';
  return undefined;
}
