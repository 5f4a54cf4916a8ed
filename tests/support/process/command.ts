import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { isFirstRun } from './first-runs.ts';

const main = join(import.meta.dirname, '../../../packages/cli/src/main.ts');
const experimentsMain = join(import.meta.dirname, '../../../labs/cli/main.ts');
/** The first argument of a line that is for the command of the experiments. */
export const EXPERIMENTS_COMMAND = 'assize-experiments';
const resident = join(import.meta.dirname, 'child-process.ts');
/** Their commands are named by a second word. */
const FAMILIES = ['writ', 'keys', 'effects', 'restore', 'policy', 'lab', 'blast', 'bundle', 'run'];

/** The exit code of a command, and its output. */
export interface Ended {
  readonly code: number | null;
  readonly out: string;
  /** Without progress lines: their presence depends on the speed of the machine. */
  readonly err: string;
}

/** The typed arguments, with the folder and the environment. */
export interface CommandLine {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly args: readonly string[];
}

const lineOf = (
  folder: string,
  store: string | undefined,
  args: readonly string[],
): CommandLine => ({
  folder,
  env: { NO_COLOR: '1', ...(store !== undefined && { ASSIZE_STORE: store }) },
  args,
});

/** Starts the command itself, as a process of its own in that folder. */
export function startCommand(
  folder: string,
  store: string | undefined,
  ...args: readonly string[]
): ChildProcess {
  const { env } = lineOf(folder, store, args);
  const program =
    args[0] === EXPERIMENTS_COMMAND ? [experimentsMain, ...args.slice(1)] : [main, ...args];
  return spawn(process.execPath, program, {
    cwd: folder,
    env: { ...environment(), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs the command to its end, in a separate process: for tests about processes. */
export function runProcess(
  folder: string,
  store: string | undefined,
  ...args: readonly string[]
): Promise<Ended> {
  return endOf(startCommand(folder, store, ...args));
}

/** The result of a started process. */
export async function endOf(child: ChildProcess): Promise<Ended> {
  let [out, err] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (out += text));
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (err += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return withoutProgress({ code, out, err });
}

/** The progress of a command without a terminal (`packages/command/src/terminal/progress.ts`). */
const PROGRESS = /^[a-z ]+: \d+(\/\d+ \(\d+ %\))?(, \d+\/s)?\n/gm;

const withoutProgress = (ended: Ended): Ended => ({
  ...ended,
  err: ended.err.replace(PROGRESS, ''),
});

/**
 * Runs the command to its end. On its first use in a run of the tests, each command runs in a
 * separate process. After that, `runLoaded` runs it.
 */
export function runCommand(
  folder: string,
  store: string | undefined,
  ...args: readonly string[]
): Promise<Ended> {
  return isFirstRun(nameOf(args))
    ? runProcess(folder, store, ...args)
    : runLoaded(folder, store, ...args);
}

/**
 * Runs the command to its end, in an idle process that has already loaded it. Loading takes longer
 * than most commands. A module that a command receives is loaded once, so a changed module needs
 * another name.
 */
export function runLoaded(
  folder: string,
  store: string | undefined,
  ...args: readonly string[]
): Promise<Ended> {
  return told(lineOf(folder, store, args));
}

/** Help is one command, for any topic. */
function nameOf(args: readonly string[]): string {
  if (args.includes('--help')) return '--help';
  const [command = '', second = ''] = args;
  return FAMILIES.includes(command) || command === EXPERIMENTS_COMMAND
    ? `${command} ${second}`
    : command;
}

const waiting: { readonly done: (ended: Ended) => void; readonly fail: (error: Error) => void }[] =
  [];
let commander: ChildProcess | undefined;

/** Answers come in the order of the questions. */
function told(line: CommandLine): Promise<Ended> {
  commander ??= startResident();
  commander.send(line);
  return new Promise((done, fail) => waiting.push({ done, fail }));
}

function startResident(): ChildProcess {
  const env = { ...environment(), NO_COLOR: '1' };
  const child = fork(resident, {
    env,
    execArgv: [],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  child.on('message', (ended) => waiting.shift()?.done(withoutProgress(ended as Ended)));
  child.on('exit', (code, signal) => {
    commander = undefined;
    for (const { fail } of waiting.splice(0))
      fail(new Error(`A command ended its process, with ${signal ?? code}.`));
  });
  // It ends when this process does, and keeps it from nothing.
  child.unref();
  child.channel?.unref();
  return child;
}

/** The test names the store, and not the environment of the run. */
function environment(): NodeJS.ProcessEnv {
  const { ASSIZE_STORE: _, ...rest } = process.env;
  return rest;
}
