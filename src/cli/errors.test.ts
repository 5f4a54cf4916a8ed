import { Writable } from 'node:stream';
import { afterEach, expect, test } from 'vitest';
import { CliError, report } from './errors.ts';

const { stderr } = process;
afterEach(() => Object.defineProperty(process, 'stderr', { value: stderr, configurable: true }));

/** The error text on standard error. */
function said(terminal: { readonly isTTY?: true; readonly columns?: number }): string {
  const pieces: Buffer[] = [];
  const write = (piece: Buffer, _encoding: string, done: () => void): void => {
    pieces.push(piece);
    done();
  };
  const value = Object.assign(new Writable({ write }), terminal);
  Object.defineProperty(process, 'stderr', { value, configurable: true });
  expect(report(new CliError('usage', 'It is wrong, and here is all of what can be done.'), false)).toBe(2);
  return Buffer.concat(pieces).toString();
}

test('an error is one line for a program, and wraps to fit a terminal', () => {
  const whole = 'assize: It is wrong, and here is all of what can be done.\n';
  expect(said({})).toBe(whole);
  expect(said({ isTTY: true, columns: 30 })).toBe('assize: It is wrong, and here\nis all of what can be done.\n');
  expect(said({ isTTY: true, columns: 0 })).toBe(whole);
});
