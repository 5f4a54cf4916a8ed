import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FEATURES } from '../../packages/cli/src/features.ts';

const root = join(import.meta.dirname, '../..');

/** The additions of each package to the command line. */
const OWNERS = {
  audit: {
    package: '@assize/audit',
    commands: ['checkpoint', 'prove', 'report', 'audit', 'fsck', 'witness'],
    adds: [],
  },
  cells: { package: '@assize/cells', commands: ['cells'], adds: ['storeForm', 'tenantLog'] },
};

test('each feature has the commands and parts of its package', () => {
  const found = FEATURES.map(({ name, commands = {}, ...parts }) => [
    name,
    { commands: Object.keys(commands), adds: Object.keys(parts).sort() },
  ]);
  const listed = Object.entries(OWNERS).map(([name, { commands, adds }]) => [name, { commands, adds }]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

test('only the list of features names the packages that have one', () => {
  const list = readFileSync(join(root, 'packages/cli/src/features.ts'), 'utf8');
  for (const [name, { package: owner }] of Object.entries(OWNERS))
    expect(list).toContain(`import { ${name} } from '${owner}/internal/`);
});
