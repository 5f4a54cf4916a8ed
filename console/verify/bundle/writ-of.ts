import { isHash, isObject } from '../entries/basic-forms.ts';
import type { Payload } from '../entries/payloads.ts';

/**
 * The id of the writ of an entry: of a start it is the parent of the writ that the start passes
 * on.
 */
export function writNamedBy(payload: Payload): string | undefined {
  switch (payload.kind) {
    case 'commit':
    case 'rejection':
      return payload.writ_id;
    case 'pending_approval':
      return payload.proposal.writ_id;
    case 'delegation': {
      const parent =
        payload.concludes === undefined && isObject(payload.writ)
          ? payload.writ['parent']
          : undefined;
      return isHash(parent) ? parent : undefined;
    }
    default:
      return undefined;
  }
}
