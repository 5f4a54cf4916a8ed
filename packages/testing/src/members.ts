import { type Claim, claimsText, readClaim, readClaims, SharedWork } from 'assize/internal/effects';
import type { Membership, MembershipEvent, OrderedEvent } from 'assize/internal/ledger';

// Group members of a shared effect log, for tests of stores. Each member stores the applied events
// and derives the live work.

/** No lease ends before its test ends. */
export const LONG_MS = 600_000;

/** Short enough for a law to wait until the lease is over. */
export const SHORT_MS = 100;

/** A membership that stores all applied events. */
export class Member {
  readonly membership: Membership;
  readonly heard: OrderedEvent[] = [];

  constructor(membership: Membership) {
    this.membership = membership;
  }

  get fence(): number {
    return this.membership.fence;
  }

  /**
   * Publishes events and returns the new ones, its own last. Undefined if the membership has ended.
   */
  async say(...said: readonly MembershipEvent[]): Promise<readonly OrderedEvent[] | undefined> {
    return this.#exchange(said, false);
  }

  /** Same as `say`, and adopts the work of ended members. */
  async look(...said: readonly MembershipEvent[]): Promise<readonly OrderedEvent[] | undefined> {
    return this.#exchange(said, true);
  }

  /** Starts work on the scopes, and returns its epoch. */
  async begin(...scopes: readonly string[]): Promise<number> {
    const last = (await this.say(startedEvent(...scopes)))?.at(-1);
    if (last?.is !== 'begun')
      throw new Error(`it expected to begin, but received ${JSON.stringify(last)}`);
    return last.epoch;
  }

  async #exchange(
    said: readonly MembershipEvent[],
    look: boolean,
  ): Promise<readonly OrderedEvent[] | undefined> {
    const news = await this.membership.exchange(this.heard.at(-1)?.seq ?? 0, said, look);
    this.heard.push(...(news ?? []));
    return news;
  }
}

export function startedEvent(...scopes: readonly string[]): MembershipEvent {
  return { is: 'begun', claims: claimsAt(...scopes) };
}

/** The canonical text of write claims on the scopes. */
export function claimsAt(...scopes: readonly string[]): string {
  return claimsText(scopes.map((scope) => readClaim('write', scope)));
}

/** Live work, according to the applied events. */
export interface Live {
  readonly epoch: number;
  /** The fence of the owner. Undefined if the work needs a human decision. */
  readonly fence: number | undefined;
  readonly claims: readonly string[];
  /** Whether other work on its scopes is refused until the human decision. */
  readonly isInDoubt: boolean;
}

/**
 * The live work that the events give, from the view of another process and of each given member.
 */
export function liveWork(heard: readonly OrderedEvent[], fences: readonly number[]): Live[] {
  const somebody = foldOf(heard, 0);
  const owners = new Map<number, number>();
  for (const fence of fences)
    for (const epoch of foldOf(heard, fence).ownEpochs()) owners.set(epoch, fence);
  const epochs = new Set(heard.flatMap((each) => ('epoch' in each ? [each.epoch] : [])));
  return [...epochs]
    .sort((a, b) => a - b)
    .flatMap((epoch) => {
      const work = somebody.workOf(epoch);
      if (work === undefined) return [];
      const isInDoubt =
        work.claims.length > 0 &&
        work.claims.every((claim) => somebody.doubtAt(claim) !== undefined);
      const claims = work.claims.map(textOf).sort();
      return [
        {
          epoch,
          fence: somebody.isParked(epoch) ? undefined : owners.get(epoch),
          claims,
          isInDoubt,
        },
      ];
    });
}

function foldOf(heard: readonly OrderedEvent[], fence: number): SharedWork {
  const shared = new SharedWork(fence);
  for (const each of heard) hear(shared, each);
  return shared;
}

function hear(shared: SharedWork, each: OrderedEvent): void {
  switch (each.is) {
    case 'begun':
      shared.register(each.epoch, each.fence, readClaims(each.claims));
      return;
    case 'resumed':
      // Its claims are in the log. Tests of stores fill it with placeholders.
      shared.register(each.epoch, each.fence, []);
      return;
    case 'grown':
      shared.claim(each.epoch, readClaims(each.claims));
      return;
    case 'given':
      shared.release(each.epoch, readClaims(each.claims));
      return;
    case 'left':
      shared.park(each.epoch, each.claims === undefined ? undefined : readClaims(each.claims));
      return;
    case 'own':
      shared.adopt(each.epoch, each.fence);
      return;
    case 'ended':
      shared.end(each.epoch);
      return;
    case 'taken':
      shared.reassign(each.gone, each.fence);
  }
}

function textOf({ scope }: Claim): string {
  return scope.text;
}
