import { type LifeCycle, walkLifeCycle } from '#testing';

/**
 * Whether one of the walks reaches a step that must not be committed. All walks reach a depth
 * before any walk goes deeper: a fault is near the start of one walk, and another walk may be long.
 */
export function someFinds<State>(walks: readonly LifeCycle<State>[]): boolean {
  const deepest = Math.max(...walks.map(({ depth }) => depth));
  for (let depth = 1; depth <= deepest; depth++) {
    const reaching = walks.filter((life) => life.depth >= depth);
    if (reaching.some((life) => walkLifeCycle({ ...life, depth }).counterexample !== undefined))
      return true;
  }
  return false;
}
