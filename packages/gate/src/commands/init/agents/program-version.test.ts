import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { CLAUDE_CODE, requireVersion } from './program-version.ts';

function program(says: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'assize-claude-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'claude');
  writeFileSync(path, `#!/bin/sh\necho '${says}'\n`);
  chmodSync(path, 0o755);
  return path;
}

test.each(['2.1.295', '2.1.332', '2.2.0', '3.0.0'])('version %s is new enough', async (version) => {
  expect(await requireVersion(program(`${version} (Claude Code)`), CLAUDE_CODE)).toBe(version);
});

test.each(['2.1.294', '2.0.999', '1.9.400'])(
  'version %s lets calls through when a hook fails',
  async (version) => {
    await expect(
      requireVersion(program(`${version} (Claude Code)`), CLAUDE_CODE),
    ).rejects.toMatchObject({
      code: 'usage',
    });
  },
);

test('another program, or none, is refused', async () => {
  await expect(requireVersion(program('git version 2.50'), CLAUDE_CODE)).rejects.toThrow(
    '--claude',
  );
  await expect(requireVersion('/nowhere/claude', CLAUDE_CODE)).rejects.toThrow(
    'no program /nowhere/claude. Install',
  );
  await expect(requireVersion('no-such-claude', CLAUDE_CODE)).rejects.toThrow(
    'no program no-such-claude on the PATH',
  );
});
