import type { Delta, Instant } from '../entry/entry.ts';
import type { BeliefChange, Inheritance } from '../entry/fact-rows.ts';

/**
 * What is wrong with what a commit says of beliefs, beside its form; undefined where nothing is. Only of one entry: that versions of a
 * partition have no gap, that its system times grow, and that what is closed was open, is known to who has all of its changes.
 * Those are of many trajectories, and so it is the store's append that judges them, and who fills a store anew.
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

/** `closed`: what its change closes, which can only be what it begins with. */
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
