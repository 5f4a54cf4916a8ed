import {
  CliError,
  EXIT,
  type ExitCode,
  helpOptions,
  hidePasswordsIn,
  listenForSignals,
  OutputUnwritable,
  type Register,
  report,
  restorePrints,
  useFeatures,
  wrapHelp,
  writeTo,
} from '@assize/command';
import { Command } from 'commander';
import { type CommandWords, commandWords, parsedLine } from './command-words.ts';
import { FEATURES } from './features.ts';
import { installedVersion } from './files/installed-package.ts';

/** A command line: its name, its description, and its commands in the order of the help. */
export interface CommandLine {
  readonly name: string;
  readonly about: string;
  /** Each loader imports one command's module. Only the command that runs is loaded. */
  readonly commands: Readonly<Record<string, () => Promise<Register>>>;
}

/** The commands of `assize`: work first, then ledger, humans and audit. */
const COMMANDS: CommandLine['commands'] = {
  demo: async () => (await import('./commands/demo.ts')).demo,
  init: async () => (await import('./commands/init/index.ts')).init,
  domains: async () => (await import('./commands/domains.ts')).domains,
  serve: async () => (await import('./commands/serve.ts')).serve,
  token: async () => (await import('./commands/token.ts')).token,
  mcp: async () => (await import('./commands/mcp.ts')).mcp,
  hook: async () => (await import('./commands/hook.ts')).hook,
  api: async () => (await import('./commands/api.ts')).api,
  create: async () => (await import('./commands/create.ts')).create,
  propose: async () => (await import('./commands/propose.ts')).propose,
  run: async () => (await import('./commands/run.ts')).run,
  runs: async () => (await import('./commands/runs.ts')).runs,
  worker: async () => (await import('./commands/worker.ts')).worker,
  log: async () => (await import('./commands/log.ts')).log,
  show: async () => (await import('./commands/show.ts')).show,
  state: async () => (await import('./commands/state.ts')).state,
  verify: async () => (await import('./commands/verify.ts')).verify,
  backtest: async () => (await import('./commands/backtest.ts')).backtest,
  simulate: async () => (await import('./commands/simulate.ts')).simulateCommand,
  mine: async () => (await import('./commands/mine.ts')).mine,
  branch: async () => (await import('./commands/branch.ts')).branch,
  upgrade: async () => (await import('./commands/upgrade.ts')).upgrade,
  diff: async () => (await import('./commands/diff.ts')).diff,
  pending: async () => (await import('./commands/pending.ts')).pending,
  approve: async () => (await import('./commands/approve.ts')).approve,
  reject: async () => (await import('./commands/reject.ts')).reject,
  calls: async () => (await import('./commands/calls.ts')).calls,
  standing: async () => (await import('./commands/standing/index.ts')).standing,
  undo: async () => (await import('./commands/undo.ts')).undo,
  effects: async () => (await import('./commands/effects.ts')).effects,
  memory: async () => (await import('./commands/memory/index.ts')).memory,
  blast: async () => (await import('./commands/blast/index.ts')).blast,
  dependents: async () => (await import('./commands/dependents.ts')).dependents,
  oracle: async () => (await import('./commands/oracle.ts')).oracle,
  erase: async () => (await import('./commands/erase.ts')).erase,
  halt: async () => (await import('./commands/halt.ts')).halt,
  resume: async () => (await import('./commands/halt.ts')).resume,
  agents: async () => (await import('./commands/agents.ts')).agents,
  writ: async () => (await import('./commands/writ/index.ts')).writ,
  policy: async () => (await import('./commands/policy/index.ts')).policy,
  keys: async () => (await import('./commands/keys.ts')).keys,
  bundle: async () => (await import('./commands/bundle.ts')).bundle,
  archive: async () => (await import('./commands/archive.ts')).archive,
  backup: async () => (await import('./commands/backup.ts')).backup,
  restore: async () => (await import('./commands/restore.ts')).restore,
  store: async () => (await import('./commands/store/index.ts')).store,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  conformance: async () => (await import('./commands/conformance.ts')).conformance,
  bench: async () => (await import('./commands/bench.ts')).bench,
  ...Object.assign({}, ...FEATURES.map(({ commands }) => commands)),
  version: async () => (await import('./commands/version.ts')).version,
};

/** The command `assize`. */
export const ASSIZE: CommandLine = {
  name: 'assize',
  about: 'Agents propose, a kernel decides, one hash-chained ledger records it all.',
  commands: COMMANDS,
};

/** Runs one command line. Never throws: the function prints the error and returns the exit code. */
export async function run(args: readonly string[], commandLine: CommandLine = ASSIZE): Promise<ExitCode> {
  hidePasswordsIn([...args, process.env['ASSIZE_STORE'] ?? '']);
  listenForSignals();
  useFeatures(FEATURES);
  hearOfStreams();
  const idle = Promise.withResolvers<never>();
  const giveUp = (): void => idle.reject(neverAnswered());
  process.once('beforeExit', giveUp);
  try {
    process.exitCode = EXIT.ok;
    await Promise.race([parsed(commandWords(args), commandLine), idle.promise]);
    return process.exitCode;
  } catch (error) {
    return report(error, args.includes('--json'));
  } finally {
    process.off('beforeExit', giveUp);
    restorePrints();
  }
}

/** No work in this process can still answer, so the process would end here without a message. */
function neverAnswered(): CliError {
  return new CliError(
    'bad_input',
    'The command cannot finish, because a given module returned a promise that never settles. Fix the module; committed entries stay.',
  );
}

async function parsed(line: CommandWords, commandLine: CommandLine): Promise<void> {
  const made = await program(line.words, commandLine);
  await made.parseAsync(parsedLine(made, line), { from: 'user' });
}

async function program(words: readonly string[], { name, about, commands }: CommandLine): Promise<Command> {
  const program = new Command(name)
    .description(about)
    .version(installedVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'show the help of a command')
    .configureHelp(helpOptions)
    // Errors are reported in one place, as one sentence.
    .exitOverride()
    .configureOutput({ outputError: () => undefined, writeOut: (text) => void writeTo(process.stdout, text) });
  wrapHelp(program);
  for (const register of await Promise.all(wanted(words, commands).map((load) => load()))) register(program);
  return program;
}

/**
 * All commands, if the line starts with none: for the help, and for suggestions after an unknown
 * word.
 */
function wanted(words: readonly string[], commands: CommandLine['commands']): readonly (() => Promise<Register>)[] {
  if (words[0] === '--version') return [];
  const first = (words[0] === 'help' ? words[1] : words[0]) ?? '';
  const one = Object.hasOwn(commands, first) ? commands[first] : undefined;
  return one === undefined ? Object.values(commands) : [one];
}

/**
 * A reader that stops (`| head`) is not an error: `Output` notices and ends the work. Other write
 * errors are reported.
 */
function hearOfStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exit(report(new OutputUnwritable(error), false));
  });
  // The message can't be written anywhere, and the exit code still reports the command's outcome.
  process.stderr.on('error', () => undefined);
}
