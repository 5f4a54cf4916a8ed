import { setTimeout as sleep } from 'node:timers/promises';
import { isAssizeError } from 'assize/internal/base';
import { StoreError } from 'assize/internal/stores/errors.ts';
import type { Target } from './connection-url.ts';
import { type ServerRole, Session, type SessionOptions } from './session.ts';

/**
 * The longest wait for the other servers after one has answered as the primary. A server that was
 * just promoted can be one of them.
 */
const OTHERS_MS = 500;

export interface ServersOptions {
  /** The URL of each server, in the order of preference. */
  readonly urls: readonly string[];
  readonly target: Target;
  /** Names the store in errors. */
  readonly path: string;
}

/** A server that cannot be used, with the reason. */
interface Unused {
  readonly session?: undefined;
  readonly why: StoreError;
}

type Tried = { readonly session: Session } | Unused;

/**
 * The servers of a store: a primary and its standbys, or one address that leads to the current
 * primary. At most one is the primary.
 *
 * After a promotion no connection stays at an older primary: a connection to a newer timeline ends
 * those to older ones, and older primaries are refused from then on.
 */
export class Servers {
  readonly #options: ServersOptions;
  readonly #sessions = new Set<Session>();
  /** The newest timeline of any primary so far. */
  #timeline = 0;

  constructor(options: ServersOptions) {
    this.#options = options;
  }

  /**
   * Opens a connection to a server of the wanted role.
   *
   * @throws {StoreError} `store_unreachable` if no server has that role now; the errors of
   *   `Session.open`
   */
  async open(settings: Omit<SessionOptions, 'url'>): Promise<Session> {
    const { urls, target } = this.#options;
    const openAt = (url: string): Promise<Tried> => this.#try({ ...settings, url });
    const isPrimary = target === 'primary' || target === 'read-write';
    const session =
      isPrimary && urls.length > 1 ? await this.#newest(openAt) : await this.#first(openAt);
    this.#keep(session);
    return session;
  }

  /** The first server in order with the wanted role, or else the next best one. */
  async #first(openAt: (url: string) => Promise<Tried>): Promise<Session> {
    const { urls, target } = this.#options;
    const unused: Unused[] = [];
    let other: Session | undefined;
    for (const url of urls) {
      const tried = await openAt(url);
      if (tried.session === undefined) unused.push(tried);
      else if (target !== 'prefer-standby' || tried.session.role.isStandby) {
        await other?.end();
        return tried.session;
      } else if (other === undefined) other = tried.session;
      else await tried.session.end();
    }
    return other ?? this.#refuse(unused);
  }

  /** Of several primaries, the one that was promoted last. All servers are tried concurrently. */
  async #newest(openAt: (url: string) => Promise<Tried>): Promise<Session> {
    const { urls } = this.#options;
    const unused: Unused[] = [];
    const found = Promise.withResolvers<void>();
    let newest: Session | undefined;
    let isOver = false;
    const compare = async (tried: Tried): Promise<void> => {
      if (tried.session === undefined) {
        unused.push(tried);
        return;
      }
      const older = isOver || isNewer(newest, tried.session) ? tried.session : newest;
      if (older !== tried.session) newest = tried.session;
      found.resolve();
      await older?.end();
    };
    const all = Promise.all(urls.map(async (url) => compare(await openAt(url))));
    const someTime = async (): Promise<void> => {
      await found.promise;
      await sleep(OTHERS_MS, undefined, { ref: false });
    };
    try {
      await Promise.race([all, someTime()]);
    } catch (error) {
      await newest?.end();
      throw error;
    } finally {
      isOver = true;
    }
    return newest ?? this.#refuse(unused);
  }

  async #try(settings: SessionOptions): Promise<Tried> {
    let session: Session;
    try {
      session = await Session.open(settings);
    } catch (error) {
      // A refused login is not a reason to try the other servers.
      if (isAssizeError(error, 'store_unreachable') && error instanceof StoreError)
        return { why: error };
      throw error;
    }
    const why = this.#whyNot(session.role);
    if (why === undefined) return { session };
    await session.end();
    const { path } = this.#options;
    return {
      why: new StoreError('store_unreachable', `A server of ${path} ${why}.`, {
        evidence: { path },
      }),
    };
  }

  #whyNot({ isStandby, isReadOnly, timeline }: ServerRole): string | undefined {
    const { target } = this.#options;
    if (timeline !== undefined && timeline < this.#timeline)
      return `is an old primary: its timeline is ${timeline}, and another server was promoted to ${this.#timeline}`;
    const isRole = {
      any: true,
      'prefer-standby': true,
      primary: !isStandby,
      standby: isStandby,
      'read-write': !isReadOnly,
      'read-only': isReadOnly,
    }[target];
    if (isRole) return undefined;
    return isStandby ? 'is a standby' : isReadOnly ? 'accepts no writes' : 'is the primary';
  }

  #refuse(unused: readonly Unused[]): never {
    const { path, target, urls } = this.#options;
    const [first] = unused;
    if (urls.length === 1 && first !== undefined && (target === 'any' || first.why.retryable))
      throw first.why;
    const reasons = unused.map(({ why }) => why.message).join(' ');
    throw new StoreError(
      'store_unreachable',
      `No server of ${path} has target_session_attrs=${target} now. Check the hosts, or try again after the promotion. ${reasons}`,
      { evidence: { path, target }, retryable: true },
    );
  }

  #keep(session: Session): void {
    for (const one of this.#sessions) if (!one.isOpen) this.#sessions.delete(one);
    this.#sessions.add(session);
    const newest = Math.max(this.#timeline, session.role.timeline ?? 0);
    this.#timeline = newest;
    // Also the new one: another connection may have seen a promotion since it was accepted.
    for (const one of this.#sessions)
      if ((one.role.timeline ?? newest) < newest)
        one.cut(new Error(`another server was promoted to timeline ${newest}`));
  }
}

/** Whether the first of two primaries was promoted later, or came first at the same timeline. */
function isNewer(one: Session | undefined, other: Session): boolean {
  return one !== undefined && (one.role.timeline ?? 0) >= (other.role.timeline ?? 0);
}
