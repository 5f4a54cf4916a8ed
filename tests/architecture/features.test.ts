import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FEATURES } from '../../packages/cli/src/features.ts';

const root = join(import.meta.dirname, '../..');

/** The additions of each package to the command line. The commands of the core are the rest. */
const OWNERS = {
  agents: { package: '@assize/agents', commands: ['run', 'runs', 'worker', 'simulate'], adds: ['domains'] },
  gate: {
    package: '@assize/gate',
    commands: ['hook', 'calls', 'standing', 'undo', 'policy'],
    adds: ['domains', 'policyForm'],
  },
  audit: {
    package: '@assize/audit',
    commands: [
      ...['backtest', 'mine', 'policy try', 'blast', 'dependents'],
      ...['checkpoint', 'prove', 'report', 'audit', 'fsck', 'witness'],
    ],
    adds: ['domains'],
  },
  cells: { package: '@assize/cells', commands: ['cells'], adds: ['storeForm', 'tenantLog'] },
  cedar: { package: '@assize/cedar', commands: [], adds: ['policyForm'] },
};

test('each feature has the commands and parts of its package', () => {
  const found = FEATURES.slice(1).map(({ name, commands = {}, ...parts }) => [
    name,
    { commands: Object.keys(commands), adds: Object.keys(parts).sort() },
  ]);
  const listed = Object.entries(OWNERS).map(([name, { commands, adds }]) => [name, { commands, adds }]);
  expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
});

test('each command has one owner, and each group is a command', () => {
  const names = FEATURES.flatMap(({ commands = {} }) => Object.keys(commands));
  expect(names).toEqual([...new Set(names)]);
  for (const name of names) expect(names).toContain(name.split(' ')[0]);
});

test('only the list of features names the packages that have one', () => {
  const list = readFileSync(join(root, 'packages/cli/src/features.ts'), 'utf8');
  for (const [name, { package: owner }] of Object.entries(OWNERS))
    expect(list).toContain(`import { ${name} } from '${owner}/internal/`);
});
