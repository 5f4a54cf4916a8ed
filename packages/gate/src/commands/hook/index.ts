import {
  inSession,
  type Session,
  type StorelessOptions,
  upTo,
  withoutStore,
} from '@assize/command';
import { type Command, Option } from 'commander';
import { DEFAULTS, runHookLine, WAIT_SECONDS_MAX } from './hook-line.ts';

interface Options extends StorelessOptions {
  readonly url: string;
  readonly tokenFile: string;
  readonly trajectory: string;
  readonly wait: number;
}

interface GuardOptions extends StorelessOptions {
  readonly url: string;
  readonly sandbox?: string;
}

/** `assize hook`, as the help shows it. `main.ts` runs its commands without this program. */
export function hook(program: Command): void {
  const command = program
    .command('hook')
    .description('answer an event of the hooks of an agent program');
  withoutStore(
    command
      .command('codex')
      .description('answer the event of Codex on standard input; assize init codex installs it')
      .addOption(new Option('--url <url>', 'address of the server').default(DEFAULTS.url))
      .requiredOption(
        '--token-file <file>',
        'file with a token of the agent, which only its owner can read',
      )
      .option('--trajectory <id>', 'trajectory of the domain gateway', DEFAULTS.trajectory)
      .addOption(
        new Option('--wait <s>', 'seconds that a call waits for a person')
          .argParser(upTo(WAIT_SECONDS_MAX))
          .default(Number(DEFAULTS.wait)),
      ),
  )
    .addHelpText(
      'after',
      'A question that fails is refused: the exit code is 2, with the reason on standard error.',
    )
    .action(
      inSession((_: Session, { url, tokenFile, trajectory, wait }: Options) =>
        runHookLine(
          ['hook', 'codex', '--url', url, '--token-file', tokenFile].concat([
            '--trajectory',
            trajectory,
            '--wait',
            String(wait),
          ]),
        ),
      ),
    );
  withoutStore(
    command
      .command('claude-code')
      .description(
        'refuse a call of Claude Code unless Assize answers; assize init claude-code installs it',
      )
      .requiredOption('--url <url>', 'address of the server')
      .option('--sandbox <file>', 'settings file whose sandbox no other settings may open'),
  ).action(
    inSession((_: Session, { url, sandbox }: GuardOptions) =>
      runHookLine(
        ['hook', 'claude-code', '--url', url].concat(
          sandbox === undefined ? [] : ['--sandbox', sandbox],
        ),
      ),
    ),
  );
}
