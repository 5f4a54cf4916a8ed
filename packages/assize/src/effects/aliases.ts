import { type Name, readScope } from '#authority';
import { EffectError } from './errors.ts';
import type { Access, Claim } from './scopes.ts';

/** The context that a resolver receives with the scope. */
export interface ResolverContext {
  readonly access: Access;
  /**
   * Whether the scope contains stars. The returned names must then cover every resource that the
   * pattern covers.
   */
  readonly isPattern: boolean;
  /** Aborted when no caller waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Returns the canonical names of a scope. All names of one resource have the same canonical names,
 * and a scope without aliases returns itself. Several names are returned if the access also touches
 * other resources: an order that takes goods from stock is one example. A canonical name returns
 * itself, possibly with others. If the resolver throws, the transaction cannot access the scope.
 */
export type Resolver = (
  scope: string,
  asked: ResolverContext,
) => string | readonly string[] | Promise<string | readonly string[]>;

/**
 * Resolvers by the kind of scope: the first segment (`fs`, `api`, `db`, `email`). Several resolvers
 * of one kind form a pipeline: each receives the names of that kind from the previous one.
 */
export type Resolvers = Readonly<Record<string, Resolver | readonly Resolver[]>>;

/** Validated resolvers, by kind. */
export type ResolversByKind = ReadonlyMap<string, readonly Resolver[]>;

/** Maximum number of names that a scope can resolve to, including names of names. */
export const NAMES_MAX = 64;

const KIND = /^[a-z0-9+._-]+$/;

/** @throws EffectError `bad_resolver` */
export function readResolvers(given: Resolvers = {}): ResolversByKind {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw badResolver('effects.resolvers must be an object with a function for each kind of scope');
  const read = new Map<string, readonly Resolver[]>();
  for (const [kind, resolvers] of Object.entries(given)) {
    if (!KIND.test(kind))
      throw badResolver(
        `${JSON.stringify(kind)} is not a kind of scope; use a kind such as fs, api or db`,
      );
    const list: readonly unknown[] = Array.isArray(resolvers) ? resolvers : [resolvers];
    if (list.length === 0 || list.some((each) => typeof each !== 'function'))
      throw badResolver(`the resolver of ${kind} must be a function or a list of functions`);
    read.set(kind, list as readonly Resolver[]);
  }
  return read;
}

/**
 * The resolvers for a scope; undefined if there are none. A pattern over several kinds has no kind.
 */
export function resolversOf(
  scope: Name,
  resolvers: ResolversByKind,
): readonly Resolver[] | undefined {
  return resolvers.size === 0 ? undefined : resolvers.get(kindOf(scope));
}

/** The first segment. Empty if the segment is a path or is missing. */
export function kindOf({ tokens }: Name): string {
  const first = tokens[0] ?? '';
  return first.startsWith(':') ? first.slice(1) : '';
}

/** Parses the result of a resolver as scopes. @throws EffectError `bad_resolver` */
export function namesGiven(scope: string, given: unknown): readonly Name[] {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  if (list.length === 0)
    throw badResolver(
      `the resolver returned no name for ${scope}; return the scope itself if it has no other name`,
    );
  return list.map((text) => {
    try {
      return readScope(text as string);
    } catch (cause) {
      throw badResolver(
        `the resolver returned an invalid scope for ${scope}: ${(cause as Error).message}`,
        {
          scope,
          cause,
        },
      );
    }
  });
}

/**
 * All canonical names of a scope. `ask` returns the direct names of one scope, and the function
 * follows them. Every returned name must return itself, so the result for each name is a subset of
 * this result.
 *
 * @throws EffectError `bad_resolver`; the errors of `ask`
 */
export async function canonicalNames(
  scope: Name,
  ask: (scope: Name) => Promise<readonly Name[]>,
): Promise<readonly Name[]> {
  const names = new Map((await ask(scope)).map((name) => [name.text, name]));
  const isOwn = names.has(scope.text);
  // Iteration over a map includes entries added during the iteration.
  for (const name of names.values()) {
    if (names.size > NAMES_MAX)
      throw badResolver(`${scope.text} has more than ${NAMES_MAX} names`, { scope: scope.text });
    if (isOwn && name.text === scope.text) continue;
    const again = await ask(name);
    if (!again.some(({ text }) => text === name.text))
      throw badResolver(
        `${scope.text} resolves to ${name.text}, which resolves to ${again.map(({ text }) => text).join(', ')} instead of itself`,
        { scope: scope.text },
      );
    for (const more of again) if (!names.has(more.text)) names.set(more.text, more);
  }
  return [...names.values()];
}

/** The claims without duplicates. */
export function uniqueClaims(claims: readonly Claim[]): readonly Claim[] {
  const known = new Map(claims.map((claim) => [`${claim.access} ${claim.scope.text}`, claim]));
  return known.size === claims.length ? claims : [...known.values()];
}

export function badResolver(
  what: string,
  {
    scope,
    cause,
    retryable = false,
  }: { scope?: string; cause?: unknown; retryable?: boolean } = {},
): EffectError {
  return new EffectError('bad_resolver', `A scope cannot be resolved: ${what}.`, {
    ...(scope === undefined ? {} : { evidence: { scope } }),
    cause,
    retryable,
  });
}
