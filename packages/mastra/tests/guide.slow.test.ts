/** docs/guide/mastra.md, run as it stands: from the rules to a held call that is made once. */
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasMastra, MASTRA_MODULES } from '../../../tests/support/mastra/packages.ts';
import { runGuide } from '../../../tests/support/run-guide.ts';

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('mastra.md holds a call, and makes it once after its approval', () => {
    const { commands, printed, shown } = runGuide('mastra.md', {
      packages: ['zod'],
      apart: { '@mastra': join(MASTRA_MODULES, '@mastra') },
      timeoutMs: 300_000,
    });
    expect(commands.length).toBeGreaterThan(3);
    expect(printed).toEqual(shown);
  });
});
