/** `compare`: its table, its schedules, a judge with its record, and the files of a user. */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { completion, StubProvider } from '../../../tests/support/models/stub-provider.ts';
import { runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
const compare = (...args: string[]) =>
  runCommand(folder, undefined, 'assize-experiments', 'compare', ...args);

const AGENTS = `export const agents = ['A', 'B'].map((agent, i) => ({
  name: agent,
  role: { name: 'spender', params: { agent } },
  decide: ({ spent = {} }) => spent[agent] === undefined ? { action: 'spend', args: { amount: [45_000, 60_000][i] } } : 'done',
}));\n`;
const ARCHITECTURES = `import { architecture } from '../labs/architectures/index.ts';
export const architectures = [architecture({ name: 'a \\u001b[31mcoin', adjudicator: () => ({ verdict: 'reject', reason: 'tails' }) })];\n`;
/** Its rule is impure: it lets the kernel commit what it refuses elsewhere. */
const IMPURE = `import { defineDomain, pass, reject } from 'assize';
import { z } from 'zod';
export const counter = defineDomain({
  name: 'counter',
  version: '1',
  state: z.object({ n: z.number().int() }),
  initial: { n: 0 },
  processes: { count: { writes: ['/n'] } },
  roles: { clerk: { processes: ['count'] } },
  actions: { add: { process: 'count', args: z.object({}), apply: (state) => { state.n += 1; } } },
  invariants: ({ invariant }) => [
    invariant('NONE', ['/n'], ({ n }) => (n === 0 || /incremental-check/.test(new Error().stack ?? '') ? pass : reject('some'))),
  ],
});\n`;
const CLERKS = `export const agents = [{ name: 'ann', role: 'clerk', decide: () => ({ action: 'add', args: {} }) }];\n`;

beforeAll(() => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-compare-'));
  writeFileSync(join(folder, 'agents.ts'), AGENTS);
  writeFileSync(join(folder, 'architectures.ts'), ARCHITECTURES);
  writeFileSync(join(folder, 'none.ts'), 'export const architectures = [];\n');
  writeFileSync(join(folder, 'impure.ts'), IMPURE);
  writeFileSync(join(folder, 'clerks.ts'), CLERKS);
  writeFileSync(
    join(folder, 'model.ts'),
    "export const agents = [{ name: 'A', role: 'spender', instructions: 'x' }];\n",
  );
  writeFileSync(join(folder, 'state.json'), '{"cap":100000,"spent":{"A":1}}');
  writeFileSync(join(folder, 'broken.json'), '{"cap":1,"spent":{"A":2}}');
});
afterAll(() => rmSync(folder, { recursive: true }));

test('the agents of a file: a table, and the shortest schedule', async () => {
  const { code, out } = await compare('budget', '--agents', 'agents.ts');
  expect([code, out]).toEqual([
    0,
    `budget@1: 2 given agents with 1 turn each in 1 case.
4 schedules under each architecture: all schedules of each case, seed 1.

architecture   proposals  committed  rejected  escalated  valid refused  broken  broken rules
microservices          8          8         0          0              0       4  BUDGET_CAP
kernel                 8          4         4          0              0       0  none

microservices breaks BUDGET_CAP in 2 schedules, as a skew: the proposal is right on the state that its agent read.
  state   {"cap":100000,"spent":{}}
  A  reads
  B  reads
  A  submits spend {"amount":45000}: committed
  B  submits spend {"amount":60000}: committed, breaks BUDGET_CAP: spent 105000 of 100000
  state   {"cap":100000,"spent":{"A":45000,"B":60000}}

microservices breaks BUDGET_CAP in 2 schedules, let through: the proposal breaks it on the state that its agent read too.
  state   {"cap":100000,"spent":{}}
  A  reads
  A  submits spend {"amount":45000}: committed
  B  reads
  B  submits spend {"amount":60000}: committed, breaks BUDGET_CAP: spent 105000 of 100000
  state   {"cap":100000,"spent":{"A":45000,"B":60000}}

Add an LLM judge with --judge openai:NAME, openai:NAME@URL or anthropic:NAME.
`,
  ]);
});

test('a committed state that a rule refuses is a negative finding', async () => {
  const { code, out } = await compare('impure.ts', '--agents', 'clerks.ts');
  expect(code).toBe(1);
  expect(out).toContain('kernel breaks NONE in 1 schedule, let through');
});

test('generated agents on a state, and architectures of a file', async () => {
  const given = [
    '--state',
    'state.json',
    '--schedules',
    '12',
    '--population',
    '3',
    '--architectures',
    'architectures.ts',
  ];
  const { code, out } = await compare('budget', ...given);
  expect(code).toBe(0);
  expect(out).toMatch(/^a \\u001b\[31mcoin +\d+ +0 +/m);
  const { code: same, out: json } = await compare(
    'budget',
    ...given,
    '--json',
    '--seed',
    '3',
    '--turns',
    '2',
  );
  expect(same).toBe(0);
  expect(JSON.parse(json)).toMatchObject({
    ...{
      domain: { name: 'budget' },
      seed: 3,
      agents: 'generated',
      population: 3,
      turns: 2,
      schedules: 12,
    },
    architectures: [
      { architecture: 'microservices' },
      { architecture: 'kernel' },
      { architecture: 'a \u001b[31mcoin' },
    ],
  });
});

test('a judge is asked once, and its record answers without it', async () => {
  const answers = Array.from({ length: 4 }, () => completion('{"verdict":"approve"}'));
  const stub = await StubProvider.listen('openai', answers, { key: null });
  const judge = [
    'budget',
    '--agents',
    'agents.ts',
    '--judge',
    `openai:stub@${stub.origin}/v1`,
    '--record',
    'judge.db',
  ];
  try {
    const { code, out } = await compare(...judge);
    expect(code).toBe(0);
    expect(out).toMatch(/^judge openai:stub +8 +8 +0 +0 +0 +4 +4 +4 +\d+ +BUDGET_CAP$/m);
    expect(stub.requests).toHaveLength(4);
  } finally {
    await stub.close();
  }
  const first = await compare(...judge, '--json');
  expect([first.code, JSON.parse(first.out).architectures[1].model]).toMatchObject([
    0,
    { asked: 0, recorded: 8 },
  ]);
  const named = [
    'budget',
    '--agents',
    'agents.ts',
    '--judge',
    'openai:stub',
    '--record',
    'judge.db',
    '--recorded',
  ];
  expect((await compare(...named, '--json')).out).toBe(first.out);
  const gone = await compare(...named.with(4, 'openai:other'));
  expect([gone.code, gone.err]).toEqual([
    2,
    expect.stringContaining('The oracle log has no answer'),
  ]);
});

test.each<[string, string[], string]>([
  ['an unknown domain', ['nothing'], 'The domain file'],
  ['an unknown option', ['budget', '--judges', 'x'], "unknown option '--judges'"],
  ['no schedules', ['budget', '--schedules', '0'], 'It must be a whole number from 1 to 100000'],
  [
    'agents with a population',
    ['budget', '--agents', 'agents.ts', '--population', '2'],
    'cannot be used with',
  ],
  ['one agent of many', ['budget', '--population', '1'], 'It must be a whole number from 2 to 6'],
  ['a judge of no provider', ['budget', '--judge', 'x'], 'The model x is not valid'],
  [
    'a record without a judge',
    ['budget', '--record', 'x.db'],
    'The option --record is for a judge',
  ],
  [
    'recorded answers without a record',
    ['budget', '--judge', 'openai:x', '--recorded'],
    'needs recorded answers',
  ],
  [
    'a record that is a URL',
    ['budget', '--judge', 'openai:x', '--recorded', '--record', 'sqlite:x'],
    'names a file',
  ],
  ['a state that breaks a rule', ['budget', '--state', 'broken.json'], 'breaks BUDGET_CAP'],
  ['agents that need a model', ['budget', '--agents', 'model.ts'], 'agent 1 has no decide'],
  [
    'an empty list of architectures',
    ['budget', '--architectures', 'none.ts'],
    'exports no list architectures',
  ],
])('%s is misuse', async (_, args, message) => {
  expect(await compare(...args)).toMatchObject({ code: 2, err: expect.stringContaining(message) });
  expect(existsSync(join(folder, 'x.db'))).toBe(false);
});
