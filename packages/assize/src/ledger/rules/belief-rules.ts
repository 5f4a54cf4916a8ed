import type { Delta, Instant } from '../entry/entry.ts';
import type { BeliefChange, Inheritance } from '../entry/fact-rows.ts';
import type { BrokenRule } from '../rule-ids.ts';

/**
 * The rule that a commit's changes of facts break, beyond their form, or undefined. The check
 * covers one entry. The store's append and every rebuild check the rules between entries: versions
 * without gaps, growing system times, and closed rows that were open. Those entries belong to many
 * trajectories.
 */
export function beliefsFault(beliefs: Delta['beliefs'], at: Instant): BrokenRule | undefined {
  if (beliefs.length === 0) return undefined;
  const twice = partitionFault(beliefs);
  if (twice !== undefined) return { rule: 'beliefs.partition', detail: twice };
  for (const change of beliefs) {
    const fault = changeFault(change, at);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function partitionFault(beliefs: Delta['beliefs']): string | undefined {
  const partitions = new Set<string>();
  for (const { partition } of beliefs) {
    if (partitions.has(partition.$blob)) return `it changes the partition ${partition.$blob} twice`;
    partitions.add(partition.$blob);
  }
  return undefined;
}

function changeFault(change: BeliefChange, at: Instant): BrokenRule | undefined {
  const { version, system_time, close, insert, inherit } = change;
  if (system_time < at)
    return {
      rule: 'beliefs.time',
      detail: `it changes facts at ${system_time}, before its own time`,
    };

  const closed = new Set<string>();
  const wrongClose = closeFault(close, system_time, closed);
  if (wrongClose !== undefined) return { rule: 'beliefs.close', detail: wrongClose };

  const wrongInsert = insertFault(insert);
  if (wrongInsert !== undefined) return { rule: 'beliefs.insert', detail: wrongInsert };

  if (inherit === undefined) return undefined;
  const wrongInherit =
    inherit.until >= system_time
      ? `it inherits the facts as of ${inherit.until}, which is not before its system time`
      : inheritanceFault(inherit, version, closed);
  return wrongInherit === undefined ? undefined : { rule: 'beliefs.inherit', detail: wrongInherit };
}

/** Adds the keys of the closed rows to `closed`. */
function closeFault(
  close: BeliefChange['close'],
  systemTime: Instant,
  closed: Set<string>,
): string | undefined {
  for (const { fact_id, system_time_start } of close) {
    if (system_time_start >= systemTime)
      return `it closes ${fact_id}, which does not start earlier`;
    const key = `${system_time_start} ${fact_id}`;
    if (closed.has(key)) return `it closes ${fact_id} twice`;
    closed.add(key);
  }
  return undefined;
}

function insertFault(insert: BeliefChange['insert']): string | undefined {
  const inserted = new Set<string>();
  for (const { fact_id, row_kind } of insert) {
    if (inserted.has(fact_id)) return `it has two rows of ${fact_id}`;
    inserted.add(fact_id);
    if (row_kind === 'audit' && !fact_id.startsWith('audit::'))
      return `${fact_id} is not the id of an audit row`;
  }
  return undefined;
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
  if (version !== last + 1)
    return `it is version ${version}, but its inherited facts end at version ${last}`;
  for (const key of closed)
    if (!inherited.has(key)) return 'it closes a row that it does not inherit';
  return undefined;
}
