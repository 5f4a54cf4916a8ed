import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  EXIT,
  inSession,
  line,
  type StorelessOptions,
  withoutStore,
  writeNew,
} from '@assize/command';
import { systemClock } from 'assize/internal/oracle';
import { Argument, type Command, Option } from 'commander';
import { observedUntil } from '../init/own-server.ts';
import { firstRules } from '../init/server-files.ts';

/** The sets of rules to begin with, each with its cases. */
export const SETS = ['coding', 'payments', 'database', 'mail', 'cloud'] as const;

interface Options extends StorelessOptions {
  readonly file: string;
}

export function init(command: Command): void {
  withoutStore(
    command
      .command('init')
      .description('write a set of rules to begin with, and its cases; it observes for two weeks')
      .addArgument(new Argument('<set>', 'rules for an agent of this kind').choices(SETS))
      .addOption(new Option('--file <file>', 'the new rules file').default('assize.yaml')),
  )
    .addHelpText(
      'after',
      '\nExample:\n  assize rules init payments\n  assize policy test assize.yaml\n\n' +
        'The names of servers, tools and arguments are examples: write those of your tools.',
    )
    .action(
      inSession(async ({ json, out }, { file }: Options, set: string) => {
        writeNew([[file, observing(setText(set))]], false);
        if (json) out.document({ file, set });
        else
          out.line(
            line`${file} has the rules ${set}. Try their cases with assize policy test ${file}.`,
          );
        return EXIT.ok;
      }),
    );
}

/** The text of a set. That for coding has the rules of the hooks, and its file only their cases. */
export function setText(set: string): string {
  const text = readFileSync(join(import.meta.dirname, 'sets', `${set}.yaml`), 'utf8');
  return set === 'coding' ? firstRules('${project}') + text : text;
}

function observing(text: string): string {
  const until = observedUntil(systemClock.now());
  return text.replace(/^id: .*\n/m, (id) => `${id}mode: observe\nuntil: ${until}\n`);
}
