import { EXIT, inSession, Printable, type SharedOptions, withSharedOptions } from '@assize/command';
import type { Command } from 'commander';
import { DEMO_STORE, runDemo } from '../tour/demo.ts';

export function demo(program: Command): void {
  withSharedOptions(
    program
      .command('demo')
      .description('run a sample story: rulings, approvals, payments by a tool, a verified ledger'),
    DEMO_STORE,
  )
    .addHelpText(
      'after',
      'Negative: an outcome differs from the story.\n' +
        'The command ignores ASSIZE_STORE, and refuses a store with other trajectories.',
    )
    .action(
      inSession(async ({ json, out, storeUrl: store, interruption }, _options: SharedOptions) => {
        const print = (text: string): void => out.line(new Printable(text));
        const { ok } = await runDemo({ store, json, out: print, interruption });
        return ok ? EXIT.ok : EXIT.negative;
      }),
    );
}
