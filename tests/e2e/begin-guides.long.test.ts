/** The pages of docs/guide for a first hour, run as they stand. */
import { expect, test } from 'vitest';
import { runGuide } from '../support/run-guide.ts';

test.each(['nine-words.md'])('%s prints what it shows', (page) => {
  const { commands, printed, shown } = runGuide(page, { packages: ['zod'] });
  expect(commands.length).toBeGreaterThan(0);
  expect(printed).toEqual(shown);
});
