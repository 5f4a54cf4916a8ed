import { issueWrit, type Writ } from 'assize/internal/authority';
import { addMicros, type Instant, type KeyPair } from 'assize/internal/canon';
import { windowOf } from 'assize/internal/config';
import { UPGRADE_ACTION } from 'assize/internal/kernel';
import { HALT_ACTION, REVOKE_ACTION } from 'assize/internal/ledger';

/** The clock of another server may be behind by this much. */
const SKEW_MICROS = 10 * 60 * 1_000_000;

/** Actions of the kernel that administrators may use, with the scope of each. */
const BUILT_IN = {
  [HALT_ACTION]: 'halt:**',
  [REVOKE_ACTION]: 'writ:**',
  [UPGRADE_ACTION]: 'upgrade:**',
  'assize.erase': 'erase:**',
  'assize.resolve_effect': 'effect:**',
} as const;

export type BuiltInAction = keyof typeof BUILT_IN;

/** The principal of the server's own proposals. */
export const SERVER = 'assize:server';

/** Issues the writs of administrators, of the server itself, and of holders outside of it. */
export class SystemWrits {
  readonly #root: KeyPair;
  readonly #windowMs: number;

  /** `writSeconds`: seconds after which a principal gets another writ. */
  constructor(root: KeyPair, writSeconds: number) {
    this.#root = root;
    this.#windowMs = writSeconds * 1_000;
  }

  /** The writ of an administrator for one built-in action in a trajectory. */
  forBuiltIn(principal: string, action: BuiltInAction, trajectoryId: string, now: Instant): Writ {
    return this.#forAction(principal, action, [BUILT_IN[action]], trajectoryId, now);
  }

  /** The writ of the server itself, for one action of a domain in a trajectory. */
  forAction(principal: string, action: string, trajectoryId: string, now: Instant): Writ {
    return this.#forAction(principal, action, ['**'], trajectoryId, now);
  }

  /** A root writ for a holder with a key or a name of its own. */
  issue(grant: Omit<Writ, 'v' | 'issuer' | 'parent' | 'signature'>): Writ {
    return issueWrit({ ...grant, issuer: this.#root.publicKey }, this.#root.privateKey);
  }

  #forAction(
    principal: string,
    action: string,
    scopes: readonly string[],
    trajectory: string,
    now: Instant,
  ): Writ {
    const { start, end } = windowOf(now, this.#windowMs);
    return issueWrit(
      {
        issuer: this.#root.publicKey,
        subject: principal,
        trajectory,
        actions: [action],
        scopes: [...scopes],
        not_before: addMicros(start, -SKEW_MICROS),
        expires: end,
        max_depth: 0,
        nonce: `office ${action} ${start}`,
      },
      this.#root.privateKey,
    );
  }
}
