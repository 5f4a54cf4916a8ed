import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import * as agents from '#agents/operations';
import * as audit from '#audit/operations';
import * as gate from '#gate/operations';
import type { Operation } from '#operation';
import { OPERATIONS } from '#server';
import { FEATURES } from '../../packages/cli/src/features.ts';
import { specifiers } from '../../scripts/layers.ts';

const root = join(import.meta.dirname, '../..');

/** The additions of each package to the command line. The commands of the core are the rest. */
const OWNERS = {
  server: { package: '@assize/server', commands: ['token', 'api', 'agents'], adds: ['operations'] },
  agents: {
    package: '@assize/agents',
    commands: [
      ...['run', 'lab simulate'],
      ...['memory remember', 'memory ask', 'memory extract', 'memory repair'],
    ],
    adds: ['domains'],
  },
  gate: {
    package: '@assize/gate',
    commands: [
      ...[
        'mcp',
        'run-in-sandbox',
        'hook',
        'effects calls',
        'standing',
        'blast undo',
        'rules',
        'policy',
      ],
      ...['init claude-code', 'init codex', 'init mcp'],
    ],
    adds: ['domains', 'policyForm'],
  },
  audit: {
    package: '@assize/audit',
    commands: [
      ...['lab', 'lab backtest', 'lab mine', 'policy try', 'blast', 'blast dependents'],
      ...['checkpoint', 'bundle proof', 'report', 'witness'],
    ],
    adds: ['domains'],
  },
  cells: { package: '@assize/cells', commands: ['cells'], adds: ['storeForm', 'tenantLog'] },
  testing: { package: '@assize/testing', commands: ['conformance'], adds: [] },
  cedar: { package: '@assize/cedar', commands: [], adds: ['policyForm'] },
};

test('each feature has the commands and parts of its package', () => {
  const found = FEATURES.slice(1).map(({ name, commands = {}, ...parts }) => [
    name,
    { commands: Object.keys(commands), adds: Object.keys(parts).sort() },
  ]);
  const listed = Object.entries(OWNERS).map(([name, { commands, adds }]) => [
    name,
    { commands, adds },
  ]);
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

/** The operations of the API that each package contributes. The others are of the server. */
const OPERATIONS_OF = {
  agents: [
    ...['chat.alias', 'chat.aliases', 'chat.recall', 'chat.remember', 'chat.repair'],
    ...[
      'runs.begin',
      'runs.cancel',
      'runs.get',
      'runs.list',
      'runs.retry',
      'simulations.list',
      'simulations.run',
    ],
  ],
  audit: [
    ...[
      'backtests.run',
      'bundles.make',
      'checkpoints.create',
      'checkpoints.latest',
      'entries.proof',
    ],
    ...[
      'incidents.blast',
      'incidents.list',
      'incidents.propose',
      'mining.run',
      'reports.make',
      'reports.page',
    ],
  ],
  gate: [
    ...['calls.ask', 'calls.end_session', 'calls.fail_session', 'calls.open', 'calls.outcome'],
    ...['calls.report', 'calls.settle', 'calls.undo', 'calls.undo_session'],
    ...['hooks.claude_code', 'hooks.codex', 'rules.list', 'rules.report', 'servers.get'],
    ...['standing.ask', 'standing.end', 'standing.judge', 'standing.list'],
  ],
};

function operationsIn(exported: object): readonly Operation[] {
  return Object.values(exported).filter(Array.isArray).flat();
}

test('each package contributes the operations of what it owns', () => {
  const found = Object.entries({ agents, audit, gate }).map(([name, exported]) => [
    name,
    operationsIn(exported)
      .map(({ id }) => id)
      .sort(),
  ]);
  expect(Object.fromEntries(found)).toEqual(OPERATIONS_OF);
});

test('the server answers each contributed operation, and each id once', () => {
  const contributed = [agents, audit, gate].flatMap(operationsIn);
  expect(contributed.filter((one) => !(OPERATIONS as readonly Operation[]).includes(one))).toEqual(
    [],
  );
  expect(new Set(OPERATIONS.map(({ id }) => id)).size).toBe(OPERATIONS.length);
});

test('no operation imports a library of the server', () => {
  for (const name of ['agents', 'audit', 'gate', 'command'])
    for (const file of globSync(`packages/${name}/src/operation{,s}/**/*.ts`, { cwd: root }))
      expect(specifiers(readFileSync(join(root, file), 'utf8')), file).not.toContainEqual(
        expect.stringMatching(/^(hono|@hono|@assize\/server|commander)/),
      );
});
