import type { Forwarder } from './forwarder.ts';
import type { Members } from './members.ts';
import { ownerOf } from './owner-of.ts';

/** Requests that this process sent on, and those that it then answered itself. */
export interface ForwardCounts {
  readonly answered: number;
  readonly unanswered: number;
}

/**
 * Sends the writes of a trajectory to one of the live servers of a store, so that its writer keeps
 * the state in memory and meets no other writer. Without an answer this server writes itself: the
 * key of each routed request makes its repetition the same request.
 */
export class Router {
  readonly #members: Members;
  readonly #forwarder: Forwarder;
  #answered = 0;
  #unanswered = 0;

  constructor(members: Members, forwarder: Forwarder) {
    this.#members = members;
    this.#forwarder = forwarder;
  }

  get counts(): ForwardCounts {
    return { answered: this.#answered, unanswered: this.#unanswered };
  }

  /** Live servers, with this one. */
  get members(): number {
    return this.#members.others().length + 1;
  }

  /**
   * The answer of the server that writes the trajectory. Undefined: this server is to answer.
   *
   * @throws the reason of the signal
   */
  async forwarded(
    trajectoryId: string,
    request: Request,
    body: Uint8Array,
    signal: AbortSignal,
  ): Promise<Response | undefined> {
    const { id } = this.#members;
    const owner = ownerOf(trajectoryId, [...this.#members.others(), { id }]);
    if (owner === undefined || !('url' in owner)) return undefined;
    const response = await this.#forwarder.send(owner, request, body, signal);
    signal.throwIfAborted();
    this.#members.answered(owner.id, response !== undefined);
    if (response === undefined) this.#unanswered++;
    else this.#answered++;
    return response;
  }
}
