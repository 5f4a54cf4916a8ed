import { ownerOf } from 'assize/internal/canon';
import { systemRandom } from 'assize/internal/oracle';
import type { Metrics } from '../log/metrics.ts';
import { ForwardMark } from './forward-mark.ts';
import { Forwarder, type Forwarding } from './forwarder.ts';
import { Members, type MembersOptions } from './members.ts';

/** Requests that this process sent on, and those that it then answered itself. */
export interface ForwardCounts {
  readonly answered: number;
  readonly unanswered: number;
}

/**
 * Sends the writes of a trajectory to one of the live servers of a store, so that its writer keeps
 * the state in memory and meets no other writer. Without an answer this server writes itself: the
 * keys of a routed request make its repetition the same request.
 */
export class Router {
  readonly #members: Members;
  readonly #forwarder: Forwarder;
  readonly #mark: ForwardMark;
  #answered = 0;
  #unanswered = 0;

  constructor(members: Members, forwarder: Forwarder, mark: ForwardMark) {
    this.#members = members;
    this.#forwarder = forwarder;
    this.#mark = mark;
  }

  get counts(): ForwardCounts {
    return { answered: this.#answered, unanswered: this.#unanswered };
  }

  /** Live servers, with this one. */
  get members(): number {
    return this.#members.live.length + 1;
  }

  /** The id of a request that another server forwarded. */
  forwardedId(request: Request): string | undefined {
    return this.#mark.requestIdIn(request);
  }

  /**
   * The answer of the server that writes the trajectory. Undefined: this server is to answer.
   *
   * @throws the reason of the signal
   */
  async forwarded(trajectoryId: string, forwarding: Forwarding): Promise<Response | undefined> {
    const { id } = this.#members;
    const owner = ownerOf(trajectoryId, [...this.#members.reachable(), { id }]);
    if (owner === undefined || !('url' in owner)) return undefined;
    const response = await this.#forwarder.send(owner, forwarding);
    // A client that left says nothing about the server; one whose time is over may.
    const { aborted, reason } = forwarding.signal;
    const hasLeft =
      aborted && (reason as { readonly code?: unknown } | undefined)?.code === 'client_left';
    if (!hasLeft) this.#members.answered(owner.id, response !== undefined);
    forwarding.signal.throwIfAborted();
    if (response === undefined) this.#unanswered++;
    else this.#answered++;
    return response;
  }
}

/** The parts of a server that forward requests. */
export interface Routing {
  readonly members: Members;
  readonly forwarder: Forwarder;
  readonly router: Router;
}

export function routingOf(options: Omit<MembersOptions, 'random' | 'nowMs'>): Routing {
  const members = new Members({ ...options, random: systemRandom, nowMs: () => performance.now() });
  const mark = new ForwardMark(options.root);
  const forwarder = new Forwarder(mark);
  return { members, forwarder, router: new Router(members, forwarder, mark) };
}

/** Announces the server, once it listens. @throws the errors of the store */
export async function startRouting({ members, router }: Routing, metrics: Metrics): Promise<void> {
  await members.start();
  const gauge = (name: string, help: string, read: () => number) =>
    metrics.gauge({ name, help, read });
  gauge('assize_servers', 'Live servers of the store, with this one.', () => router.members);
  gauge(
    'assize_forwarded_answered',
    'Requests that another server answered.',
    () => router.counts.answered,
  );
  gauge(
    'assize_forwarded_unanswered',
    'Requests that another server did not answer.',
    () => router.counts.unanswered,
  );
}
