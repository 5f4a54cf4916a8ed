import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { Printable } from '../terminal/printable.ts';
import { DEMO_STORE, runDemo } from './demo-story.ts';

export function demo(program: Command): void {
  withSharedOptions(
    program.command('demo').description('run a sample story: proposals, rulings, an approval, and a verified ledger'),
    DEMO_STORE,
  )
    .addHelpText(
      'after',
      'Negative: a ruling differs from the story.\n' +
        'The command ignores ASSIZE_STORE, and refuses a store with other trajectories.',
    )
    .action(
      inSession(async ({ json, out, storeUrl: store }, _options: SharedOptions) => {
        const { ok } = await runDemo({ store, json, out: (text) => out.line(new Printable(text)) });
        return ok ? EXIT.ok : EXIT.negative;
      }),
    );
}
