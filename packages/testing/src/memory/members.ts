import { unlessAborted } from 'assize/internal/base';
import type { Lease, Membership, MembershipEvent, OrderedEvent } from 'assize/internal/ledger';
import type { MemoryEffects } from './effects.ts';
import type { Leases } from './lease.ts';

interface Member {
  readonly leaseMs: number;
  /** The end of the membership's lease, by the clock of the process. */
  until: number;
  heard: number;
  listener: () => void;
}

/** `Omit` of `seq` from each member of the union. */
type Unplaced<T> = T extends { readonly seq: number } ? Omit<T, 'seq'> : never;

/**
 * The lease that excludes exclusive holders. All group members wait for it and hold it together.
 */
interface SharedLease {
  readonly tenure: Promise<Lease>;
  readonly giveUp: AbortController;
  /** The number of members, including callers that are joining. */
  count: number;
}

/**
 * The group members of a store in memory, and the events that they have published about active
 * transactions.
 */
export class Members {
  readonly #effects: MemoryEffects;
  readonly #tenures: Leases;
  readonly #inTurn: <T>(write: () => T) => Promise<T>;
  readonly #members = new Map<number, Member>();
  /** Without the events of ended transactions that every member has received. */
  #happened: OrderedEvent[] = [];
  #seq = 0;
  #lastEpoch = 0;
  #kept: SharedLease | undefined;
  /** The reason why no caller can join any more. */
  #end: Error | undefined;

  constructor(effects: MemoryEffects, tenures: Leases, inTurn: <T>(write: () => T) => Promise<T>) {
    this.#effects = effects;
    this.#tenures = tenures;
    this.#inTurn = inTurn;
  }

  async join(leaseMs: number, signal?: AbortSignal): Promise<Membership> {
    signal?.throwIfAborted();
    const kept = this.#keepOthersOut();
    let fence: number;
    try {
      await unlessAborted(kept.tenure, signal);
      fence = await this.#inTurn(() => this.#join(leaseMs));
    } catch (error) {
      this.#letOthersIn();
      throw error;
    }
    return {
      fence,
      exchange: (heard, said, look) => this.#inTurn(() => this.#exchange(fence, heard, said, look)),
      whyEnded: () => this.#end,
      onEvents: (listener) => {
        const member = this.#members.get(fence);
        if (member !== undefined) member.listener = listener;
      },
      release: () => this.#inTurn(() => this.#leave(fence)),
    };
  }

  /** Ends all memberships with the reason. No caller can join afterwards. */
  end(reason: Error): void {
    this.#end = reason;
    for (const fence of [...this.#members.keys()]) this.#lose(fence);
  }

  #keepOthersOut(): SharedLease {
    if (this.#kept === undefined) {
      const giveUp = new AbortController();
      // The lease has no fence: each member has its own fence.
      const tenure = this.#tenures.acquire(async () => ({ fence: 0, lastEpoch: 0 }), giveUp.signal);
      this.#kept = { tenure, giveUp, count: 0 };
    }
    this.#kept.count++;
    return this.#kept;
  }

  #letOthersIn(): void {
    const { tenure, giveUp } = this.#kept!;
    if (--this.#kept!.count > 0) return;
    this.#kept = undefined;
    giveUp.abort();
    tenure.then(
      ({ release }) => release(),
      () => undefined,
    );
  }

  #join(leaseMs: number): number {
    if (this.#end !== undefined) throw this.#end;
    // The first member ends the lease before it.
    const { fence, lastEpoch } =
      this.#members.size === 0 ? this.#effects.raise() : this.#effects.join();
    this.#lastEpoch = Math.max(this.#lastEpoch, lastEpoch);
    const member = {
      leaseMs,
      until: performance.now() + leaseMs,
      heard: 0,
      listener: () => undefined,
    };
    this.#members.set(fence, member);
    this.#takeOver(fence);
    const known = new Set(this.#happened.map((each) => ('epoch' in each ? each.epoch : undefined)));
    for (const { epoch } of this.#effects.open({}))
      if (!known.has(epoch)) this.#add({ is: 'resumed', fence, epoch });
    this.#tell(fence);
    return fence;
  }

  #exchange(
    fence: number,
    heard: number,
    said: readonly MembershipEvent[],
    look: boolean,
  ): readonly OrderedEvent[] | undefined {
    const member = this.#members.get(fence);
    if (member === undefined) return undefined;
    member.until = performance.now() + member.leaseMs;
    member.heard = heard;
    const before = this.#seq;
    if (look) this.#takeOver(fence);
    for (const each of said)
      this.#add(
        each.is === 'begun' ? { ...each, fence, epoch: ++this.#lastEpoch } : { ...each, fence },
      );
    if (look) this.#forget();
    if (this.#seq > before) this.#tell(fence);
    return this.#happened.filter(({ seq }) => seq > heard);
  }

  /** Ends a membership. Another member adopts its transactions immediately, if one exists. */
  #leave(fence: number): void {
    if (!this.#members.has(fence)) return;
    this.#part(fence);
    const now = performance.now();
    const heir = [...this.#members].find(([, { until }]) => until > now);
    if (heir === undefined) return;
    this.#takeOver(heir[0]);
    this.#tell(fence);
  }

  #part(fence: number): void {
    if (!this.#members.delete(fence)) return;
    this.#effects.part(fence);
    // The next member finds all open transactions in the log.
    if (this.#members.size === 0) this.#happened = [];
    this.#letOthersIn();
  }

  /** Ends the membership of a member that did not leave itself, and notifies that member. */
  #lose(fence: number): void {
    const { listener } = this.#members.get(fence)!;
    this.#part(fence);
    queueMicrotask(listener);
  }

  /** Adopts the transactions of ended members, and of members with an expired lease. */
  #takeOver(fence: number): void {
    const now = performance.now();
    for (const [other, { until }] of this.#members)
      if (other !== fence && until < now) this.#lose(other);
    const ended = this.#endedBy(Number.POSITIVE_INFINITY);
    const orphans = this.#happened.filter(
      (each) => 'epoch' in each && !ended.has(each.epoch) && !this.#members.has(each.fence),
    );
    const gone = new Set(orphans.map((each) => each.fence));
    const left = this.#leftBy(gone);
    // A later member receives these events as if the new owner had published them from the start.
    this.#happened = this.#happened.map((each) =>
      gone.has(each.fence) ? { ...each, fence } : each,
    );
    for (const each of gone) this.#add({ is: 'taken', fence, gone: each });
    // The transaction may have waited for a tool or for the store, and not for a human. The new
    // owner retries it, or marks it unresolved again.
    for (const epoch of left) this.#add({ is: 'own', fence, epoch });
  }

  /** The epochs last marked as unresolved by one of these members, and resumed by no member. */
  #leftBy(fences: ReadonlySet<number>): readonly number[] {
    const left = new Map<number, boolean>();
    for (const each of this.#happened) {
      if (each.is === 'left') left.set(each.epoch, fences.has(each.fence));
      else if (each.is === 'own' || each.is === 'ended') left.delete(each.epoch);
    }
    return [...left].flatMap(([epoch, isTheirs]) => (isTheirs ? [epoch] : []));
  }

  #forget(): void {
    const all = Math.min(...[...this.#members.values()].map(({ heard }) => heard));
    const ended = this.#endedBy(all);
    this.#happened = this.#happened.filter((each) =>
      each.is === 'taken' ? each.seq > all : each.seq > all || !ended.has(each.epoch),
    );
  }

  #endedBy(seq: number): ReadonlySet<number> {
    return new Set(
      this.#happened.flatMap((each) =>
        each.is === 'ended' && each.seq <= seq ? [each.epoch] : [],
      ),
    );
  }

  #add(happened: Unplaced<OrderedEvent>): void {
    this.#happened.push({ ...happened, seq: ++this.#seq });
  }

  #tell(from: number): void {
    for (const [fence, { listener }] of this.#members) if (fence !== from) queueMicrotask(listener);
  }
}
