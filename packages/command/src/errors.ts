import { AssizeError, isAssizeError, isInstance, thrownText } from 'assize/internal/base';
import { visible, visibleJson } from 'assize/internal/views';
import { CommanderError } from 'commander';
import { EXIT, type ExitCode } from './exit-codes.ts';
import { Interrupted } from './terminal/interrupt.ts';
import { OutputClosed, OutputUnwritable, writeTo } from './terminal/output.ts';
import { withoutPasswords } from './terminal/without-passwords.ts';
import { widthOf, wrapped } from './terminal/wrapped.ts';

export type CliErrorCode =
  /** The command line can't be carried out as written. Follow the message, or add `--help`. */
  | 'usage'
  /** A named file is missing or can't be read. Check the path and its permissions. */
  | 'unreadable_file'
  /**
   * Another process works on the effects of the store. Run the command there, or end that process
   * first.
   */
  | 'effects_busy';

/**
 * A command line or an input that the command can't carry out. The command writes nothing and exits
 * with 2.
 */
export class CliError extends AssizeError<CliErrorCode> {
  override readonly name = 'CliError';
}

/** A ledger that does not verify is a finding of the command, not misuse. */
const FINDINGS: ReadonlySet<string> = new Set(['LedgerFault', 'RuntimeError/invalid_ledger']);

/**
 * Prints the error on standard error, and with `--json` also as a document on standard output.
 * Returns the exit code.
 */
export function report(error: unknown, json: boolean): ExitCode {
  try {
    return reported(error, json);
  } catch (unwritten) {
    if (!isInstance(unwritten, OutputUnwritable)) throw unwritten;
    note(unwritten.message);
    return EXIT.misuse;
  }
}

function reported(error: unknown, json: boolean): ExitCode {
  if (isInstance(error, OutputClosed)) return EXIT.ok;
  if (isInstance(error, OutputUnwritable)) {
    note(error.message);
    return EXIT.misuse;
  }
  const interrupted = interruptionIn(error);
  if (interrupted !== undefined) {
    say('interrupted', `${interrupted.message}.`, json);
    return interrupted.exitCode;
  }
  if (isInstance(error, CommanderError)) return reportUsage(error, json);
  const { code, message, exitCode } = described(error);
  say(code, message, json, findingsIn(error));
  return exitCode;
}

/** The interruption of the user, also as the cause of a wait that it aborted. */
function interruptionIn(error: unknown): Interrupted | undefined {
  if (isInstance(error, Interrupted)) return error;
  if (!isInstance(error, Error) || error.name !== 'AbortError') return undefined;
  return isInstance(error.cause, Interrupted) ? error.cause : undefined;
}

/** The misfits of an input, one by one, if the error or its cause has them. */
function findingsIn(error: unknown): readonly unknown[] | undefined {
  if (!isAssizeError(error)) return undefined;
  const { findings } = error.evidence;
  return Array.isArray(findings) ? findings : findingsIn(error.cause);
}

/** Commander prints help and version itself. Usage errors are reported here. */
function reportUsage(error: CommanderError, json: boolean): ExitCode {
  if (error.exitCode === 0) return EXIT.ok;
  if (error.code !== 'commander.help')
    say('usage', error.message.replace(/^error: /, '').replace(/\n/g, ' '), json);
  return EXIT.misuse;
}

const NO_RIGHT = ['Give this user the right to use that path, or name another path.'];

/** The remedy for a system error that a command did not foresee. */
const SYSTEM_ADVICE: Readonly<Record<string, readonly string[]>> = {
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EROFS: ['Name a path on another file system.'],
  ENOSPC: ['Free space on the disk, and repeat the command.'],
};

/** The code and the message of an error, as printed, and the exit code. */
export function described(error: unknown): { code: string; message: string; exitCode: ExitCode } {
  if (isAssizeError(error)) {
    const { code, name } = error;
    const message = withKeyOptions(error);
    const found = code !== 'not_found' && (FINDINGS.has(name) || FINDINGS.has(`${name}/${code}`));
    const exitCode =
      code === 'store_poisoned' ? EXIT.lostStore : found ? EXIT.negative : EXIT.misuse;
    return { code, message, exitCode };
  }
  if (isSystemError(error)) {
    const message = [`${error.message}.`, ...(SYSTEM_ADVICE[error.code] ?? [])].join(' ');
    return { code: error.code, message, exitCode: EXIT.misuse };
  }
  // An unexpected error is a fault of this program, and its report needs the stack.
  const stack = isInstance(error, Error) ? (error.stack ?? error.message) : thrownText(error);
  return {
    code: 'internal',
    message: `Assize failed unexpectedly. Report this error: ${stack}`,
    exitCode: EXIT.misuse,
  };
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException & { code: string } {
  return (
    isInstance(error, Error) &&
    'syscall' in error &&
    'code' in error &&
    typeof error.code === 'string'
  );
}

/** Prints a remark for the user, in addition to the result. */
export function note(message: string): void {
  tell(visible(withoutPasswords(message)));
}

/** Prints one line. A terminal wraps it between words. */
function tell(message: string): void {
  const text = `assize: ${message}`;
  const { stderr } = process;
  const lines = text
    .split('\n')
    .flatMap((line) => (stderr.isTTY ? wrapped(line, widthOf(stderr)) : line));
  try {
    writeTo(stderr, `${lines.join('\n')}\n`);
  } catch (error) {
    // The message can't be written anywhere, and the exit code still reports the command's outcome.
    if (!isInstance(error, OutputUnwritable)) throw error;
  }
}

/** Prints an error on standard error, and with `json` also as a document. */
export function say(
  code: string,
  text: string,
  json: boolean,
  findings?: readonly unknown[],
): void {
  const message = withoutPasswords(text);
  const lines = message
    .split('\n')
    .map(visible)
    .join(code === 'internal' ? '\n' : ' ');
  tell(lines);
  if (json)
    writeTo(
      process.stdout,
      `${visibleJson({ error: { code, message, ...(findings && { findings }) } })}\n`,
    );
}

/** The runtime's advice about keys. It names members of the runtime's options. */
const TRUST =
  'Name the key in entryKeys if you trust it, or accept unsigned entries with changeEntryKey (assize keys change).';
const SIGN =
  'Pass the signer of that key, or record a new key first (changeEntryKey, assize keys change).';

/** The message of an error about the keys of a ledger, with the options of the command line. */
function withKeyOptions({ code, message }: AssizeError): string {
  if (code !== 'wrong_signer') return message;
  const [key] = /(?<=signed with )[0-9a-f]{64}/.exec(message) ?? [];
  const trusted =
    key === undefined
      ? 'Accept the unsigned entries with assize keys change.'
      : `Pass --entry-key ${key}, or the --signer of the ledger.`;
  return message
    .replace(TRUST, trusted)
    .replace(
      SIGN,
      'Pass the private key of the ledger with --signer, or record a new key first with assize keys change.',
    );
}
