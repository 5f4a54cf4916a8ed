import { type EntryRow, Replayer, type Store } from 'assize';
import { canonicalize, type Json, WORLD_LIMITS } from 'assize/canon';
import type { Patch } from 'assize/ledger';
import type { Command } from 'commander';
import { entryAt, headOf, shortId } from '../entries.ts';
import { EXIT } from '../errors.ts';
import { difference } from '../json-diff.ts';
import { type Parting, partingOf } from '../lineage.ts';
import { withSharedOptions } from '../options.ts';
import { dim, green, line, type Printable, red, yellow } from '../printable.ts';
import { inSession, type SharedOptions } from '../session.ts';
import { watchedStore } from '../watched-store.ts';

/** Longest value that is shown whole in text; --json has all of it. */
const SHOWN_MAX = 200;

export function diff(program: Command): void {
  withSharedOptions(
    program
      .command('diff')
      .description('what leads from one state to another (RFC 6902), and where the chains part')
      .argument('<a>', 'a trajectory, or trajectory@seq')
      .argument('<b>', 'another one'),
  )
    .addHelpText('after', 'Negative: the states differ, as with diff(1); or a trajectory does not verify.')
    .action(
      inSession((session, _options: SharedOptions, a: string, b: string) =>
        session.withStore('readonly', async (store) => {
          const [left, right] = [await placeOf(store, a), await placeOf(store, b)];
          const replayer = new Replayer(
            watchedStore(store, session.interruption, (done) => session.progress.report('replaying entries', done)),
          );
          const before = await replayer.replay(left.trajectory_id, { until: left.id });
          const after = await replayer.replay(right.trajectory_id, { until: right.id });
          const patch = difference(before.fold.state as Json, after.fold.state as Json);
          const parting = await partingOf(store, left, right);
          session.progress.end();
          const { json, out } = session;
          if (json)
            out.document({
              a: named(left),
              b: named(right),
              equal: patch.length === 0,
              parted: parted(parting),
              patch,
            });
          else for (const text of described(left, right, parting, patch)) out.line(text);
          return patch.length === 0 ? EXIT.ok : EXIT.negative;
        }),
      ),
    );
}

/** A trajectory's head, or the entry at `@seq`; a trajectory whose name ends like that comes first. */
async function placeOf(store: Store, text: string): Promise<EntryRow> {
  const [, name, seq] = /^(.+)@(\d+)$/.exec(text) ?? [];
  if (name === undefined || (await store.head(text)) !== undefined) return headOf(store, text);
  await headOf(store, name);
  return entryAt(store, name, Number(seq));
}

function named({ trajectory_id, seq, id }: EntryRow) {
  return { trajectory_id, seq, entry_id: id };
}

function parted({ after, first: [a, b] }: Parting) {
  const place = (stretch: Parting['first'][0]) => stretch && { trajectory_id: stretch.trajectoryId, seq: stretch.seq };
  return { after: after && named(after), a: place(a), b: place(b) };
}

function* described(left: EntryRow, right: EntryRow, parting: Parting, patch: readonly Patch[]): Generator<Printable> {
  const { after, first } = parting;
  yield after === null
    ? line`The chains have no entry in common; they differ from seq 0.`
    : line`The chains are one up to ${after.trajectory_id} seq ${after.seq} (${shortId(after.id)}).`;
  for (const [i, row] of [left, right].entries()) {
    const next = first[i];
    if (after === null) continue;
    const place = next?.trajectoryId === row.trajectory_id ? '' : ` of ${next?.trajectoryId}`;
    yield next
      ? line`${row.trajectory_id} goes its own way from seq ${next.seq}${place}.`
      : line`${row.trajectory_id} has nothing beyond it.`;
  }
  if (patch.length === 0) yield green('The states are equal.');
  for (const operation of patch) yield operationText(operation);
}

function operationText(patch: Patch): Printable {
  if (patch.op === 'remove') return line`${red('remove ')} ${patch.path || '(all)'}`;
  const text = canonicalize(patch.value, WORLD_LIMITS);
  const more = text.length > SHOWN_MAX ? dim(` … ${text.length - SHOWN_MAX} more characters`) : '';
  const op = patch.op === 'add' ? green('add    ') : yellow('replace');
  return line`${op} ${patch.path || '(all)'} ${text.slice(0, SHOWN_MAX)}${more}`;
}
