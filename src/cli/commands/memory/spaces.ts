import type { Command } from 'commander';
import { EXIT } from '../../errors.ts';
import { isErasedText } from '../../fact-text.ts';
import { withSharedOptions } from '../../options.ts';
import { dim, line } from '../../printable.ts';
import { inSession, type SharedOptions } from '../../session.ts';

export function spaces(command: Command): void {
  withSharedOptions(command.command('spaces').description('the spaces that have facts'))
    .addHelpText('after', '\nExample:\n  assize memory spaces --json')
    .action(
      inSession((session, _options: SharedOptions) =>
        session.withStore('readonly', async (store) => {
          const names = await store.spaces();
          if (session.json) session.out.document({ spaces: names });
          else if (names.length === 0) session.out.line(line`Nothing is remembered in this store.`);
          else
            for (const name of names)
              session.out.line(isErasedText(name) ? dim(line`${name} (was erased)`) : line`${name}`);
          return EXIT.ok;
        }),
      ),
    );
}
