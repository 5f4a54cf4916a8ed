import { expect, test } from 'vitest';
import { pathOn } from './wanted-page.ts';

const SERVER = 'https://assize.example';

test('a kept path of this server is the one to go to', () => {
  expect(pathOn(SERVER, '/timeline/expenses/11?view=record')).toBe(
    '/timeline/expenses/11?view=record',
  );
});

test.each([
  ['nothing', null],
  ['the start', '/'],
  ['another server', 'https://evil.example/inbox'],
  ['another server by two slashes', '//evil.example/x'],
  ['another server by a backslash', '/\\evil.example/x'],
  ['a script', 'javascript:alert(1)'],
  ['no address', '//['],
])('no page of this server: %s', (_, kept) => {
  expect(pathOn(SERVER, kept)).toBeUndefined();
});
