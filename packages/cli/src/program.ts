import {
  CliError,
  EXIT,
  type ExitCode,
  type Feature,
  helpOptions,
  hidePasswordsIn,
  installedVersion,
  listenForSignals,
  listing,
  OutputUnwritable,
  type Register,
  report,
  restorePrints,
  useFeatures,
  wrapHelp,
  writeTo,
} from '@assize/command';
import { Command, Help } from 'commander';
import { COMMAND_GROUPS } from './command-groups.ts';
import { type CommandWords, commandWords, parsedLine } from './command-words.ts';
import { FEATURES } from './features.ts';

/** A command line: its name, its description, and its commands as those of a feature. */
export interface CommandLine {
  readonly name: string;
  readonly about: string;
  /** Each loader imports one command's module. Only the command that runs is loaded. */
  readonly commands: NonNullable<Feature['commands']>;
  /** The commands of the help by group. Default: all, in one list. */
  readonly groups?: Readonly<Record<string, readonly string[]>>;
}

/** The command `assize`. */
export const ASSIZE: CommandLine = {
  name: 'assize',
  about: 'Agents propose, a kernel decides, one hash-chained ledger records it all.',
  commands: Object.assign({}, ...FEATURES.map(({ commands }) => commands)),
  groups: COMMAND_GROUPS,
};

/** Runs one command line. Never throws: the function prints the error and returns the exit code. */
export async function run(
  args: readonly string[],
  commandLine: CommandLine = ASSIZE,
): Promise<ExitCode> {
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

/** The program with the commands that the words need: all, if they name none. */
export async function program(
  words: readonly string[],
  { name, about, commands, groups }: CommandLine,
): Promise<Command> {
  const program = new Command(name)
    .description(about)
    .version(installedVersion(), '--version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand('help [command...]', 'show the help of a command')
    .configureHelp(helpOptions)
    // Errors are reported in one place, as one sentence.
    .exitOverride()
    .configureOutput({
      outputError: () => undefined,
      writeOut: (text) => void writeTo(process.stdout, text),
    });
  wrapHelp(program);
  const loaded = wanted(words, commands).map(async ([path, load]) => ({
    group: groupOf(path),
    register: await load(),
  }));
  const registers = await Promise.all(loaded);
  for (const { register } of registers.filter(({ group }) => group === undefined))
    register(program);
  for (const { group, register } of registers)
    if (group !== undefined)
      register(program.commands.find((command) => command.name() === group)!);
  // Options after the name of a command in a group are its own, also those that both have.
  for (const command of [program, ...program.commands]) command.enablePositionalOptions();
  if (groups !== undefined) grouped(program, groups, words.includes('--all'));
  return program;
}

/** Groups the commands in the help, and leaves the others out of it unless all are asked for. */
function grouped(
  program: Command,
  groups: NonNullable<CommandLine['groups']>,
  isAll: boolean,
): void {
  const order = Object.values(groups).flat();
  const placeOf = (command: Command): number =>
    order.indexOf(command.name()) + 1 || order.length + 1;
  // The library shows the groups in the order of their first commands.
  (program.commands as Command[]).sort((one, other) => placeOf(one) - placeOf(other));
  for (const command of program.commands) {
    const [group = 'More:'] =
      Object.entries(groups).find(([, names]) => names.includes(command.name())) ?? [];
    command.helpGroup(group);
  }
  if (isAll) return;
  const more = new Help()
    .visibleCommands(program)
    .filter((command) => ![...order, 'help'].includes(command.name()));
  program
    .configureHelp(listing((one) => !more.includes(one)))
    .addHelpText('after', `\n${more.length} more commands: ${program.name()} help --all.`);
}

/**
 * All commands, if the line starts with none: for the help, and for suggestions after an unknown
 * word. A completion has all of them too.
 */
function wanted(
  words: readonly string[],
  commands: CommandLine['commands'],
): [string, () => Promise<Register>][] {
  if (words[0] === '--version') return [];
  const first = (words[0] === 'help' ? words[1] : words[0]) ?? '';
  const all = Object.entries(commands);
  const named = all.filter(([path]) => path === first || groupOf(path) === first);
  return named.length === 0 || first === 'completion' ? all : named;
}

/** The group of a command: the first word of its name. */
function groupOf(path: string): string | undefined {
  return path.includes(' ') ? path.split(' ')[0] : undefined;
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
