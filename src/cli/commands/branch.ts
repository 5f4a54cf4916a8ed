import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { anchorsOption, domainOption, type OpeningOptions, withSharedOptions } from '../files/options.ts';
import { POINT_HELP, placeIn, pointOf } from '../input/points.ts';
import { shortId } from '../store/entries.ts';
import { openAssize } from '../store/runtime.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { line } from '../terminal/printable.ts';

interface Options extends SharedOptions, OpeningOptions {
  readonly note: string;
  readonly id?: string;
  readonly override?: boolean;
}

export function branch(program: Command): void {
  withSharedOptions(
    program
      .command('branch')
      .description('begin a trajectory from an entry of another one; the other one is not changed')
      .argument('<trajectory>', 'the source, or a point of it')
      .argument('[entry]', 'a commit of it, or its first entry: a place (default: its last entry)')
      .requiredOption('--note <text>', 'why: it is recorded')
      .option('--id <name>', 'its name (default: a random one)')
      .option('--override', 'also from a state that breaks invariants, which is then recorded')
      .addOption(domainOption)
      .addOption(anchorsOption),
  )
    .addHelpText('after', POINT_HELP)
    .action(
      inSession(({ json, out, storeUrl, withStore }, options: Options, point: string, place?: string) =>
        withStore('existing', async (store) => {
          const source = await (place === undefined ? pointOf(store, point) : placeIn(store, point, place));
          const { trajectory_id: trajectory } = source;
          const assize = await openAssize(store, storeUrl, options);
          const begun = await assize.branch(trajectory, source.id, {
            note: options.note,
            override: options.override === true,
            ...(options.id === undefined ? {} : { trajectoryId: options.id }),
          });
          if (json) {
            out.document({
              trajectory_id: begun.id,
              entry_id: begun.head,
              source: { trajectory_id: trajectory, seq: source.seq, entry_id: source.id },
            });
          } else out.line(line`${begun.id} begins with ${shortId(begun.head)}, from ${trajectory} seq ${source.seq}.`);
          await assize.close();
          return EXIT.ok;
        }),
      ),
    );
}
