import { setTimeout as sleep } from 'node:timers/promises';
import type { StoreEvent } from 'assize/internal/stores/follow.ts';
import { pauseMs } from '../connection/retry.ts';
import type { Session } from '../connection/session.ts';

export interface FollowingOptions {
  /** The channel has the name of the schema. */
  readonly schema: string;
  readonly open: () => Promise<Session>;
  readonly listener: (news: StoreEvent) => void;
}

/**
 * The interval between two probes of the server, because a connection that only listens does not
 * notice a lost server.
 */
const HEARTBEAT_MS = 30_000;

/**
 * A connection that listens until it is stopped. If it is lost, another connection listens, and the
 * listener receives `missed`.
 */
export class Following {
  readonly #options: FollowingOptions;
  #session: Session | undefined;
  #isStopped = false;

  private constructor(options: FollowingOptions) {
    this.#options = options;
  }

  /** Resolves when every later commit will be reported. */
  static async start(options: FollowingOptions): Promise<Following> {
    const following = new Following(options);
    await following.#listen();
    return following;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#session?.end();
  }

  async #listen(): Promise<void> {
    const session = await this.#options.open();
    session.onNotification(({ payload = '' }) => this.#tell(newsOf(payload)));
    try {
      await session.run({ text: `LISTEN "${this.#options.schema}"` });
    } catch (error) {
      await session.end();
      throw error;
    }
    if (this.#isStopped) return session.end();
    this.#session = session;
    const ask = (): Promise<unknown> =>
      session.run({ text: 'SELECT' }).catch((lost: unknown) => lost);
    const heartbeat = setInterval(ask, HEARTBEAT_MS).unref();
    session.onEnd(() => {
      clearInterval(heartbeat);
      void this.#listenAgain();
    });
  }

  async #listenAgain(): Promise<void> {
    for (let attempt = 1; !this.#isStopped; attempt += 1) {
      await sleep(pauseMs(attempt), undefined, { ref: false });
      const failed = await this.#listen().catch((error: unknown) => error);
      if (failed === undefined) return this.#tell({ kind: 'missed' });
    }
  }

  // Asynchronous: an error of the listener would otherwise reach the driver, in the middle of the
  // server's data.
  #tell(news: StoreEvent): void {
    queueMicrotask(() => {
      if (!this.#isStopped) this.#options.listener(news);
    });
  }
}

/** Parses `seq name`. The payload is empty if the name was too long for a notification. */
function newsOf(payload: string): StoreEvent {
  const space = payload.indexOf(' ');
  if (space === -1) return { kind: 'missed' };
  return {
    kind: 'appended',
    trajectory_id: payload.slice(space + 1),
    seq: Number(payload.slice(0, space)),
  };
}
