import { arg, checkArgument, type Json } from '#base';
import { composedJson, copyJson, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import { requireOwnDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { compileScope, type Pattern } from '../domain/footprint.ts';
import type { RoleParams } from '../domain/role.ts';
import { stateFault } from '../domain/schema.ts';
import { hasErased } from '../domain/sensitive.ts';
import { KernelError } from '../errors.ts';
import { Draft, type Ownership } from '../state/draft.ts';
import { sliceOf } from '../state/slice.ts';
import type { Container } from '../state/view.ts';
import type { Finding, RuleResult } from './finding.ts';
import { detectionVector, readBy } from './full-check.ts';
import { IncrementalCheck } from './incremental-check.ts';

/** A state and the results of its rules. Changed only by keeping a candidate. */
export class World {
  readonly domain: Domain;
  /** The part of the state that may be changed in place. Undefined: all of it. */
  readonly owned: Ownership;
  readonly checks: IncrementalCheck;
  /** Whether every proposal is checked naively. */
  readonly strict: boolean;
  #state: Container;

  /**
   * Checks every rule once. Then `failing` holds the rules that do not pass. `strict`: every
   * proposal is checked naively, by every rule on the whole state. The result is equal, and slow.
   *
   * @throws DuplicatePackageError `duplicate_package`
   */
  constructor(
    domain: Domain,
    state: Container,
    owned?: WeakSet<object>,
    options: { readonly strict?: boolean } = {},
  ) {
    requireOwnDomain(domain);
    this.domain = domain;
    this.owned = owned;
    this.#state = state;
    this.strict = options.strict === true;
    this.checks = new IncrementalCheck(domain, this.strict);
    this.checks.restart(state);
  }

  get state(): Container {
    return this.#state;
  }

  get failing(): readonly Finding[] {
    return [...this.checks.failing.values()];
  }

  /** Whether the rule read an erased value: with the value it may have passed. */
  isExcused(finding: Finding): boolean {
    return this.isErasedIn(readBy(finding));
  }

  /** Whether an erased value is in these read places. */
  isErasedIn(read: readonly Pattern[]): boolean {
    return (
      this.domain.sensitive !== undefined && hasErased(sliceOf(this.#state, compileScope(read)))
    );
  }

  /**
   * Excuses rules that do not pass because of erased values, until a proposal touches them. An
   * erasure is adjudicated in its own trajectory, and not in a branch or child that has a value
   * from there.
   */
  excuse(): void {
    this.checks.excuse((finding) => this.isExcused(finding));
  }

  /** Makes the draft's changes the current state. */
  adopt(draft: Draft): void {
    this.#state = draft.state;
  }

  /**
   * Continues with a state that these changes produced from the previous one, regardless of the
   * rules' results. See `Standing.follow`.
   */
  follow(state: Container, changes: readonly Pick<Change, 'keys'>[]): RuleResult[] {
    this.#state = state;
    return this.checks.follow(state, changes);
  }

  /** A draft on a state, in which domain code writes texts as the domain takes them. */
  draft(state: Container = this.#state): Draft {
    return new Draft(state, this.owned, this.domain.texts);
  }

  /** Undoes a draft. Its copies of a shared state stay, so each is copied only once. */
  rollback(draft: Draft): void {
    draft.undo();
    this.adopt(draft);
  }

  /**
   * The slice of a role: the part of the state under its footprint, as an unchanging copy (Agentic
   * Redux, Definition A.7). An agent never receives more.
   *
   * @throws KernelError `invalid_domain` for an unknown role; ArgumentError `bad_argument`
   */
  slice(role: string, params: RoleParams): unknown {
    checkArgument(arg.text, role, 'role');
    checkArgument(arg.object, params, 'params');
    if (!Object.hasOwn(this.domain.roles, role)) {
      throw new KernelError(
        'invalid_domain',
        `The domain ${this.domain.name} has no role ${role}.`,
      );
    }
    return sliceOf(this.#state, compileScope(this.domain.footprint(role, params)));
  }

  /** Every rule's current result, in order. */
  vector(): ReturnType<typeof detectionVector> {
    return detectionVector(this.domain, this.#state);
  }
}

/**
 * The initial state that a caller gives a new root. Its texts are in composed form, unless the
 * domain takes them exactly.
 *
 * @throws the errors of `initialState`; CanonError `bad_input`
 */
export function givenState(domain: Domain, given?: unknown): Container {
  const state = initialState(domain, given);
  if (domain.texts === 'exact') return state;
  const composed = composedJson(state as Json);
  // The composed texts may have other lengths, so the schema decides again.
  return composed === state ? state : initialState(domain, composed);
}

/**
 * The initial state of a root. It fits the schema. The caller checks `failing` to see whether it
 * passes the invariants.
 *
 * @throws KernelError `invalid_state`; DuplicatePackageError `duplicate_package`
 */
export function initialState(domain: Domain, given?: unknown): Container {
  requireOwnDomain(domain);
  const state = given ?? domain.initial;
  if (state === undefined) {
    throw new KernelError(
      'invalid_state',
      `The domain ${domain.name} has no initial state. Pass one.`,
    );
  }
  const copy = copyJson(state, WORLD_LIMITS) as Container;
  const fault = stateFault(domain.state, copy);
  if (fault !== undefined) {
    throw new KernelError(
      'invalid_state',
      `The initial state does not fit the domain ${domain.name}: ${fault}.`,
    );
  }
  return copy;
}
