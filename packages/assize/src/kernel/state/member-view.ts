import { EVERYTHING, type Pattern } from '../domain/footprint.ts';
import type { Keys } from '../domain/keys.ts';
import { memberAt } from './members.ts';
import { type Container, view } from './view.ts';

/**
 * The members of a state as one check sees them: read-only. Consecutive rules over one member share
 * its view.
 */
export class MemberViewCache {
  readonly #state: unknown;
  #path: Pattern | undefined;
  #keys: Keys | undefined;
  #member: unknown;
  #of: object | undefined;
  #view: Container | undefined;

  constructor(state: unknown) {
    this.#state = state;
  }

  /** Undefined if the member does not exist. */
  member(path: Pattern, keys: Keys): unknown {
    if (this.#path !== path || this.#keys !== keys) {
      this.#path = path;
      this.#keys = keys;
      this.#member = memberAt(this.#state, path, keys);
    }
    return this.seen(this.#member);
  }

  seen(value: unknown): unknown {
    if (typeof value !== 'object' || value === null) return value;
    if (this.#of !== value) {
      this.#of = value;
      this.#view = view(value as Container, EVERYTHING);
    }
    return this.#view;
  }
}
