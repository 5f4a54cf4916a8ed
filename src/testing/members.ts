import { type Claim, claimsText, readClaim, readClaims, SharedWork } from '#effects';
import type { Happening, Membership, Said } from '#ledger';

// Members of those who share effects, for tests of stores: each keeps what it has heard, and says to what that comes.

/** No lease of the test is over before the test is. */
export const LONG_MS = 600_000;

/** So short that a law can wait until it is over. */
export const SHORT_MS = 100;

/** A membership that keeps all that was heard. */
export class Member {
  readonly membership: Membership;
  readonly heard: Happening[] = [];

  constructor(membership: Membership) {
    this.membership = membership;
  }

  get fence(): number {
    return this.membership.fence;
  }

  /** What is new to it, what was said here last; undefined when the membership has ended. */
  async say(...said: readonly Said[]): Promise<readonly Happening[] | undefined> {
    return this.#exchange(said, false);
  }

  /** As `say`, and takes over what is of members that have ended. */
  async look(...said: readonly Said[]): Promise<readonly Happening[] | undefined> {
    return this.#exchange(said, true);
  }

  /** Begins work there, and answers with its epoch. */
  async begin(...scopes: readonly string[]): Promise<number> {
    const last = (await this.say(begun(...scopes)))?.at(-1);
    if (last?.is !== 'begun') throw new Error(`it was to begin, and heard ${JSON.stringify(last)}`);
    return last.epoch;
  }

  async #exchange(said: readonly Said[], look: boolean): Promise<readonly Happening[] | undefined> {
    const news = await this.membership.exchange(this.heard.at(-1)?.seq ?? 0, said, look);
    this.heard.push(...(news ?? []));
    return news;
  }
}

export function begun(...scopes: readonly string[]): Said {
  return { is: 'begun', claims: claimsAt(...scopes) };
}

/** The text of claims to write there. */
export function claimsAt(...scopes: readonly string[]): string {
  return claimsText(scopes.map((scope) => readClaim('write', scope)));
}

/** Work that is live, by what was heard. */
export interface Live {
  readonly epoch: number;
  /** Whose it is to go on with; undefined where it waits for a person. */
  readonly fence: number | undefined;
  readonly claims: readonly string[];
  /** Whether somebody who comes there is told that it waits for a person. */
  readonly isInDoubt: boolean;
}

/** To what it comes that all this was heard, told in the view of somebody else and in that of each who is asked about. */
export function liveWork(heard: readonly Happening[], fences: readonly number[]): Live[] {
  const somebody = foldOf(heard, 0);
  const owners = new Map<number, number>();
  for (const fence of fences) for (const epoch of foldOf(heard, fence).mine()) owners.set(epoch, fence);
  const epochs = new Set(heard.flatMap((each) => ('epoch' in each ? [each.epoch] : [])));
  return [...epochs]
    .sort((a, b) => a - b)
    .flatMap((epoch) => {
      const work = somebody.workOf(epoch);
      if (work === undefined) return [];
      const isInDoubt = work.claims.length > 0 && work.claims.every((claim) => somebody.doubtAt(claim) !== undefined);
      const claims = work.claims.map(textOf).sort();
      return [{ epoch, fence: somebody.isLeft(epoch) ? undefined : owners.get(epoch), claims, isInDoubt }];
    });
}

function foldOf(heard: readonly Happening[], fence: number): SharedWork {
  const shared = new SharedWork(fence);
  for (const each of heard) hear(shared, each);
  return shared;
}

function hear(shared: SharedWork, each: Happening): void {
  switch (each.is) {
    case 'begun':
      shared.begun(each.epoch, each.fence, readClaims(each.claims));
      return;
    case 'resumed':
      // Its claims are in the log, which tests of stores fill with what is none.
      shared.begun(each.epoch, each.fence, []);
      return;
    case 'grown':
      shared.grown(each.epoch, readClaims(each.claims));
      return;
    case 'given':
      shared.given(each.epoch, readClaims(each.claims));
      return;
    case 'left':
      shared.leave(each.epoch, each.claims === undefined ? undefined : readClaims(each.claims));
      return;
    case 'own':
      shared.owned(each.epoch, each.fence);
      return;
    case 'ended':
      shared.ended(each.epoch);
      return;
    case 'taken':
      shared.taken(each.gone, each.fence);
  }
}

function textOf({ scope }: Claim): string {
  return scope.text;
}
