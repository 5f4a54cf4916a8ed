import {
  EXIT,
  inSession,
  POINT_HELP,
  pointOf,
  type Session,
  type SharedOptions,
  watchedStore,
  withSharedOptions,
} from '@assize/command';
import type { Json } from 'assize/internal/base';
import { difference, type EntryRow, type Patch, Replayer } from 'assize/internal/ledger';
import type { Store } from 'assize/internal/stores';
import { type Divergence, divergenceOf, pages, type Span, summaryOf } from 'assize/internal/views';
import type { Command } from 'commander';
import { type Both, type PlacedSummary, printDiff } from '../render/diff-text.ts';

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
          const [before, after] = await statesAt(session, store, points);
          const divergence = await divergenceOf(store, ...points);
          const since = [
            await entriesOf(session, store, divergence, 0),
            await entriesOf(session, store, divergence, 1),
          ] as const;
          const patch = difference(before, after);
          session.progress.end();
          if (session.json) session.out.document(documentOf(points, divergence, since, patch));
          else printDiff(session.out, { points, divergence, since, patch, before });
          return patch.length === 0 ? EXIT.ok : EXIT.negative;
        }),
      ),
    );
}

async function statesAt(
  { interruption, progress }: Session,
  store: Store,
  points: Both<EntryRow>,
): Promise<Both<Json>> {
  const read = (done: number) => progress.report('replaying entries', done);
  const replayer = new Replayer(watchedStore(store, interruption, read));
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

function documentOf(
  points: Both<EntryRow>,
  { after, sides }: Divergence,
  since: Both<readonly PlacedSummary[]>,
  patch: readonly Patch[],
) {
  const first = ([span]: readonly Span[]) =>
    span === undefined ? null : { trajectory_id: span.trajectoryId, seq: span.from };
  return {
    a: named(points[0]),
    b: named(points[1]),
    equal: patch.length === 0,
    parted: { after: after && named(after), a: first(sides[0]), b: first(sides[1]) },
    entries: after && { a: since[0], b: since[1] },
    patch,
  };
}

function named({ trajectory_id, seq, id }: EntryRow) {
  return { trajectory_id, seq, entry_id: id };
}
