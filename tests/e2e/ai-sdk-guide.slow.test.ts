/** docs/guide/ai-sdk.md, run as it stands: from the rules to a held call that is made once. */
import { expect, test } from 'vitest';
import { runGuide } from '../support/run-guide.ts';

test('ai-sdk.md holds a call, and makes it once after its approval', () => {
  const { commands, printed, shown } = runGuide('ai-sdk.md', ['ai', 'zod']);
  expect(commands.length).toBeGreaterThan(3);
  expect(printed).toEqual(shown);
});
