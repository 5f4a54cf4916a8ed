/** The README of a domain shows what its example prints, line by line. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';
import { domainFolder } from '../support/process/domain-folders.ts';

const root = join(import.meta.dirname, '../..');

test.each(['budget', 'moderation', 'verification'])('%s', (name) => {
  const file = relative(root, join(domainFolder(name), 'example.ts')).replaceAll('\\', '/');
  const readme = readFileSync(join(domainFolder(name), 'README.md'), 'utf8');
  const [, named, shown] = /^```console\n\$ npx node (\S+)\n([\s\S]*?)^```$/m.exec(readme) ?? [];
  const printed = execFileSync(process.execPath, [file], { cwd: root, encoding: 'utf8' });
  expect([named, shown]).toEqual([file, printed]);
});
