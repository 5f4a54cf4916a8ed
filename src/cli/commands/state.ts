import { Replayer } from 'assize';
import { type Json, parsePointer } from 'assize/canon';
import type { Command } from 'commander';
import { entryAt, headOf } from '../entries.ts';
import { CliError, EXIT } from '../errors.ts';
import { count, withSharedOptions } from '../options.ts';
import { inSession, type SharedOptions } from '../session.ts';
import { watchedStore } from '../watched-store.ts';

interface Options extends SharedOptions {
  readonly at?: number;
  readonly pointer?: string;
}

export function state(program: Command): void {
  withSharedOptions(
    program
      .command('state')
      .description('the state that a trajectory folds into, verified on the way')
      .argument('<trajectory>')
      .option('--at <seq>', 'after this entry instead of the last', count)
      .option('--pointer </path>', 'only the part at this JSON pointer'),
  )
    .addHelpText('after', 'Negative: the trajectory does not verify, so it has no state.')
    .action(
      inSession((session, { at, pointer = '' }: Options, trajectory: string) => {
        const keys = parsePointer(pointer);
        return session.withStore('readonly', async (store) => {
          const entry = await (at === undefined ? headOf(store, trajectory) : entryAt(store, trajectory, at));
          const { interruption, progress } = session;
          const read = (done: number) => progress.report('replaying entries', done, entry.seq + 1);
          const replayer = new Replayer(watchedStore(store, interruption, read));
          const { fold } = await replayer.replay(trajectory, { until: entry.id });
          progress.end();
          const value = part(fold.state as Json, keys, pointer);
          const { json, out } = session;
          out.document(
            json ? { trajectory_id: trajectory, seq: entry.seq, entry_id: entry.id, pointer, state: value } : value,
          );
          return EXIT.ok;
        });
      }),
    );
}

function part(state: Json, keys: readonly string[], pointer: string): Json {
  let here: Json | undefined = state;
  for (const key of keys) {
    here =
      typeof here === 'object' && here !== null && Object.hasOwn(here, key)
        ? (here as { readonly [key: string]: Json })[key]
        : undefined;
    if (here === undefined) throw new CliError('not_found', `The state has nothing at ${pointer}.`);
  }
  return here as Json;
}
