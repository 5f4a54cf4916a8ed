import { instantToMillis, type KeyPair } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import type { Clock, Random } from 'assize/internal/oracle';
import { type SealedRow, SealedRows, sideSecretOf } from 'assize/internal/stores';
import { Recurring } from '../background/recurring.ts';

/** Another live server of the same store. */
export interface Member {
  readonly id: string;
  /** The address for other servers, without a slash at the end. */
  readonly url: string;
  /** Ends when the server no longer counts as live. */
  readonly gone: AbortSignal;
}

export interface MembersOptions {
  readonly side: SideStore;
  readonly root: Pick<KeyPair, 'privateKey'>;
  /** The address of this server for other servers. */
  readonly url: string;
  readonly clock: Clock;
  readonly random: Random;
  /** A monotonic clock in milliseconds. */
  readonly nowMs: () => number;
  readonly onFailure: (error: unknown) => void;
}

/** The row of a server in the side log. */
interface MemberRow {
  readonly url: string;
  /** Milliseconds since 1970 at the last renewal, by the clock of the server. */
  readonly at: number;
}

/** A row as this process has watched it. */
interface Watched {
  readonly url: string;
  /** Ended while the server does not count as live. */
  readonly gone: AbortController;
  version: number;
  /** How long the row has not changed, of the time in which this process could read it. */
  silentMs: number;
  /** Requests in a row without an answer. */
  failures: number;
  avoidedUntil: number;
}

const KIND = 'server/member';
/** The time between two renewals of a row. */
export const RENEW_MS = 2_000;
/** A server whose row does not change for this time counts as dead. */
export const LIVE_MS = 5_000;
/** The row of a dead server is deleted after this time. */
const FORGET_MS = 60_000;
/** The greatest difference between the clock of a server and the time in a row that counts. */
const SEAL_MS = 600_000;
/** A server that did not answer gets no request for this time. It doubles with each failure. */
const AVOID_MS = 500;
const AVOID_MS_MAX = 30_000;

/**
 * The live servers of a store, with the addresses at which they reach each other. Each server
 * renews a row in the side log, and watches the versions of the other rows by its own monotonic
 * clock.
 *
 * The list is a hint: two servers may see different ones, and the compare-and-set of the store
 * decides each append. Each row has a MAC under the root key, so a writer of the database alone
 * cannot direct requests to an address of its choice.
 */
export class Members {
  readonly #options: MembersOptions;
  readonly #rows: SealedRows<MemberRow>;
  readonly #watched: Map<string, Watched> = new Map();
  #renewing: Recurring | undefined;
  #version: number | null = null;
  #readAt: number | undefined;

  /** The id of this server: new at each start. */
  readonly id: string;

  constructor(options: MembersOptions) {
    this.#options = options;
    this.#rows = new SealedRows(options.side, KIND, sideSecretOf(options.root));
    this.id = Buffer.from(options.random.bytes(16)).toString('hex');
  }

  /** Announces this server, and reads the others. @throws the errors of the store */
  async start(): Promise<void> {
    await this.#renew();
    this.#renewing = new Recurring(RENEW_MS, () => this.#renew(), this.#options.onFailure);
  }

  /** Withdraws this server. The others stop sending requests within `RENEW_MS`. */
  async stop(): Promise<void> {
    await this.#renewing?.stop();
    await this.#rows.delete(this.id);
  }

  /** The other servers that count as live. */
  get live(): readonly Member[] {
    return this.#membersOf(() => true);
  }

  /** The live servers that answered their last request, or have not been asked for a while. */
  reachable(): readonly Member[] {
    const now = this.#options.nowMs();
    return this.#membersOf(({ avoidedUntil }) => avoidedUntil <= now);
  }

  #membersOf(isWanted: (watched: Watched) => boolean): readonly Member[] {
    return [...this.#watched]
      .filter(([, watched]) => !watched.gone.signal.aborted && isWanted(watched))
      .map(([id, { url, gone }]) => ({ id, url, gone: gone.signal }));
  }

  /** Notes whether a server answered a request. A server that did not is avoided for a while. */
  answered(id: string, hasAnswered: boolean): void {
    const watched = this.#watched.get(id);
    if (watched === undefined) return;
    watched.failures = hasAnswered ? 0 : watched.failures + 1;
    const ms = Math.min(AVOID_MS * 2 ** (watched.failures - 1), AVOID_MS_MAX);
    watched.avoidedUntil = hasAnswered ? 0 : this.#options.nowMs() + ms;
  }

  async #renew(): Promise<void> {
    await this.#announce();
    const rows: SealedRow<MemberRow>[] = [];
    this.#version = null;
    for await (const row of this.#rows.list()) {
      if (row.key === this.id) this.#version = row.version;
      else rows.push(row);
    }
    const now = this.#options.nowMs();
    // While this process could not read, the rows of the others may have changed unseen.
    const sinceMs = Math.min(now - (this.#readAt ?? now), RENEW_MS);
    this.#readAt = now;
    const present = new Set(rows.map(({ key }) => key));
    for (const row of rows) this.#watch(row, sinceMs);
    for (const [id, watched] of this.#watched) {
      if (watched.silentMs > LIVE_MS || !present.has(id)) watched.gone.abort();
      if (!present.has(id)) this.#watched.delete(id);
      else if (watched.silentMs > FORGET_MS) await this.#rows.delete(id);
    }
  }

  async #announce(): Promise<void> {
    const { url, clock } = this.#options;
    const row = { url, at: Math.floor(instantToMillis(clock.now())) };
    await this.#rows.put(this.id, this.#version, row);
  }

  /** A row that does not count is watched too, so that it is deleted when its server has died. */
  #watch({ key, version, value: { url, at } }: SealedRow<MemberRow>, sinceMs: number): void {
    const watched = this.#watched.get(key);
    if (watched?.version === version) {
      watched.silentMs += sinceMs;
      return;
    }
    const { url: own, clock } = this.#options;
    // The address of this server would lead back to it, or to another program of this machine.
    const counts = url !== own && Math.abs(instantToMillis(clock.now()) - at) <= SEAL_MS;
    const isSame = watched?.url === url && watched.gone.signal.aborted !== counts;
    const fresh = { url, gone: new AbortController(), failures: 0, avoidedUntil: 0 };
    const next = { ...(isSame ? watched : fresh), version, silentMs: 0 };
    if (!counts) next.gone.abort();
    this.#watched.set(key, next);
  }
}
