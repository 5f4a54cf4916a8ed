import { canonicalize, WORLD_LIMITS } from '#canon';
import { isBlobRef, type Payload, type Stored } from '#ledger';

/** Maximum number of characters of shown arguments. */
const SHOWN_MAX = 80;
/** The detail of a summary has the arguments of built-in actions. */
const BUILT_IN = 'assize.';

/**
 * The start of the proposed arguments as canonical text, with a mark where it is cut. Undefined for
 * an entry without any, and for large and sensitive values, which are stored apart.
 */
export function proposedArgs(payload: Payload): string | undefined {
  const action = proposedIn(payload);
  if (action === undefined || action.name.startsWith(BUILT_IN) || isBlobRef(action.args))
    return undefined;
  const text = canonicalize(action.args, WORLD_LIMITS);
  return text.length <= SHOWN_MAX ? text : `${wholeCharacters(text.slice(0, SHOWN_MAX))}…`;
}

/** The text without the first half of a cut character. */
function wholeCharacters(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1);
}

function proposedIn(
  payload: Payload,
): { readonly name: string; readonly args: Stored } | undefined {
  switch (payload.kind) {
    case 'commit':
      return payload.action;
    case 'rejection':
      return { name: payload.intent.action, args: payload.intent.args };
    case 'pending_approval':
      return payload.proposal.action;
    default:
      return undefined;
  }
}
