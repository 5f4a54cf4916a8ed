import type { WritChain } from 'assize/host';
import type { PrincipalKind, ResolvedGrant } from 'assize/internal/config';
import { isSamePrincipal } from 'assize/internal/kernel';

/** The authenticated principal of a request. */
export interface Caller {
  /** The name in the ledger, such as `agent:scout` or `manager:grace`. */
  readonly name: string;
  readonly kinds: readonly PrincipalKind[];
  readonly grants: readonly ResolvedGrant[];
  /** The method of authentication, as approvals record it: `token`, `session`, `oidc`, `jwt`. */
  readonly method: string;
  /** The other principals that made the token of the request. All count as one person. */
  readonly tokenBy?: readonly string[];
  /** The agent whose limits count the caller's work. Absent: the caller. */
  readonly account?: string;
  /** The writ that the token is limited to. Absent: the grants. */
  readonly writ?: WritChain;
  /** The session of a browser. Its requests must come from the pages of the server. */
  readonly sessionId?: string;
}

export function isOfKind(caller: Caller, kinds: readonly PrincipalKind[]): boolean {
  return kinds.some((kind) => caller.kinds.includes(kind));
}

/** The caller or the maker of its token, if one of the names is that principal's. */
export function sameAsOneOf(
  { name, tokenBy = [] }: Caller,
  names: readonly string[],
): string | undefined {
  return [name, ...tokenBy].find((one) => names.some((other) => isSamePrincipal(one, other)));
}
