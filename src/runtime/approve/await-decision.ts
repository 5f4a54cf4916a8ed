import { requireForm } from '#base';
import { instantToMillis } from '#canon';
import { type Hash, type Instant, isHash, type PendingPayload, readRow } from '#ledger';
import { concluded, RuntimeError } from '../errors.ts';
import { type FinalRuling, rulingFrom } from '../records/ruling.ts';
import { AWAIT_OPTIONS, type AwaitOptions, lookAgainMs } from '../writer/await-options.ts';
import { TRIES_MAX } from '../writer/prepared.ts';
import type { Writer } from '../writer/writer.ts';
import type { Resolutions } from './approve.ts';

/** What became of something that was pending. */
export type PendingStatus =
  /** It waits still; under another id (`id`) when some of those who must approve it have done so. */
  | { readonly status: 'pending'; readonly id: Hash; readonly payload: PendingPayload }
  | { readonly status: 'resolved'; readonly ruling: FinalRuling }
  /** The trajectory gave its final answer first: nobody will decide it any more. */
  | { readonly status: 'void'; readonly answer: Hash };

/** What became of what waited, for who asked for it: in this process or another one, before or after they ask. */
export class Decisions {
  readonly #writer: Writer;
  readonly #resolutions: Resolutions;

  constructor(writer: Writer, resolutions: Resolutions) {
    this.#writer = writer;
    this.#resolutions = resolutions;
  }

  /** As the store has it now; from one approval to the next, where it takes several, to the last. */
  async statusOf(pendingId: Hash): Promise<PendingStatus> {
    if (!isHash(pendingId)) throw neverPending(this.#writer.id, pendingId);
    let id = pendingId;
    for (let tries = 0; tries < TRIES_MAX; tries++) {
      const found = await this.#look(id);
      if (found === undefined) continue;
      if (typeof found !== 'string') return found;
      id = found;
      tries = 0;
    }
    throw await this.#writer.lost();
  }

  async awaited(pendingId: Hash, options: AwaitOptions = {}): Promise<FinalRuling> {
    requireForm(AWAIT_OPTIONS, options, 'options');
    const { signal, until } = options;
    if (until !== undefined) instantToMillis(until);
    const writer = this.#writer;
    for (;;) {
      signal?.throwIfAborted();
      const moved = Promise.withResolvers<void>();
      // Before looking: what is decided meanwhile must not be missed.
      const leave = writer.decided.rest(moved.resolve);
      try {
        const found = await this.statusOf(pendingId);
        if (found.status === 'resolved') return found.ruling;
        if (found.status === 'void') throw concluded(writer.id, found.answer);
        signal?.throwIfAborted();
        const now = writer.now();
        if (until !== undefined && now >= until) throw stillPending(found.id, until);
        const { expires } = found.payload;
        if (expires !== undefined && now >= expires) await this.#resolutions.expireDue();
        else await this.#rest(moved.promise, now, [expires, until], signal);
      } finally {
        leave();
      }
    }
  }

  /** What became of it; the id of what goes on from it; undefined when memory turned out to be behind. */
  async #look(id: Hash): Promise<PendingStatus | Hash | undefined> {
    const writer = this.#writer;
    if (writer.stale) await writer.ready();
    // What memory has of it may be on its way to the disk yet, or lost on it.
    await writer.settled();
    if (writer.stale) return undefined;
    const { chain, ruled } = writer.parts;
    const seq = ruled.seqOf(id);
    if (seq !== undefined) return this.#resolvedAt(id, seq);
    if (await writer.isBehind()) return undefined;
    const open = chain.open.get(id);
    if (open !== undefined) return { status: 'pending', id, payload: structuredClone(open) };
    const row = await writer.context.store.resolve(id);
    const waited = row?.kind === 'pending_approval' && row.trajectory_id === writer.id;
    if (!waited) throw neverPending(writer.id, id);
    return chain.answered === undefined ? undefined : { status: 'void', answer: chain.answered };
  }

  async #resolvedAt(id: Hash, seq: number): Promise<PendingStatus | Hash | undefined> {
    const writer = this.#writer;
    const [row] = await writer.context.store.entries(writer.id, { from: seq, limit: 1 });
    const payload = row === undefined ? undefined : readRow(row).payload;
    if (row === undefined || payload === undefined || !('resolves' in payload) || payload.resolves !== id) {
      await writer.isBehind();
      return undefined;
    }
    if (payload.kind === 'pending_approval') return row.id;
    return { status: 'resolved', ruling: rulingFrom(row, payload) as FinalRuling };
  }

  /** Until something was decided here, or it is time to look what others have, or what the clock will bring. */
  async #rest(
    moved: Promise<void>,
    now: Instant,
    times: readonly (Instant | undefined)[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const over = new AbortController();
    const stop = (): void => over.abort();
    const [from, to] = lookAgainMs(now, times);
    // Its signal may live for long: it is left as it was.
    signal?.addEventListener('abort', stop);
    try {
      await Promise.race([moved, this.#writer.context.pause(from, to, over.signal)]);
    } finally {
      signal?.removeEventListener('abort', stop);
      stop();
    }
  }
}

function neverPending(trajectoryId: string, given: unknown): RuntimeError {
  const id = typeof given === 'string' ? given : `a thing of the type ${typeof given}`;
  return new RuntimeError(
    'never_pending',
    `Nothing was ever pending under ${id} in ${trajectoryId}; wait for what a proposal answers as pending.`,
    { evidence: { id, trajectory_id: trajectoryId } },
  );
}

function stillPending(id: Hash, until: Instant): RuntimeError {
  return new RuntimeError('still_pending', `Nobody had decided on ${id} by ${until}; wait again, or ask later.`, {
    evidence: { id, until },
    retryable: true,
  });
}
