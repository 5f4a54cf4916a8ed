import type { Name } from '#authority';
import { type Json, toError } from '#base';
import {
  badResolver,
  type Claim,
  canonicalNames,
  covers,
  EffectError,
  kindOf,
  namesGiven,
  type Resolver,
  type Resolvers,
  type ResolversByKind,
  readResolvers,
  resolversOf,
  type Tool,
  uniqueClaims,
} from '#effects';
import { TimeLimit } from '../limits/time-limit.ts';

/**
 * Resolves scopes to canonical names. Claims are compared, logged and authorised by canonical names
 * only. Resolvers run each time, because a link can change its target. A scope that is not claimed
 * under its current name is not accessed. Names are resolved again after each wait and before the
 * commit; later changes are the tool's responsibility.
 */
export class CanonicalNames {
  readonly #resolvers: ResolversByKind;
  readonly #callTimeoutMs: number;

  /** `callTimeoutMs`: maximum duration of a resolver call. @throws EffectError `bad_resolver` */
  constructor(resolvers: Resolvers | undefined, callTimeoutMs: number) {
    this.#resolvers = readResolvers(resolvers);
    this.#callTimeoutMs = callTimeoutMs;
  }

  /**
   * The claims under their canonical names. Without resolvers, returns them unchanged. @throws
   * EffectError `bad_resolver`
   */
  resolve(
    claims: readonly Claim[],
    signal?: AbortSignal,
  ): Promise<readonly Claim[]> | readonly Claim[] {
    const isAsked =
      this.hasResolvers &&
      claims.some(({ scope }) => resolversOf(scope, this.#resolvers) !== undefined);
    return isAsked ? this.#resolved(claims, signal) : claims;
  }

  async #resolved(
    claims: readonly Claim[],
    signal: AbortSignal | undefined,
  ): Promise<readonly Claim[]> {
    const found = await Promise.all(claims.map((claim) => this.#namesOf(claim, signal)));
    return uniqueClaims(found.flat());
  }

  /** Whether any resolver is configured. */
  get hasResolvers(): boolean {
    return this.#resolvers.size > 0;
  }

  /**
   * Checks that a call still has the scopes that were authorised. An older transaction, or a
   * process outside Assize, may have changed the targets of its names.
   *
   * @throws EffectError `stale`, `bad_resolver`
   */
  async requireUnchanged(
    tool: Tool,
    input: Json,
    then: readonly Claim[],
    signal?: AbortSignal,
  ): Promise<void> {
    if (!this.hasResolvers) return;
    const other = (await this.resolve(tool.claims(input), signal)).find(
      (claim) => !covers(then, claim),
    );
    if (other === undefined) return;
    throw new EffectError(
      'stale',
      `${tool.name} would now ${other.access} ${other.scope.text}, because its scopes resolve to other names since the call. Start the transaction again.`,
      {
        evidence: { tool: tool.name, scope: other.scope.text, access: other.access },
        retryable: true,
      },
    );
  }

  async #namesOf(claim: Claim, signal: AbortSignal | undefined): Promise<readonly Claim[]> {
    const { scope, access } = claim;
    if (resolversOf(scope, this.#resolvers) === undefined) return [claim];
    const names = await canonicalNames(scope, (name) => this.#given(name, claim, signal));
    return names.map((name) => Object.freeze({ scope: name, access }));
  }

  async #given(
    scope: Name,
    { access }: Claim,
    signal: AbortSignal | undefined,
  ): Promise<readonly Name[]> {
    let names: readonly Name[] = [scope];
    for (const resolver of resolversOf(scope, this.#resolvers) ?? []) {
      const given = names.map(async (name) =>
        kindOf(name) === kindOf(scope) ? this.#ask(resolver, name, access, signal) : [name],
      );
      names = (await Promise.all(given)).flat();
    }
    return names;
  }

  async #ask(
    resolver: Resolver,
    { text, concrete }: Name,
    access: Claim['access'],
    signal: AbortSignal | undefined,
  ): Promise<readonly Name[]> {
    const limit = new TimeLimit(this.#callTimeoutMs, signal);
    let given: unknown;
    try {
      given = await limit.run(
        () => resolver(text, { access, isPattern: !concrete, signal: limit.signal }),
        () => new Error(`the resolver did not answer within ${this.#callTimeoutMs} ms`),
      );
    } catch (thrown) {
      const cause = toError(thrown);
      const why =
        cause instanceof Error
          ? cause.message.replace(/\.$/, '')
          : 'it threw a value that is not an error';
      throw badResolver(`${text} could not be resolved: ${why}`, {
        scope: text,
        cause,
        retryable: true,
      });
    } finally {
      limit.end();
    }
    return namesGiven(text, given);
  }
}
