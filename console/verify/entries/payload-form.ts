import { isObject } from './basic-forms.ts';
import type { Payload } from './payloads.ts';
import { formOf } from './record-forms.ts';

const KINDS = [
  'root',
  'branch',
  'commit',
  'rejection',
  'pending_approval',
  'delegation',
  'key_change',
];

/** Whether a value is a payload (ledger reference, section 3). '' or the reason, as a predicate. */
export function wrongPayload(value: unknown): string {
  const kind = isObject(value) ? value['kind'] : undefined;
  if (typeof kind !== 'string' || !KINDS.includes(kind)) return 'has none of the seven kinds';
  return formOf(kind)(value) || wrongRow(value as Payload);
}

/** The conditions on rows of beliefs that no table states. */
function wrongRow(payload: Payload): string {
  if (payload.kind !== 'commit') return '';
  for (const change of payload.delta.beliefs)
    for (const row of [...change.insert, ...(change.inherit?.rows ?? [])]) {
      if (row.valid_from >= row.valid_to)
        return `has the row ${row.fact_id}, and that is valid at no time`;
      if ((row.resolution_id === null) !== (row.row_kind === 'current'))
        return `has the row ${row.fact_id}, whose resolution does not fit its kind`;
      if (row.asserted_seq > (row.seq ?? change.version))
        return `has the row ${row.fact_id}, and that was asserted after it was written`;
    }
  return '';
}
