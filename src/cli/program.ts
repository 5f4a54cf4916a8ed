import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Argument, Command } from 'commander';
import { adjudicate } from './commands/adjudicate.ts';
import { anomalies } from './commands/anomalies.ts';
import { approve } from './commands/approve.ts';
import { audit } from './commands/audit.ts';
import { backtest } from './commands/backtest.ts';
import { bench } from './commands/bench.ts';
import { branch } from './commands/branch.ts';
import { checkpoint } from './commands/checkpoint.ts';
import { demo } from './commands/demo.ts';
import { derived } from './commands/derived.ts';
import { diff } from './commands/diff.ts';
import { domains } from './commands/domains.ts';
import { effects } from './commands/effects.ts';
import { erase } from './commands/erase.ts';
import { exportCommand } from './commands/export.ts';
import { faults } from './commands/faults.ts';
import { fsck } from './commands/fsck.ts';
import { importCommand } from './commands/import.ts';
import { keys } from './commands/keys.ts';
import { log } from './commands/log.ts';
import { memory } from './commands/memory/index.ts';
import { ontology } from './commands/ontology/index.ts';
import { oracle } from './commands/oracle.ts';
import { pending } from './commands/pending.ts';
import { prove } from './commands/prove.ts';
import { reject } from './commands/reject.ts';
import { show } from './commands/show.ts';
import { state } from './commands/state.ts';
import { verify } from './commands/verify.ts';
import { witness } from './commands/witness.ts';
import { writ } from './commands/writ/index.ts';
import { EXIT, type ExitCode, report } from './errors.ts';
import { listenForSignals } from './interrupt.ts';

/** In the order of the help: the story, the work, the ledger, the people, the auditors. */
const COMMANDS = [
  demo,
  domains,
  ontology,
  adjudicate,
  log,
  show,
  state,
  verify,
  backtest,
  branch,
  diff,
  pending,
  approve,
  reject,
  effects,
  memory,
  derived,
  oracle,
  erase,
  writ,
  keys,
  checkpoint,
  prove,
  audit,
  fsck,
  witness,
  exportCommand,
  importCommand,
  faults,
  anomalies,
  bench,
];

/** Runs one command line; never throws, and prints what there is to say. */
export async function run(args: readonly string[]): Promise<ExitCode> {
  listenForSignals();
  ignoreClosedStreams();
  try {
    process.exitCode = EXIT.ok;
    await program().parseAsync(args, { from: 'user' });
    return process.exitCode;
  } catch (error) {
    return report(error, args.includes('--json'));
  }
}

function program(): Command {
  const program = new Command('assize')
    .description('Agents propose, a kernel decides, one hash-chained ledger records it all.')
    .version(version(), '--version', 'the version of assize')
    .helpOption('--help', 'show help')
    .helpCommand(false)
    // Without `[options]`, which all have, the lines are short enough to be wrapped.
    .configureHelp({
      subcommandTerm: (command) => [command.name(), ...command.registeredArguments.map(termOf)].join(' '),
    })
    // Mistakes are reported in one place, as one sentence.
    .exitOverride()
    .configureOutput({ outputError: () => undefined });
  for (const register of COMMANDS) register(program);
  return program;
}

function termOf(argument: Argument): string {
  const name = `${argument.name()}${argument.variadic ? '...' : ''}`;
  return argument.required ? `<${name}>` : `[${name}]`;
}

function version(): string {
  const path = fileURLToPath(import.meta.resolve('assize/package.json'));
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}

/** Whoever does not read on (`| head`) is no error of ours; `Output` notices and ends the work. */
function ignoreClosedStreams(): void {
  for (const stream of [process.stdout, process.stderr]) {
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error;
    });
  }
}
