import { type LedgerStore, type LogStore, Replayer } from 'assize/internal/ledger';
import type { Session } from './session.ts';
import { watchedStore } from './watched-store.ts';

/**
 * Replays trajectories for a command: Ctrl-C ends the replay, and a terminal shows its progress.
 * `total`: the number of entries, if it is known.
 */
export function replayerOf(
  { interruption, progress }: Pick<Session, 'interruption' | 'progress'>,
  store: LedgerStore & LogStore,
  total?: number,
): Replayer {
  const read = (done: number): void => progress.report('replaying entries', done, total);
  return new Replayer(watchedStore(store, interruption, read));
}
