import type { Delta, Instant } from './entry.ts';
import type { BeliefChange } from './facts.ts';

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

function changeFault({ system_time, close, insert }: BeliefChange, at: Instant): string | undefined {
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
  return undefined;
}
