import { isAssizeError } from '#base';

/** A commit of any process, or commits that may have been missed. */
export type CommitNews =
  | { readonly kind: 'appended'; readonly trajectory_id: string; readonly seq: number }
  | { readonly kind: 'missed' };

/** A store that tells of the commits of other processes. */
export interface FollowedStore {
  follow?(listener: (news: CommitNews) => void): Promise<() => Promise<void>>;
}

/** A short-lived program opens a trajectory and ends before this time, and follows nothing. */
const START_MS = 250;

/** The shortest time between two reads of the same trajectory. */
const GAP_MS = 200;

/** The time after a failure before the next attempt: to read, and to begin to follow. */
const RETRY_MS = 1_000;
const RESTART_MS = 30_000;

export interface FollowerPorts {
  readonly store: FollowedStore;
  /** The open trajectories. */
  readonly open: () => Iterable<string>;
  /** Whether memory of an open trajectory has no entry of that position. */
  readonly isBehind: (trajectoryId: string, seq: number) => boolean;
  /** Reads the new entries of a trajectory that is still open. */
  readonly catchUp: (trajectoryId: string) => Promise<void>;
  /** Receives the first of several failures. */
  readonly failed: (error: unknown) => void;
}

/**
 * Keeps the open trajectories of a runtime up to date with other processes, while one is open. Its
 * timers do not keep a process alive.
 */
export class Follower {
  readonly #ports: FollowerPorts;
  /** The trajectories that may have new entries. */
  readonly #behind: Set<string> = new Set();
  #timer: NodeJS.Timeout | undefined;
  #unfollow: (() => Promise<void>) | undefined;
  /** The start, the end or the read in progress. */
  #working: Promise<void> | undefined;
  #hasFailed = false;
  #isClosed = false;

  constructor(ports: FollowerPorts) {
    this.#ports = ports;
  }

  /** Call when a trajectory was opened or released. */
  changed(): void {
    if (this.#ports.store.follow !== undefined) this.#soon(START_MS);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    await this.#working;
    await this.#end();
  }

  #soon(ms: number): void {
    if (this.#isClosed) return;
    this.#timer ??= setTimeout(() => {
      this.#working = this.#work().finally(() => {
        this.#working = undefined;
        this.#timer = undefined;
        const [first] = this.#ports.open();
        // A trajectory may have been opened, or the last one released, meanwhile.
        const isOther = (first === undefined) === (this.#unfollow !== undefined);
        if (this.#behind.size > 0 || isOther) this.#soon(this.#nextMs);
      });
    }, ms).unref();
  }

  get #nextMs(): number {
    if (!this.#hasFailed) return GAP_MS;
    return this.#unfollow === undefined ? RESTART_MS : RETRY_MS;
  }

  async #work(): Promise<void> {
    try {
      const [first] = this.#ports.open();
      if (first === undefined) return await this.#end();
      await this.#start();
      for (const trajectoryId of [...this.#behind]) {
        if (this.#isClosed) return;
        this.#behind.delete(trajectoryId);
        await this.#read(trajectoryId);
      }
      this.#hasFailed = false;
    } catch (error) {
      // The owner of the store has closed it.
      if (isAssizeError(error, 'store_closed')) this.#isClosed = true;
      else if (!this.#hasFailed) this.#ports.failed(error);
      this.#hasFailed = true;
      if (this.#unfollow === undefined) this.#missed();
    }
  }

  async #start(): Promise<void> {
    if (this.#unfollow !== undefined) return;
    this.#unfollow = await this.#ports.store.follow?.((news) => this.#told(news));
    // The store did not report commits between the opening and now.
    this.#missed();
  }

  async #read(trajectoryId: string): Promise<void> {
    try {
      await this.#ports.catchUp(trajectoryId);
    } catch (error) {
      // The next write gets the error of a ledger that cannot be read here.
      if (!isAssizeError(error, 'invalid_ledger') && !isAssizeError(error, 'domain_mismatch'))
        this.#behind.add(trajectoryId);
      throw error;
    }
  }

  async #end(): Promise<void> {
    const end = this.#unfollow;
    this.#unfollow = undefined;
    this.#behind.clear();
    await end?.();
  }

  #told(news: CommitNews): void {
    if (news.kind === 'missed') this.#missed();
    else if (this.#ports.isBehind(news.trajectory_id, news.seq))
      this.#behind.add(news.trajectory_id);
    if (this.#behind.size > 0) this.#soon(GAP_MS);
  }

  #missed(): void {
    for (const trajectoryId of this.#ports.open()) this.#behind.add(trajectoryId);
  }
}
