import { type Name, readScope } from '#authority';

/** The access to a resource. Reads conflict with writes, and writes with both. */
export type Access = 'read' | 'write';

/** A resource, or a pattern of resources, and the access to it. */
export interface Claim {
  readonly scope: Name;
  readonly access: Access;
}

/** @throws AuthorityError `bad_argument` */
export function readClaim(access: Access, scope: string): Claim {
  return Object.freeze({ scope: readScope(scope), access });
}

/**
 * Whether two scopes can name the same resource, or one resource inside the other. `fs:/repo`
 * overlaps `fs:/repo/src/**` and `fs:/repo/a`, because moving a folder moves its content. `*`
 * stands for one whole segment.
 */
export function scopesOverlap(left: Name, right: Name): boolean {
  const shared = Math.min(left.tokens.length, right.tokens.length);
  for (let i = 0; i < shared; i++)
    if (!tokensOverlap(left.tokens[i]!, right.tokens[i]!)) return false;
  return goesOn(left, right.tokens[shared]) && goesOn(right, left.tokens[shared]);
}

export function conflicts(left: Claim, right: Claim): boolean {
  return (
    (left.access === 'write' || right.access === 'write') && scopesOverlap(left.scope, right.scope)
  );
}

/**
 * Whether a claim lies inside the claimed scopes. Write access includes read access. For many
 * claims, use `ClaimSet`.
 */
export function covers(claimed: Iterable<Claim>, { scope, access }: Claim): boolean {
  for (const claim of claimed)
    if ((claim.access === 'write' || access === 'read') && scopeContains(claim.scope, scope))
      return true;
  return false;
}

/** Same as `contains` for texts, without the lookup or the parsing of many texts. */
function scopeContains(wider: Name, narrower: Name): boolean {
  // Most claims equal the accessed scope.
  if (wider.text === narrower.text) return true;
  const { tokens } = wider;
  const given = narrower.tokens;
  if (given.length < tokens.length) return false;
  for (let i = 0; i < tokens.length; i++) if (!tokenContains(tokens[i]!, given[i]!)) return false;
  return continues(wider.rest, given[tokens.length] ?? narrower.rest);
}

/** Whether a scope with this end contains a continuation: a segment, or another end. */
export function continues(rest: Name['rest'], next: string): boolean {
  if (rest === '') return next === '';
  return rest === ':**' ? next !== '' : next[0] === '/';
}

/** Whether an ended scope can include that token. `/**` includes only tokens of the path. */
function goesOn({ rest }: Name, token: string | undefined): boolean {
  return token === undefined || rest !== '/**' || isOfPath(token);
}

function tokensOverlap(a: string, b: string): boolean {
  return a === b || (isStar(a) && a[0] === b[0]) || (isStar(b) && a[0] === b[0]);
}

function tokenContains(wider: string, narrower: string): boolean {
  return wider === narrower || (isStar(wider) && wider[0] === narrower[0]);
}

export function isStar(token: string): boolean {
  return token.length === 2 && token[1] === '*';
}

export function isOfPath(token: string): boolean {
  return token[0] === '/';
}
