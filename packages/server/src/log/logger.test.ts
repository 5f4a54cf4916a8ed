import { StoreError } from 'assize/internal/stores';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Logger } from './logger.ts';

/** A logger, and its lines as JSON. */
function logged(write: (logger: Logger) => void): any[] {
  let text = '';
  write(
    new Logger(
      (line) => {
        text += line;
      },
      () => '2026-01-01T00:00:00.000Z',
    ),
  );
  return text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line));
}

test('a line of the log is one JSON text, whatever a value contains', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (principal, message) => {
      const lines: string[] = [];
      const logger = new Logger(
        (line) => lines.push(line),
        () => '2026-01-01T00:00:00.000Z',
      );
      logger.request({
        requestId: 'r',
        method: 'GET',
        route: 'other',
        status: 200,
        ms: 1.26,
        principal,
      });
      logger.failure('r', new Error(`${message}\r\n{"forged":true}`));
      const [first = '', second = '', ...rest] = lines.join('').split('\n');
      expect(rest).toEqual(['']);
      expect(JSON.parse(first)).toMatchObject({ principal, ms: 1.3, level: 'info' });
      expect(JSON.parse(second)).toMatchObject({ level: 'error', code: 'internal' });
    }),
  );
});

test('a store that is away is logged without a stack', () => {
  const lines = logged((logger) => {
    logger.failure(
      'r',
      new StoreError('store_unreachable', 'The server does not answer. Try again.'),
    );
    logger.failure('r', new StoreError('store_failed', 'The disk failed.'));
    logger.failure('r', new TypeError('x is undefined'));
  });
  expect(lines).toMatchObject([
    { code: 'store_unreachable', error: 'The server does not answer. Try again.' },
    { code: 'store_failed', error: expect.stringContaining('logger.test.ts') },
    { code: 'internal', error: expect.stringContaining('logger.test.ts') },
  ]);
});

test('after the stop only unexpected failures are logged', () => {
  const lines = logged((logger) => {
    logger.stopped();
    logger.failure(
      undefined,
      new StoreError('store_closed', 'The store is closed. Open it again.'),
    );
    logger.failure(
      undefined,
      new StoreError('store_unreachable', 'The server does not answer. Try again.'),
    );
    logger.failure(undefined, new TypeError('x is undefined'));
  });
  expect(lines).toMatchObject([{ event: 'stopped' }, { event: 'failure', code: 'internal' }]);
});
