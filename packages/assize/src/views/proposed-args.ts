import type { Json } from '#base';
import { canonicalize, WORLD_LIMITS } from '#canon';
import { isBlobRef, type Payload, type Stored } from '#ledger';

/** Maximum number of characters of shown arguments. */
const SHOWN_MAX = 80;
/** The detail of a summary has the arguments of built-in actions. */
const BUILT_IN = 'assize.';

/** The start of arguments as canonical text, with a mark where it is cut. */
export function argsText(args: Json): string {
  const text = canonicalize(args, WORLD_LIMITS);
  return text.length <= SHOWN_MAX ? text : `${wholeCharacters(text.slice(0, SHOWN_MAX))}…`;
}

/** The text without the first half of a cut character. */
function wholeCharacters(text: string): string {
  return text.isWellFormed() ? text : text.slice(0, -1);
}

/**
 * The proposed action of an entry. Undefined for an entry without one, for a built-in action, and
 * for large and sensitive arguments, because they are stored apart.
 */
export function proposedIn(
  payload: Payload,
): { readonly name: string; readonly args: Json } | undefined {
  const { name, args } = actionIn(payload) ?? {};
  if (name === undefined || name.startsWith(BUILT_IN) || isBlobRef(args)) return undefined;
  return { name, args: args as Json };
}

function actionIn(payload: Payload): { readonly name: string; readonly args: Stored } | undefined {
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
