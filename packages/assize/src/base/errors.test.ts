import { expect, test } from 'vitest';
import { AssizeError, isAssizeError } from './errors.ts';

test('an error is found by its code and by its reason, and by no other name', () => {
  const error = new AssizeError('misuse', 'The call is outside the claims.', {
    reason: 'scope_exceeded',
  });
  const names = [undefined, 'misuse', 'scope_exceeded', 'conflict'];
  expect(names.filter((name) => isAssizeError(error, name))).toEqual(names.slice(0, 3));
  expect(isAssizeError(new Error('misuse'), 'misuse')).toBe(false);
});
