/** The README of a domain shows what its example prints, line by line. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

test.each(['budget', 'moderation', 'verification'])('%s', (name) => {
  const file = `domains/${name}/example.ts`;
  const readme = readFileSync(join(root, 'domains', name, 'README.md'), 'utf8');
  const [, shown] = /^```console\n\$ npx node domains\/\w+\/example\.ts\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  const printed = execFileSync(process.execPath, [file], { cwd: root, encoding: 'utf8' });
  expect(shown).toBe(printed);
});
