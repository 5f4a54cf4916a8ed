import { isObject } from '../entries/basic-forms.ts';
import type { BeliefChange } from '../entries/payloads.ts';

/** The rules of section 5.10 for one commit: '' or the reason, as a sentence. */
export function wrongBeliefs(changes: readonly BeliefChange[], at: string): string {
  const partitions = changes.map(({ partition }) =>
    isObject(partition) ? partition['$blob'] : undefined,
  );
  if (hasRepeated(partitions)) return 'It changes a part of the memory twice.';
  for (const change of changes) {
    const wrong = wrongChange(change, at);
    if (wrong !== '') return wrong;
  }
  return '';
}

function wrongChange(
  { system_time: time, close, insert, inherit, version }: BeliefChange,
  at: string,
): string {
  if (time < at) return 'It changes beliefs before its own time.';
  const closed = close.map(({ fact_id: id, system_time_start: start }) => `${start} ${id}`);
  if (close.some(({ system_time_start: start }) => start >= time) || hasRepeated(closed))
    return 'It closes a belief twice, or before it began.';
  if (hasRepeated(insert.map(({ fact_id: id }) => id))) return 'It states a belief twice.';
  if (
    insert.some(({ fact_id: id, row_kind: kind }) => kind === 'audit' && !id.startsWith('audit::'))
  )
    return 'It has a lost belief with the id of a belief.';
  if (inherit === undefined) return '';
  const keys = inherit.rows.map(({ fact_id: id, system_time_start: start }) => `${start} ${id}`);
  const last = inherit.rows.reduce((greatest, { seq = 0 }) => Math.max(greatest, seq), 0);
  const isSound =
    inherit.until < time &&
    inherit.rows.every(({ system_time_start: start = '' }) => start <= inherit.until) &&
    !hasRepeated(keys) &&
    version === last + 1 &&
    closed.every((key) => keys.includes(key));
  return isSound ? '' : 'It inherits beliefs that do not fit together.';
}

function hasRepeated(values: readonly unknown[]): boolean {
  return new Set(values).size < values.length;
}
