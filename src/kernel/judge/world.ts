import { form, requireForm } from '#base';
import { copyJson, WORLD_LIMITS } from '#canon';
import type { Change } from '../domain/change.ts';
import { requireOwnDomain } from '../domain/define-domain.ts';
import type { Domain } from '../domain/domain.ts';
import { compileScope, type Pattern } from '../domain/footprint.ts';
import type { RoleParams } from '../domain/role.ts';
import { stateFault } from '../domain/schema.ts';
import { hasErased } from '../domain/sensitive.ts';
import { KernelError } from '../errors.ts';
import type { Draft, Ownership } from '../state/draft.ts';
import { sliceOf } from '../state/slice.ts';
import type { Container } from '../state/view.ts';
import type { Finding, Judged } from './finding.ts';
import { detectionVector, readBy } from './full-check.ts';
import { Standing } from './incremental-check.ts';

/** A state, and what is known of its rules. Changed only by keeping a candidate. */
export class World {
  readonly domain: Domain;
  /** What of the state may be changed in place; undefined: all. */
  readonly owned: Ownership;
  readonly standing: Standing;
  #state: Container;

  /**
   * Judges every rule once; `failing` then says what does not pass. `strict`: every proposal is judged naively, by every
   * rule on the whole state. That is equal, and slow.
   *
   * @throws CopyError `other_copy`
   */
  constructor(domain: Domain, state: Container, owned?: WeakSet<object>, options: { readonly strict?: boolean } = {}) {
    requireOwnDomain(domain);
    this.domain = domain;
    this.owned = owned;
    this.#state = state;
    this.standing = new Standing(domain, options.strict === true);
    this.standing.restart(state);
  }

  get state(): Container {
    return this.#state;
  }

  get failing(): readonly Finding[] {
    return [...this.standing.failing.values()];
  }

  /** Whether something that the rule read is erased: it may have passed with it. */
  isExcused(finding: Finding): boolean {
    return this.isErasedIn(readBy(finding));
  }

  /** Whether something is erased that is read by who reads these places. */
  isErasedIn(read: readonly Pattern[]): boolean {
    return this.domain.sensitive !== undefined && hasErased(sliceOf(this.#state, compileScope(read)));
  }

  /**
   * Holds nothing against proposals that need not pass, until they touch it: an erasure is ruled on where it is made, and not
   * where a branch or child has a value from there.
   */
  excuse(): void {
    this.standing.excuse((finding) => this.isExcused(finding));
  }

  /** Takes over what a draft has made of the state. */
  adopt(draft: Draft): void {
    this.#state = draft.state;
  }

  /** Takes over a state that these changes made of the one before, whatever the rules say of it; see `Standing.follow`. */
  follow(state: Container, changes: readonly Pick<Change, 'keys'>[]): Judged[] {
    this.#state = state;
    return this.standing.follow(state, changes);
  }

  /** Undoes a draft. What it had to copy of a shared state is kept, so that it is copied once and not again. */
  takeBack(draft: Draft): void {
    draft.undo();
    this.adopt(draft);
  }

  /**
   * The slice of a role: the part of the state under its footprint, as a copy that stays as it is
   * (seed 000, Definition A.7). All that an agent is ever given.
   *
   * @throws KernelError `invalid_domain` for a role that there is not; ArgumentError `bad_argument`
   */
  slice(role: string, params: RoleParams): unknown {
    requireForm(form.text, role, 'role');
    requireForm(form.object, params, 'params');
    if (!Object.hasOwn(this.domain.roles, role)) {
      throw new KernelError('invalid_domain', `The domain ${this.domain.name} has no role ${role}.`);
    }
    return sliceOf(this.#state, compileScope(this.domain.footprint(role, params)));
  }

  /** Every rule's result now, in order. */
  vector(): ReturnType<typeof detectionVector> {
    return detectionVector(this.domain, this.#state);
  }
}

/**
 * The state for a root: fits the schema. Whether it passes the invariants is for the caller to see in `failing`.
 *
 * @throws KernelError `invalid_state`; CopyError `other_copy`
 */
export function initialState(domain: Domain, given?: unknown): Container {
  requireOwnDomain(domain);
  const state = given ?? domain.initial;
  if (state === undefined) {
    throw new KernelError('invalid_state', `The domain ${domain.name} has no initial state of its own; give one.`);
  }
  const copy = copyJson(state, WORLD_LIMITS) as Container;
  const fault = stateFault(domain.state, copy);
  if (fault !== undefined) {
    throw new KernelError('invalid_state', `The initial state does not fit the domain ${domain.name}: ${fault}.`);
  }
  return copy;
}
