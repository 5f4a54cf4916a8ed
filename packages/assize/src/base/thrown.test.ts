import { expect, test } from 'vitest';
import { oddErrors } from '../../../../tests/support/process/errors.ts';
import { toError } from './thrown.ts';

test.each(oddErrors())('an unreadable thrown value becomes a readable error: %s', (_, odd) => {
  const thrown = toError(odd);
  expect(thrown).toBeInstanceOf(Error);
  expect(thrown).toMatchObject({ message: 'the thrown value cannot be read' });
});

test.each([
  [undefined],
  [null],
  ['text'],
  [0],
  [{}],
  [Symbol('odd')],
  [new Error('as it is')],
  [new TypeError('too')],
])('any other thrown value is returned unchanged: %s', (thrown) => {
  expect(toError(thrown)).toBe(thrown);
});
