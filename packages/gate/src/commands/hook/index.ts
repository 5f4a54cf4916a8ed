import {
  inSession,
  type Session,
  type StorelessOptions,
  upTo,
  withoutStore,
} from '@assize/command';
import { type Command, Option } from 'commander';
import { OPTIONS, optionOf } from '../init/agents/hook-command.ts';
import { DEFAULTS, runHookLine, WAIT_SECONDS_MAX } from './hook-line.ts';

/** `assize hook`, as the help shows it. `main.ts` runs its commands without this program. */
export function hook(program: Command): void {
  const command = program
    .command('hook', { hidden: true })
    .description('answer an event of the hooks of an agent program');
  for (const [agent, name] of [
    ['codex', 'Codex'],
    ['claude-code', 'Claude Code'],
  ] as const) {
    const one = command
      .command(agent)
      .description(`answer the event of ${name} on standard input; assize init installs it`)
      .addOption(new Option('--url <url>', 'address of the server').default(DEFAULTS.url))
      .option(
        '--token-file <file>',
        'file with a token of the agent, readable only by its owner (default: ASSIZE_TOKEN)',
      )
      .option(
        '--rules <file>',
        'rules file of a server of this machine: calls that it only observes go on without the server',
      )
      .option('--trajectory <id>', 'trajectory of the domain gateway', DEFAULTS.trajectory)
      .addOption(
        new Option('--wait <s>', 'seconds that a call waits for a person')
          .argParser(upTo(WAIT_SECONDS_MAX))
          .default(Number(DEFAULTS.wait)),
      )
      .option('--sandbox <file>', 'settings file whose sandbox nothing else may open')
      .option('--sandbox-digest <digest>', 'of the rules that the sandbox follows');
    if (agent === 'claude-code')
      one
        .option('--pending <answer>', 'the answer after the wait: deny or defer')
        .option('--confirm <calls>', 'calls that the person at the terminal confirms too');
    withoutStore(one)
      .addHelpText(
        'after',
        'A question that fails is refused: the exit code is 2, with the reason on standard error.',
      )
      .action(
        inSession((_: Session, options: StorelessOptions) => {
          const words = Object.entries(options).flatMap(([option, value]) =>
            NAMES.includes(option) ? [optionOf(option), String(value)] : [],
          );
          return runHookLine(['hook', agent, ...words]);
        }),
      );
  }
}

const NAMES: readonly string[] = OPTIONS;
