import {
  EXIT,
  inSession,
  POINT_HELP,
  pointOf,
  replayerOf,
  type Session,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { type Both, diffView } from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import type { EntryRow } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { type Divergence, divergenceOf, pages, summaryOf } from 'assize/internal/views';
import type { Command } from 'commander';
import { type PlacedSummary, printDiff } from '../render/diff-text.ts';

export function diff(program: Command): void {
  withSharedOptions(
    program
      .command('diff')
      .description(
        'compare two states (RFC 6902), and list the entries since their chains diverged',
      )
      .argument('<a>', 'a point')
      .argument('<b>', 'another point, of any trajectory'),
  )
    .addHelpText(
      'after',
      `Negative: the states differ, as with diff(1); or a trajectory does not verify.\n${POINT_HELP}`,
    )
    .action(
      inSession((session, _options: SharedOptions, a: string, b: string) =>
        session.withStore('readonly', async (store) => {
          const points = [await pointOf(store, a), await pointOf(store, b)] as const;
          const states = await statesAt(session, store, points);
          const divergence = await divergenceOf(store, ...points);
          const since = [
            await entriesOf(session, store, divergence, 0),
            await entriesOf(session, store, divergence, 1),
          ] as const;
          const found = diffView(points, states, divergence);
          session.progress.end();
          if (session.json) {
            const entries = found.after && { from: since[0], to: since[1] };
            session.out.document({ ...found, entries });
          } else
            printDiff(session.out, {
              ...{ points, divergence, since, patch: found.patch, before: states[0] },
            });
          return found.equal ? EXIT.ok : EXIT.negative;
        }),
      ),
    );
}

async function statesAt(
  session: Session,
  store: Store,
  points: Both<EntryRow>,
): Promise<Both<Json>> {
  const replayer = replayerOf(session, store);
  const stateAt = async ({ trajectory_id, id }: EntryRow) =>
    (await replayer.replay(trajectory_id, { until: id })).fold.state as Json;
  return [await stateAt(points[0]), await stateAt(points[1])];
}

/** The entries that only one side has. Empty for chains without a common entry. */
async function entriesOf(
  { interruption }: Session,
  store: Store,
  { after, sides }: Divergence,
  side: 0 | 1,
): Promise<PlacedSummary[]> {
  const entries: PlacedSummary[] = [];
  for (const { trajectoryId, from, to } of after === null ? [] : sides[side]) {
    for await (const rows of pages(store, trajectoryId, { from, limit: to - from + 1 })) {
      interruption.throwIfAborted();
      for (const row of rows) entries.push({ trajectory_id: trajectoryId, ...summaryOf(row) });
    }
  }
  return entries;
}
