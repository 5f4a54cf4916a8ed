import { type EntryRow, Replayer, type Store } from 'assize';
import type { PendingPayload } from 'assize/ledger';
import type { Command } from 'commander';
import { headOf, shortId } from '../entries.ts';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../options.ts';
import { dim, line } from '../printable.ts';
import { inSession, type Session, type SharedOptions } from '../session.ts';
import { shortTime } from '../summary.ts';
import { watchedStore } from '../watched-store.ts';

export function pending(program: Command): void {
  withSharedOptions(
    program
      .command('pending')
      .description('what waits for a person, oldest first in each trajectory')
      .argument('[trajectory]', 'default: all of the store'),
  )
    .addHelpText('after', 'Negative: a trajectory does not verify.')
    .action(
      inSession((session, _options: SharedOptions, trajectory?: string) =>
        session.withStore('readonly', async (store) => {
          const open = await openPendings(session, store, trajectory);
          session.progress.end();
          if (session.json) session.out.document({ pending: open });
          else print(session, open);
          return EXIT.ok;
        }),
      ),
    );
}

async function openPendings(session: Session, store: Store, trajectory: string | undefined) {
  if (trajectory !== undefined) await headOf(store, trajectory);
  const all = await store.trajectories();
  const chosen = trajectory === undefined ? all : all.filter(({ trajectory_id }) => trajectory_id === trajectory);
  const total = chosen.reduce((sum, { entries }) => sum + entries, 0);
  // Replayed, not just read: nobody should be asked to approve what was written in by hand.
  const replayer = new Replayer(
    watchedStore(store, session.interruption, (done) => session.progress.report('replaying entries', done, total)),
  );
  const open = [];
  for (const { trajectory_id } of chosen) {
    const { chain } = await replayer.replay(trajectory_id);
    for (const [id, payload] of chain.open) open.push(described(id, payload));
  }
  return open;
}

function described(id: EntryRow['id'], payload: PendingPayload) {
  const { trajectory_id, seq, at, proposal, digest, channel, reason, invariant_id, detail, freezes, expires } = payload;
  const { action, budget_cost } = proposal;
  return {
    id,
    trajectory_id,
    seq,
    at,
    action,
    budget_cost,
    digest,
    channel,
    reason,
    ...(invariant_id === undefined ? {} : { invariant_id }),
    detail,
    freezes,
    ...(expires === undefined ? {} : { expires }),
  };
}

function print({ out }: Session, open: readonly ReturnType<typeof described>[]): void {
  if (open.length === 0) {
    out.line(line`Nothing waits for a person.`);
    return;
  }
  out.table(
    [
      { title: 'pending' },
      { title: 'trajectory' },
      { title: 'seq', align: 'right' },
      { title: 'at' },
      { title: 'action' },
      { title: 'for' },
      { title: 'because' },
    ],
    open.map(({ id, trajectory_id, seq, at, action, channel, reason, invariant_id, detail }) => [
      shortId(id),
      trajectory_id,
      seq,
      shortTime(at),
      action.name,
      channel,
      `${invariant_id ?? reason}: ${detail}`,
    ]),
  );
  out.line(
    dim(
      line`assize show ID shows what would run; assize approve ID --as WHO, assize reject ID --as WHO --reason TEXT.`,
    ),
  );
}
