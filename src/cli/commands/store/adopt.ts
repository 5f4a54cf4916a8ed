import type { Command } from 'commander';
import { wasImported } from '#ledger';
import { systemClock } from '#oracle';
import { CliError, EXIT } from '../../errors.ts';
import { withSharedOptions } from '../../files/options.ts';
import { inSession, type SharedOptions } from '../../store/session.ts';
import { line } from '../../terminal/printable.ts';

interface AdoptOptions extends SharedOptions {
  readonly reason: string;
}

export function adopt(program: Command): void {
  withSharedOptions(
    program
      .command('adopt')
      .description('let a copied store, or imported trajectories, call tools in place of the original')
      .argument('[trajectories...]', 'imported trajectories (default: the store itself, which is a copy)')
      .requiredOption('--reason <text>', 'reason, such as the end of the original'),
  )
    .addHelpText(
      'after',
      '\nExamples:\n  assize store adopt --reason "restored after a disk failure"\n  assize store adopt orders --reason "moved from the old server"\n\n' +
        'Retire the original first (assize store retire): two stores with the same entries make the same calls.\n' +
        'A file that was moved within its file system is no copy.',
    )
    .action(
      inSession(({ json, out, withStore }, { reason }: AdoptOptions, trajectories: readonly string[]) =>
        withStore('existing', async (store) => {
          const roots: string[] = [];
          for (const name of trajectories) {
            const [first] = await store.entries(name, { limit: 1 });
            if (first === undefined)
              throw new CliError('not_found', `The store has no trajectory ${name}. List them with assize log.`);
            if (!(await wasImported(store, first.id)))
              throw new CliError('usage', `The trajectory ${name} was not imported. It needs no adoption.`);
            roots.push(first.id);
          }
          const adoption = { at: systemClock.now(), reason };
          await store.adopt(roots.length === 0 ? adoption : { ...adoption, roots });
          if (json) out.document({ ...adoption, trajectories });
          else if (roots.length === 0) out.line(line`Adopted: this store calls tools from now on.`);
          else out.line(line`Adopted: this store calls the tools of ${trajectories.join(', ')} from now on.`);
          return EXIT.ok;
        }),
      ),
    );
}
