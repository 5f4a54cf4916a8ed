import {
  EXIT,
  inSession,
  line,
  type OpeningOptions,
  POINT_HELP,
  placeIn,
  pointOf,
  type SharedOptions,
  withAssize,
  withOpeningOptions,
} from '@assize/command';
import { shortId } from 'assize/internal/views';
import type { Command } from 'commander';

interface Options extends SharedOptions, OpeningOptions {
  readonly note: string;
  readonly id?: string;
  readonly override?: boolean;
}

export function branch(program: Command): void {
  withOpeningOptions(
    program
      .command('branch')
      .description('create a trajectory that starts from an entry of another')
      .argument('<trajectory>', 'source trajectory, or a point of it')
      .argument('[entry]', 'place of a commit or of the first entry (default: the last entry)')
      .requiredOption('--note <text>', 'reason for the branch; recorded')
      .option('--id <name>', 'id of the branch (default: random)')
      .option('--override', 'branch even if the state fails an invariant; recorded'),
  )
    .addHelpText(
      'after',
      `${POINT_HELP}\nProposals on the branch call tools for real. A key that the source used later, or that still waits there, is new.`,
    )
    .action(
      inSession(
        ({ json, out, storeUrl, withStore }, options: Options, point: string, place?: string) =>
          withStore('existing', async (store) => {
            const source = await (place === undefined
              ? pointOf(store, point)
              : placeIn(store, point, place));
            const { trajectory_id: trajectory } = source;
            const begun = await withAssize(store, storeUrl, options, (assize) =>
              assize.branch(trajectory, source.id, {
                note: options.note,
                override: options.override === true,
                ...(options.id === undefined ? {} : { trajectoryId: options.id }),
              }),
            );
            if (json) {
              out.document({
                trajectory_id: begun.id,
                entry_id: begun.head,
                source: { trajectory_id: trajectory, seq: source.seq, entry_id: source.id },
              });
            } else
              out.line(
                line`${begun.id} starts with ${shortId(begun.head)}, from ${trajectory} seq ${source.seq}.`,
              );
            return EXIT.ok;
          }),
      ),
    );
}
