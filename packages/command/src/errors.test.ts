import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from 'vitest';
import { CliError, described, report } from './errors.ts';
import { Interrupted } from './terminal/interrupt.ts';

const { stderr } = process;
afterEach(() => Object.defineProperty(process, 'stderr', { value: stderr, configurable: true }));

/** The error text on standard error. */
function said(
  terminal: { readonly isTTY?: true; readonly columns?: number },
  error: unknown = new CliError('usage', 'It is wrong, and here is all of what can be done.'),
  exitCode = 2,
): string {
  const pieces: Buffer[] = [];
  const write = (piece: Buffer, _encoding: string, done: () => void): void => {
    pieces.push(piece);
    done();
  };
  const value = Object.assign(new Writable({ write }), terminal);
  Object.defineProperty(process, 'stderr', { value, configurable: true });
  expect(report(error, false)).toBe(exitCode);
  return Buffer.concat(pieces).toString();
}

test('an error is one line for a program, and wraps to fit a terminal', () => {
  const whole = 'assize: It is wrong, and here is all of what can be done.\n';
  expect(said({})).toBe(whole);
  expect(said({ isTTY: true, columns: 30 })).toBe(
    'assize: It is wrong, and here\nis all of what can be done.\n',
  );
  expect(said({ isTTY: true, columns: 0 })).toBe(whole);
});

test('a wait that the user interrupted is not an unexpected error', async () => {
  const signal = AbortSignal.abort(new Interrupted('SIGINT'));
  const error = await pause(60_000, undefined, { signal }).catch((thrown: unknown) => thrown);
  expect(said({}, error, 130)).toBe('assize: Stopped by SIGINT.\n');
});

test('an error of the system says what the user can do', () => {
  const denied = Object.assign(new Error("EACCES: permission denied, open 'x/cp'"), {
    code: 'EACCES',
    syscall: 'open',
  });
  expect(described(denied)).toEqual({
    code: 'EACCES',
    message:
      "EACCES: permission denied, open 'x/cp'. Give this user the right to use that path, or name another path.",
    exitCode: 2,
  });
});
