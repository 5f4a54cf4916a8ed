import { rounded } from './bm25.ts';

/** The weights of facts nearby, from 0. */
export interface NearbyWeights {
  /** Of the matching facts of the same day that were recorded next to it. Default 0.35. */
  readonly neighbours?: number;
  /** Of the best facts of the same day. Default 0.5. */
  readonly session?: number;
}

/** A ranked item and its place in a conversation. */
export interface Placed {
  readonly score: number;
  /** The day that the item is about. Empty: the item has no session. */
  readonly day: string;
  /** The time of its recording, as text that sorts by time. Equal: recorded together. */
  readonly recorded: string;
}

/** The default weights, chosen on dialogues of several sessions. */
export const NEARBY_WEIGHTS: Required<NearbyWeights> = { neighbours: 0.35, session: 0.5 };
/** The facts that make a session's score. */
const BEST = 5;

/**
 * Ranks by what stands nearby in a conversation. A session is the items of one day. The new score
 * of an item is
 *
 * score + neighbours · (before + after) + session · mean of the best five scores of its session
 *
 * `before` and `after` are the best scores of the items recorded next to it among the items of its
 * session; 0 if there are none. Items that were recorded together are not neighbours, because their
 * order is unknown. Best first; equal scores keep their order. Scores are rounded to six decimals.
 */
export function rankNearby<T extends Placed>(
  items: readonly T[],
  weights: NearbyWeights = {},
): { readonly item: T; readonly score: number }[] {
  const { neighbours = NEARBY_WEIGHTS.neighbours, session = NEARBY_WEIGHTS.session } = weights;
  const sessions = new Map<string, Session>();
  for (const [day, members] of Map.groupBy(items, ({ day }) => day))
    if (day !== '') sessions.set(day, sessionOf(members));
  return items
    .map((item) => {
      const { beside, mean } = sessions.get(item.day) ?? NO_SESSION;
      return {
        item,
        score: rounded(item.score + neighbours * (beside.get(item.recorded) ?? 0) + session * mean),
      };
    })
    .sort((a, b) => b.score - a.score);
}

interface Session {
  /** By time of recording: the sum of the best scores before and after. */
  readonly beside: ReadonlyMap<string, number>;
  readonly mean: number;
}

const NO_SESSION: Session = { beside: new Map(), mean: 0 };

function sessionOf(members: readonly Placed[]): Session {
  const best = new Map<string, number>();
  for (const { recorded, score } of members)
    best.set(recorded, Math.max(score, best.get(recorded) ?? score));
  const times = [...best.keys()].sort();
  const scoreAt = (n: number): number => best.get(times[n] ?? '') ?? 0;
  const beside = new Map(times.map((time, n) => [time, scoreAt(n - 1) + scoreAt(n + 1)]));
  const top = members
    .map(({ score }) => score)
    .sort((a, b) => b - a)
    .slice(0, BEST);
  return { beside, mean: top.reduce((sum, score) => sum + score, 0) / BEST };
}
