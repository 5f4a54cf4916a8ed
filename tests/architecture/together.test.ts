import { expect, test } from 'vitest';
import { ALONE, LEAVES, TOGETHER } from '../support/run-alone.ts';

test.each([
  ["vi.mock('node:fs')", true],
  ["  vi.stubEnv('TZ', 'UTC');", true],
  ["process.env['TZ'] = 'UTC';", true],
  ['process.env.TZ ??= "UTC";', true],
  ['process.once("exit", end);', true],
  ["if (process.env['TZ'] === 'UTC') return;", false],
  ['const { TZ } = process.env;', false],
  ['vi.spyOn(clock, "now");', false],
])('side effects of a test file on its process are detected in its text: %s', (text, leaves) => {
  expect(LEAVES.some((each) => each.test(text))).toBe(leaves);
});

test('each file of tests is of one of both sorts', () => {
  expect(ALONE.length).toBeGreaterThan(10);
  expect(TOGETHER.length).toBeGreaterThan(400);
  expect(ALONE.filter((file) => TOGETHER.includes(file))).toEqual([]);
});
