import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import {
  CliError,
  EXIT,
  type ExitCode,
  inSession,
  repeatable,
  type Session,
  type StorelessOptions,
  withoutStore,
} from '@assize/command';
import type { Command } from 'commander';
import { type RulesPlace, rulesOptions, sandboxOfRules } from './profile-in-force.ts';
import { openSandbox, runtimeConfig } from './runtime.ts';

interface Options extends StorelessOptions, RulesPlace {
  readonly agent?: string;
  readonly show?: boolean;
  readonly env: readonly string[];
}

/** `assize run-in-sandbox -- COMMAND`: the operating system holds the command to the rules. */
export function runInSandbox(program: Command): void {
  const command = program
    .command('run-in-sandbox')
    .description('run a command in a sandbox: it reads, writes and reaches what the rules let it')
    .argument('[command...]', 'the command, after --')
    .option('--agent <name>', 'only the rules for this agent count')
    .option('--show', 'only print the settings of the sandbox')
    .addOption(repeatable('--env <name>', 'variable of the environment that the command gets'));
  for (const option of rulesOptions()) command.addOption(option);
  withoutStore(command)
    .addHelpText(
      'after',
      '\nExample:\n  assize run-in-sandbox --rules assize.yaml -- npm test\n\n' +
        'The exit code is that of the command. Without a sandbox on this system nothing is run.',
    )
    .action(inSession(run));
}

async function run(
  session: Session,
  options: Options,
  words: readonly string[],
): Promise<ExitCode> {
  const { agent, show = false } = options;
  if (words.length === 0 && !show) throw new CliError('usage', 'Name the command after --.');
  const { profile, project } = await sandboxOfRules(options, { agent });
  if (show) {
    session.out.document(runtimeConfig(profile, process.platform));
    return EXIT.ok;
  }
  const sandbox = await openSandbox(profile, project);
  try {
    const { program, args, env } = await sandbox.wrap(words, options.env);
    return await ended(spawn(program, args, { env, stdio: 'inherit' }), session.interruption);
  } finally {
    await sandbox.close();
  }
}

function ended(child: ReturnType<typeof spawn>, interruption: AbortSignal): Promise<ExitCode> {
  const { promise, resolve, reject } = Promise.withResolvers<ExitCode>();
  interruption.addEventListener('abort', () => child.kill('SIGTERM'), { once: true });
  child.once('error', reject);
  child.once('exit', (code, signal) =>
    resolve(code ?? 128 + constants.signals[signal ?? 'SIGKILL']),
  );
  return promise;
}
