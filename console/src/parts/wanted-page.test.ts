import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { wantedPath } from './wanted-page.ts';

beforeEach(() => void vi.stubGlobal('location', { origin: 'https://assize.example' }));
afterEach(() => void vi.unstubAllGlobals());

test('a kept path of this server is the one to go to', () => {
  expect(wantedPath('/timeline/expenses/11?view=record')).toBe('/timeline/expenses/11?view=record');
});

test.each([
  ['nothing', null],
  ['the start', '/'],
  ['another server', 'https://evil.example/inbox'],
  ['another server by two slashes', '//evil.example/x'],
  ['another server by a backslash', '/\\evil.example/x'],
  ['a script', 'javascript:alert(1)'],
  ['no address', 'https://['],
])('the inbox is in place of %s', (_, kept) => {
  expect(wantedPath(kept)).toBe('/inbox');
});
