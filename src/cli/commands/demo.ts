import type { Command } from 'commander';
import { EXIT } from '../errors.ts';
import { withSharedOptions } from '../files/options.ts';
import { inSession, type SharedOptions } from '../store/session.ts';
import { Printable } from '../terminal/printable.ts';
import { DEMO_STORE, runDemo } from './demo-story.ts';

export function demo(program: Command): void {
  withSharedOptions(
    program
      .command('demo')
      .description('the story of a patient: proposals, rulings, a doctor’s approval, and the ledger verified'),
    DEMO_STORE,
  )
    .addHelpText(
      'after',
      'Negative: something was not ruled as the story has it.\n' +
        'ASSIZE_STORE is not looked at, and a store with other trajectories is not told in.',
    )
    .action(
      inSession(async ({ json, out, storeUrl: store }, _options: SharedOptions) => {
        const { ok } = await runDemo({ store, json, out: (text) => out.line(new Printable(text)) });
        return ok ? EXIT.ok : EXIT.negative;
      }),
    );
}
