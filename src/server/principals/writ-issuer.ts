import { hkdfSync } from 'node:crypto';
import { attenuate, covers, delegateWrit, issueWrit, type Writ, writId } from '#authority';
import { LruCache } from '#base';
import {
  addMicros,
  contentHash,
  generateKeys,
  type Instant,
  instantFromMillis,
  instantToMillis,
  type KeyPair,
} from '#canon';
import type { ResolvedGrant as Grant, ResolvedPrincipal } from '#config';
import { UPGRADE_ACTION } from '#kernel';
import { HALT_ACTION, REVOKE_ACTION } from '#ledger';
import type { WritChain } from '#runtime';
import { ServerError } from '../errors.ts';
import type { Caller } from './caller.ts';

/** Start and end of the writs that carry the whole grant of an agent. */
const EARLIEST: Instant = '2000-01-01T00:00:00.000000Z';
const LATEST: Instant = '9000-01-01T00:00:00.000000Z';
/** The clock of another server may be behind by this much. */
const SKEW_MICROS = 10 * 60 * 1_000_000;
const CACHED_MAX = 2_000;
/** A proposal may wait this long between the issue of its writ and its ruling. */
const QUEUED_MS = 60_000;
/** The clock of the issuing server was ahead of the entry's time by this many windows at most. */
const AHEAD_MAX = 2;

/** Actions of the kernel that administrators may use, with the scope of each. */
const OFFICE = {
  [HALT_ACTION]: 'halt:**',
  [REVOKE_ACTION]: 'writ:**',
  [UPGRADE_ACTION]: 'upgrade:**',
  'assize.erase': 'erase:**',
  'assize.resolve_effect': 'effect:**',
} as const;

export type OfficeAction = keyof typeof OFFICE;

/**
 * Issues the writs of a server. The grant of an agent becomes a writ of the root key, and each
 * short writ of the agent is a child of it. So what the agent spends under all its short writs
 * counts against the one budget of the grant. Every server with the same root key and configuration
 * issues the same writs. No key leaves the issuer.
 */
export class WritIssuer {
  readonly #root: KeyPair;
  readonly #windowMs: number;
  readonly #waitMs: number | 'never';
  readonly #issued: LruCache<WritChain> = new LruCache(CACHED_MAX);
  /** Grants of the configuration never change. */
  readonly #terms: WeakMap<Grant, LruCache<string>> = new WeakMap();

  /**
   * `writSeconds`: seconds after which an agent gets another writ. `waitMs`: the longest wait of a
   * proposal for a decision, which its writ must outlive.
   */
  constructor(root: KeyPair, writSeconds: number, waitMs: number | 'never') {
    this.#root = root;
    this.#windowMs = writSeconds * 1_000;
    this.#waitMs = waitMs;
  }

  /** The root's public key, which the runtime trusts. */
  get anchor(): string {
    return this.#root.publicKey;
  }

  /**
   * A short writ for an action of an agent in a trajectory.
   *
   * @throws ServerError `forbidden` if no grant names the trajectory
   */
  forAgent(caller: Caller, trajectoryId: string, action: string, now: Instant): WritChain {
    if (caller.writ !== undefined && caller.writ.writ.trajectory === trajectoryId) return caller.writ;
    const grants = grantsFor(caller, trajectoryId);
    const grant = grants.find(({ actions }) => actions.some((pattern) => isCovered(pattern, action))) ?? grants[0];
    if (grant === undefined)
      throw new ServerError(
        'forbidden',
        `${caller.name} has no grant in the trajectory ${trajectoryId}. Add one to \`principals\` of the configuration.`,
      );
    return this.#short(caller.name, grant, trajectoryId, now);
  }

  /**
   * The short writ with that id, under which an entry of that instant was ruled. Undefined if the
   * agent's grants of today issue no such writ.
   */
  issuedBefore(caller: Caller, trajectoryId: string, id: string, at: Instant): WritChain | undefined {
    const oldest = -AHEAD_MAX - Math.ceil(QUEUED_MS / this.#windowMs);
    for (let windows = AHEAD_MAX; windows >= oldest; windows--) {
      const then = addMicros(at, windows * this.#windowMs * 1_000);
      const found = this.allFor(caller, trajectoryId, then).find(({ writ }) => writId(writ) === id);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  /** Whether an agent has any authority in a trajectory. */
  mayAct(caller: Caller, trajectoryId: string): boolean {
    if (caller.writ !== undefined) return caller.writ.writ.trajectory === trajectoryId;
    return caller.grants.some((grant) => isFor(grant, trajectoryId));
  }

  /** All writs under which an agent may act in a trajectory: one for each grant. */
  allFor(caller: Caller, trajectoryId: string, now: Instant): WritChain[] {
    if (caller.writ !== undefined) return caller.writ.writ.trajectory === trajectoryId ? [caller.writ] : [];
    return grantsFor(caller, trajectoryId).map((grant) => this.#short(caller.name, grant, trajectoryId, now));
  }

  /** The writ of an administrator for one built-in action in a trajectory. */
  forOffice(principal: string, action: OfficeAction, trajectoryId: string, now: Instant): Writ {
    return this.#forAction(principal, action, [OFFICE[action]], trajectoryId, now);
  }

  /** The writ of the server itself, for one action of a domain in a trajectory. */
  forServer(principal: string, action: string, trajectoryId: string, now: Instant): Writ {
    return this.#forAction(principal, action, ['**'], trajectoryId, now);
  }

  /** A root writ for a holder with a key or a name of its own. */
  issue(grant: Omit<Writ, 'v' | 'issuer' | 'parent' | 'signature'>): Writ {
    return issueWrit({ ...grant, issuer: this.#root.publicKey }, this.#root.privateKey);
  }

  /**
   * A part of an agent's authority for another principal. The new writ is a child of the agent's
   * grant, so its spending counts there too.
   *
   * @throws AuthorityError `not_attenuated`, `bad_writ`, `bad_resource`; ServerError `forbidden`
   */
  attenuated(caller: Caller, trajectoryId: string, terms: AttenuatedTerms): WritChain {
    let refused: unknown;
    for (const { writ, key, chain } of this.#passable(caller, trajectoryId)) {
      try {
        const child = attenuate(
          writ,
          { ...terms, trajectory: trajectoryId, nonce: contentHash(terms) },
          key.privateKey,
        );
        return { writ: child, chain: [writ, ...chain] };
      } catch (error) {
        refused ??= error;
      }
    }
    throw refused ?? nothingToPassOn(caller, trajectoryId);
  }

  /**
   * A part of an agent's grant for a child trajectory: the writ of the grant, and its child.
   *
   * @throws AuthorityError `not_attenuated`, `bad_writ`, `bad_resource`; ServerError `forbidden`
   */
  delegated(
    caller: Caller,
    trajectoryId: string,
    child: string,
    terms: Omit<AttenuatedTerms, 'expires'>,
  ): { readonly writ: WritChain; readonly signed: Writ } {
    let refused: unknown;
    for (const { writ, key, chain } of this.#passable(caller, trajectoryId)) {
      try {
        const signed = delegateWrit(
          writ,
          { ...terms, trajectory: child, nonce: contentHash({ child, ...terms }) },
          key.privateKey,
        );
        return { writ: { writ, chain }, signed };
      } catch (error) {
        refused ??= error;
      }
    }
    throw refused ?? nothingToPassOn(caller, trajectoryId);
  }

  /** The writs that carry the whole grants of an agent in a trajectory, for a revocation. */
  grantsOf(name: string, grants: readonly Grant[], trajectoryId: string): WritChain[] {
    return grants
      .filter((grant) => isFor(grant, trajectoryId))
      .map((grant) => {
        const { writ, chain } = this.#granted(name, grant, trajectoryId);
        return { writ, chain };
      });
  }

  /** The configured agent of each writ that carries a whole grant, by the writ's id. */
  holdersOf(principals: Iterable<ResolvedPrincipal>, trajectoryId: string): ReadonlyMap<string, string> {
    const holders = new Map<string, string>();
    for (const { name, grants } of principals)
      for (const { writ } of this.grantsOf(name, grants, trajectoryId)) holders.set(writId(writ), name);
    return holders;
  }

  /** Whether a writ is a part of an agent's grant. */
  isHeldBy(caller: Caller, trajectoryId: string, { parent }: Writ): boolean {
    return this.grantsOf(caller.name, caller.grants, trajectoryId).some(({ writ }) => writId(writ) === parent);
  }

  /**
   * Whether a writ comes from a grant of a principal, also through other principals. The name of
   * the principal is in none of the writs.
   */
  hasGranted({ name, grants }: Pick<Caller, 'name' | 'grants'>, { writ, chain }: WritChain): boolean {
    return [writ, ...chain].some(
      (link) =>
        link.trajectory !== undefined &&
        this.grantsOf(name, grants, link.trajectory).some((granted) => writId(granted.writ) === writId(link)),
    );
  }

  idOf(writ: Writ): string {
    return writId(writ);
  }

  /** The grants that an agent may pass on. A token that is limited to a writ passes nothing on. */
  #passable(caller: Caller, trajectoryId: string): GrantedWrit[] {
    return grantsFor(caller, trajectoryId)
      .filter(({ maxDepth }) => maxDepth > 0)
      .map((grant) => this.#granted(caller.name, grant, trajectoryId));
  }

  #forAction(principal: string, action: string, scopes: readonly string[], trajectory: string, now: Instant): Writ {
    const { start, end } = this.#window(now);
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

  #short(name: string, grant: Grant, trajectoryId: string, now: Instant): WritChain {
    const { start, end } = this.#window(now);
    const place = `${this.#termsOf(name, grant, trajectoryId)} ${start}`;
    return this.#issued.get(place, () => {
      const { writ, key, chain } = this.#granted(name, grant, trajectoryId);
      const expires = this.#waitMs === 'never' ? LATEST : addMicros(end, this.#waitMs * 1_000);
      const period = { not_before: addMicros(start, -SKEW_MICROS), expires };
      const child = attenuate(writ, { subject: name, nonce: start, ...period, max_depth: 0 }, key.privateKey);
      return { writ: child, chain: [writ, ...chain] };
    });
  }

  /** The writ of a whole grant. Its subject is a key that only servers with the root key derive. */
  #granted(name: string, grant: Grant, trajectoryId: string): GrantedWrit {
    const { actions, scopes, budget, requireApproval, maxDepth } = grant;
    const terms = this.#termsOf(name, grant, trajectoryId);
    const key = this.#keyOf(terms);
    const writ = issueWrit(
      {
        issuer: this.#root.publicKey,
        subject: key.publicKey,
        trajectory: trajectoryId,
        actions: [...actions],
        scopes: [...scopes],
        budget,
        require_approval: [...requireApproval],
        not_before: EARLIEST,
        expires: LATEST,
        max_depth: maxDepth + 1,
        nonce: `grant ${terms}`,
      },
      this.#root.privateKey,
    );
    return { writ, key, chain: [] };
  }

  /** The hash of a grant of an agent in a trajectory. */
  #termsOf(name: string, grant: Grant, trajectoryId: string): string {
    const ofGrant = this.#terms.get(grant) ?? new LruCache<string>(CACHED_MAX);
    this.#terms.set(grant, ofGrant);
    return ofGrant.get(`${trajectoryId}\n${name}`, () => contentHash({ name, grant: { ...grant }, trajectoryId }));
  }

  #keyOf(terms: string): KeyPair {
    const seed = Buffer.from(this.#root.privateKey, 'hex');
    return generateKeys(new Uint8Array(hkdfSync('sha256', seed, '', `assize/grant/v1\n${terms}`, 32)));
  }

  /** The period of the writs of an instant. Each writ outlives its window by one window. */
  #window(now: Instant): { readonly start: Instant; readonly end: Instant } {
    const start = Math.floor(instantToMillis(now) / this.#windowMs) * this.#windowMs;
    return { start: instantFromMillis(start), end: instantFromMillis(start + 2 * this.#windowMs) };
  }
}

/** The terms of a part of a grant. */
export interface AttenuatedTerms {
  readonly subject: string;
  readonly actions?: readonly string[];
  readonly scopes?: readonly string[];
  readonly budget?: Readonly<Record<string, number>>;
  readonly expires: Instant;
}

interface GrantedWrit extends WritChain {
  readonly key: KeyPair;
}

function nothingToPassOn(caller: Caller, trajectoryId: string): ServerError {
  return new ServerError(
    'forbidden',
    `${caller.name} has no grant to pass on in ${trajectoryId}. Raise \`maxDepth\` of a grant in the configuration.`,
  );
}

/** A token that is limited to a writ has no grant beside it. */
function grantsFor({ grants, writ }: Caller, trajectoryId: string): Grant[] {
  return writ === undefined ? grants.filter((grant) => isFor(grant, trajectoryId)) : [];
}

function isFor({ trajectories }: Grant, trajectoryId: string): boolean {
  return trajectories.includes('*') || trajectories.includes(trajectoryId);
}

/** An action that is not a name of the grammar is covered by nothing, and the kernel refuses it. */
function isCovered(pattern: string, action: string): boolean {
  try {
    return covers(pattern, action);
  } catch {
    return false;
  }
}
