import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { CliError, EXIT, type ExitCode, report } from './errors.ts';
import { helpOptions, wrapHelp } from './help.ts';
import { listenForSignals } from './interrupt.ts';
import { OutputUnwritable, writeTo } from './output.ts';

type Register = (program: Command) => void;

/**
 * In the order of the help: the story, the work, the ledger, the people, the auditors. Only that which is called is loaded, since to load them
 * all takes longer than most of them.
 */
const COMMANDS: Readonly<Record<string, () => Promise<Register>>> = {
  demo: async () => (await import('./commands/demo.ts')).demo,
  domains: async () => (await import('./commands/domains.ts')).domains,
  ontology: async () => (await import('./commands/ontology/index.ts')).ontology,
  adjudicate: async () => (await import('./commands/adjudicate.ts')).adjudicate,
  log: async () => (await import('./commands/log.ts')).log,
  show: async () => (await import('./commands/show.ts')).show,
  state: async () => (await import('./commands/state.ts')).state,
  verify: async () => (await import('./commands/verify.ts')).verify,
  backtest: async () => (await import('./commands/backtest.ts')).backtest,
  branch: async () => (await import('./commands/branch.ts')).branch,
  diff: async () => (await import('./commands/diff.ts')).diff,
  pending: async () => (await import('./commands/pending.ts')).pending,
  approve: async () => (await import('./commands/approve.ts')).approve,
  reject: async () => (await import('./commands/reject.ts')).reject,
  effects: async () => (await import('./commands/effects.ts')).effects,
  memory: async () => (await import('./commands/memory/index.ts')).memory,
  derived: async () => (await import('./commands/derived.ts')).derived,
  oracle: async () => (await import('./commands/oracle.ts')).oracle,
  erase: async () => (await import('./commands/erase.ts')).erase,
  writ: async () => (await import('./commands/writ/index.ts')).writ,
  keys: async () => (await import('./commands/keys.ts')).keys,
  checkpoint: async () => (await import('./commands/checkpoint.ts')).checkpoint,
  prove: async () => (await import('./commands/prove.ts')).prove,
  audit: async () => (await import('./commands/audit.ts')).audit,
  fsck: async () => (await import('./commands/fsck.ts')).fsck,
  witness: async () => (await import('./commands/witness.ts')).witness,
  export: async () => (await import('./commands/export.ts')).exportCommand,
  import: async () => (await import('./commands/import.ts')).importCommand,
  faults: async () => (await import('./commands/faults.ts')).faults,
  anomalies: async () => (await import('./commands/anomalies.ts')).anomalies,
  bench: async () => (await import('./commands/bench.ts')).bench,
};

/** Runs one command line; never throws, and prints what there is to say. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  listenForSignals();
  hearOfStreams();
  const idle = Promise.withResolvers<never>();
  const giveUp = (): void => idle.reject(neverAnswered());
  process.once('beforeExit', giveUp);
  try {
    process.exitCode = EXIT.ok;
    await Promise.race([program(args).then((made) => made.parseAsync(args, { from: 'user' })), idle.promise]);
    return process.exitCode;
  } catch (error) {
    return report(error, args.includes('--json'));
  } finally {
    process.off('beforeExit', giveUp);
  }
}

/** Nothing is under way in this process that could still answer, so it would end here, without a word. */
function neverAnswered(): CliError {
  return new CliError(
    'bad_input',
    'What the command waits for never comes: a module that it was given has promised an answer, and does nothing for it. What was committed until then stays.',
  );
}

async function program(args: readonly string[]): Promise<Command> {
  const program = new Command('assize')
    .description('Agents propose, a kernel decides, one hash-chained ledger records it all.')
    .version(version(), '--version', 'the version of assize')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .configureHelp(helpOptions)
    // Mistakes are reported in one place, as one sentence.
    .exitOverride()
    .configureOutput({ outputError: () => undefined, writeOut: (text) => void writeTo(process.stdout, text) });
  wrapHelp(program);
  for (const register of await Promise.all(wanted(args).map((load) => load()))) register(program);
  return program;
}

/** Of a line that begins with none, all: for the help, and for what is like a word that is no command. */
function wanted([first = '']: readonly string[]): readonly (() => Promise<Register>)[] {
  if (first === '--version') return [];
  const one = Object.hasOwn(COMMANDS, first) ? COMMANDS[first] : undefined;
  return one === undefined ? Object.values(COMMANDS) : [one];
}

function version(): string {
  const path = fileURLToPath(import.meta.resolve('assize/package.json'));
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** Whoever does not read on (`| head`) is no error of ours; `Output` notices and ends the work. What can't be written is. */
function hearOfStreams(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    process.exit(report(new OutputUnwritable(error), false));
  });
  // There is nowhere to say that it can't be said, and the exit code still tells what came of the command.
  process.stderr.on('error', () => undefined);
}
