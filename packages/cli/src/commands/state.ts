import {
  CliError,
  dim,
  EXIT,
  inSession,
  isLong,
  line,
  type Output,
  outlineOf,
  POINT_HELP,
  placeIn,
  pointOf,
  replayerOf,
  type SharedOptions,
  withSharedOptions,
} from '@assize/command';
import { stateView, valueAt } from '@assize/command/operation';
import type { Json } from 'assize/internal/base';
import { parsePointer } from 'assize/internal/canon';
import type { Command } from 'commander';

interface Options extends SharedOptions {
  readonly at?: string;
  readonly pointer?: string;
}

export function state(program: Command): void {
  withSharedOptions(
    program
      .command('state')
      .description('print the verified state of a trajectory, at any point')
      .argument('<trajectory>', 'trajectory, or a point: TRAJECTORY@PLACE, or the id of an entry')
      .option(
        '--at <place>',
        'state after this entry: a seq, an id, or an instant (default: the last entry)',
      )
      .option('--pointer </path>', 'only the part at this JSON pointer'),
  )
    .addHelpText(
      'after',
      `Negative: the trajectory does not verify, so it has no state.\n${POINT_HELP}\n` +
        'A terminal shows the outline of a long state; --pointer, --json and a pipe print the values.',
    )
    .action(
      inSession((session, { at, pointer = '' }: Options, text: string) => {
        // An invalid pointer is refused before any read.
        parsePointer(pointer);
        return session.withStore('readonly', async (store) => {
          const entry = await (at === undefined ? pointOf(store, text) : placeIn(store, text, at));
          const { trajectory_id, seq, id } = entry;
          const replayer = replayerOf(session, store, seq + 1);
          const { fold } = await replayer.replay(trajectory_id, { until: id });
          session.progress.end();
          const value = sorted(part(fold.state as Json, pointer));
          const { json, out } = session;
          if (json) out.document(stateView(entry, pointer, value));
          else if (out.isTerminal && isLong(value)) outline(out, value, pointer);
          else out.document(value);
          return EXIT.ok;
        });
      }),
    );
}

function part(state: Json, pointer: string): Json {
  const found = valueAt(state, pointer);
  if (found === undefined)
    throw new CliError(
      'not_found',
      `The state has no value at ${pointer}. Pass another --pointer.`,
    );
  return found;
}

/** Sorted by name, so equal states print the same. A fold keeps the written order of its fields. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, member]): [string, Json] => [
    name,
    sorted(member),
  ]);
  return Object.fromEntries(members.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function outline(out: Output, value: Json, pointer: string): void {
  const { parts, more } = outlineOf(value, pointer);
  out.table(
    [{ title: 'part' }, { title: 'value' }],
    parts.map((one) => [one.pointer, one.what]),
  );
  if (more > 0) out.line(dim(line`and ${more.toLocaleString('en')} more`));
  out.line(
    dim(
      line`The state is long. --pointer ${parts[0]?.pointer ?? '/PART'} shows a part; --json, or a pipe, all of it.`,
    ),
  );
}
