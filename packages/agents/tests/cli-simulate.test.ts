/** `assize lab simulate`, as a process of its own, on a run with calls of a tool. */
import {
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runAgents } from '#agents';
import { HandClock, operator, runtimeOver } from '../../../tests/support/ledger/runtime.ts';
import { completion, StubProvider } from '../../../tests/support/models/stub-provider.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { Till, teller, tellerDomain } from '../../../tests/support/tools/teller.ts';

const root = join(import.meta.dirname, '../../..');
let folder: string;
const assize = (...args: readonly string[]) =>
  runCommand(folder, 'sqlite:./till.db', 'lab', 'simulate', ...args, '--anchors', 'anchors.json');

const SHARED = `
import { Till, teller, tellerDomain } from '../tests/support/tools/teller.ts';
const till = new Till();
till.close();
`;

beforeAll(async () => {
  // Inside the repository, so that `assize` is this package.
  folder = mkdtempSync(join(root, 'dist-simulate-'));
  const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
  write('anchors.json', JSON.stringify([operator.publicKey]));
  write('domain.ts', `${SHARED}export const domain = tellerDomain(till);\n`);
  write('strict.ts', `${SHARED}export const strict = tellerDomain(till, '2', 1);\n`);
  write('tools.ts', `${SHARED}export const tools = till.tools;\n`);
  write('desk.ts', `${SHARED}export const agents = [teller('teller 0', 9)];\n`);
  write(
    'model.ts',
    `${SHARED}export const agents = [{ ...teller('teller 0', 9), decide: undefined, instructions: 'Pay ann.' }];\n`,
  );
  write(
    'variants.ts',
    `${SHARED}export const variants = () => [{ name: 'shifted', agents: [teller('teller 0', 9, 2)], people: { approve: 'manager:m' } }];\n`,
  );
  const rule = { use: { answer: { receipt: 'simulated' } }, when: { to: 'ann' } };
  write(
    'all.json',
    JSON.stringify({ 'till.pay': rule.use, 'till.wire': rule.use, 'till.book': rule.use }),
  );
  write('bad.json', JSON.stringify({ 'till.pay': { table: 'none' } }));
  write(
    'deny.json',
    JSON.stringify({
      id: 'deny',
      otherwise: 'allow',
      rules: [{ id: 'no', effect: 'deny', actions: ['both'] }],
    }),
  );

  write('strange-calls.json', JSON.stringify({ 'till.fly': rule.use }));
  write(
    'strange.json',
    JSON.stringify({
      ...{ id: 'strange', otherwise: 'allow' },
      rules: [{ id: 'odd', effect: 'deny', actions: ['fly', 'both', 'assize.revoke'] }].map(
        (one) => ({
          ...one,
          where: [{ path: '/to', is: 'no one' }],
        }),
      ),
    }),
  );
  write('empty.ts', 'export const variants = [];\n');
  write(
    'default.ts',
    `${SHARED}export default tellerDomain(till);\nexport const agents = [teller('teller 0', 9)];\n`,
  );
  write(
    'sim.config.ts',
    `${SHARED}
import { defineConfig } from 'assize';
const { writ: _, ...agent } = teller('teller 0', 9);
const use = { answer: { receipt: 'simulated' } };
const GRANT = { actions: ['**'], scopes: ['**'], budget: { proposals: 1_000, cents: 1_000_000 } };
export default defineConfig({
  domains: [tellerDomain(till)],
  tools: till.tools,
  principals: { 'teller 0': { kinds: ['agent'], grants: [GRANT] } },
  simulations: {
    own: {
      domain: 'teller',
      variants: ({ domain, writs }) => [
        { name: domain.version + ' ' + writs[0].writ.subject, agents: [agent], people: { approve: 'manager:m' } },
      ],
      simulators: { 'till.pay': use, 'till.wire': use, 'till.book': use },
      limits: { turns: 12 },
    },
    thrown: { domain: 'teller', variants: () => { throw new Error('no model here'); } },
    other: { domain: 'budget', variants: [{ name: 'a', agents: [agent] }] },
  },
});
`,
  );

  const till = new Till();
  const domain = tellerDomain(till);
  const store = await openStore(`sqlite:${join(folder, 'till.db')}`);
  const clock = new HandClock();
  const runtime = runtimeOver(store, [domain], {
    oracle: store,
    tools: till.tools,
    ports: { clock },
  });
  const trajectory = await runtime.create(domain, { trajectoryId: 't' });
  await runAgents(trajectory, [teller('teller 0', 9)], {
    ...{
      oracle: createOracle({ store, clock, mode: 'record' }),
      clock,
      random: seededRandom('cli 12'),
      maxTurns: 12,
    },
    counsel: () => ({ do: 'approve', principal: 'manager:m', method: 'test' }),
  });
  await runtime.close();
  await store.close();
  expect(till.calls.length).toBeGreaterThan(2);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const given = [
  '--domain',
  'domain.ts',
  '--tools',
  'tools.ts',
  '--simulators',
  'all.json',
  '--turns',
  '12',
];
const bytes = (): Buffer => readFileSync(join(folder, 'till.db'));

describe('variants', () => {
  test('of agents, policies and versions of the domain are compared', async () => {
    const before = bytes();
    const policies = ['--policy', 'deny.json', '--instead', 'strict.ts'];
    const { code, out, err } = await assize(
      't',
      'desk.ts',
      ...policies,
      '--variants',
      'variants.ts',
      ...given,
      '--json',
    );
    expect([code, err]).toEqual([0, '']);
    const { recorded, variants } = JSON.parse(out);
    expect(variants.map(({ name }: { name: string }) => name)).toEqual([
      'desk deny.json teller@2',
      'shifted',
    ]);
    expect(Object.keys(variants[0].rules)).toContain('no');
    expect(recorded).toMatchObject({ turns: 9, left_out: 0 });
    expect(bytes().equals(before)).toBe(true);
  });

  test('variants equal to the record say so, with the calls of the record', async () => {
    const { code, out } = await assize('t', 'desk.ts', ...given);
    expect(out).toContain('desk has the rulings of the record.');
    expect([code, out]).toEqual([0, expect.stringMatching(/^desk +(done|limit) /m)]);
    const { variants } = JSON.parse((await assize('t', 'desk.ts', ...given, '--json')).out);
    const calls = Object.values(variants[0].calls) as { record: number; simulator: number }[];
    expect(calls.reduce((sum, { record }) => sum + record, 0)).toBeGreaterThan(2);
    expect(calls.every(({ simulator }) => simulator === 0)).toBe(true);
  });

  test('of models ask each question once, with --record', async () => {
    const pay = completion([['pay', { to: 'ann', cents: 2 }]]);
    const provider = await StubProvider.listen('openai', [pay, pay], { key: null });
    try {
      const model = ['--model', `openai:small@${provider.origin}/v1`, '--record', 'answers.db'];
      const few = [
        '--domain',
        'domain.ts',
        '--tools',
        'tools.ts',
        '--simulators',
        'all.json',
        '--turns',
        '2',
      ];
      for (const asked of [2, 0]) {
        const { code, out, err } = await assize('t', 'model.ts', ...model, ...few, '--json');
        expect([code, err]).toEqual([0, '']);
        const { variants } = JSON.parse(out);
        expect(variants[0]).toMatchObject({ name: 'model openai:small', outcomes: { limit: 1 } });
        expect(variants[0].samples[0].asked).toMatchObject({ asked, repeated: 2 - asked });
        const { input_tokens: input, asked_input_tokens: now } = variants[0].medians;
        expect(variants[0].medians).toMatchObject({ questions: 2, asked });
        expect([input > 0, now]).toEqual([true, asked === 2 ? input : 0]);
      }
      expect(provider.requests).toHaveLength(2);
    } finally {
      await provider.close();
    }
  });

  test('of versions that offer the same actions share the answers of a model', async () => {
    const pay = completion([['pay', { to: 'ann', cents: 2 }]]);
    const provider = await StubProvider.listen('openai', [pay, pay], { key: null });
    try {
      const model = ['--model', `openai:small@${provider.origin}/v1`, '--record', 'versions.db'];
      const more = [
        '--instead',
        'strict.ts',
        '--baseline',
        '--turns',
        '1',
        '--domain',
        'domain.ts',
        '--json',
      ];
      const { out } = await assize('t', 'model.ts', ...model, '--tools', 'tools.ts', ...more);
      const { variants } = JSON.parse(out);
      expect(variants.map(({ name }: { name: string }) => name)).toEqual([
        'model openai:small',
        'model openai:small teller@2',
      ]);
      expect(variants.map(({ medians }: any) => [medians.questions, medians.asked])).toEqual([
        [1, 1],
        [1, 0],
      ]);
      expect(provider.requests).toHaveLength(1);
      // The model would read the same bytes.
      await assize(
        't',
        'model.ts',
        ...model.slice(0, 2),
        '--fresh',
        '--tools',
        'tools.ts',
        ...more.slice(0, 2),
        ...more.slice(3),
      );
      const [first, second] = provider.requests.map(({ body }) => body);
      expect(second).toEqual(first);
    } finally {
      await provider.close();
    }
  });

  test('of two servers of one model name are named apart, and share no answer', async () => {
    const pay = completion([['pay', { to: 'ann', cents: 2 }]]);
    const providers = await Promise.all(
      [1, 2].map(() => StubProvider.listen('openai', [pay], { key: null })),
    );
    try {
      const models = providers.flatMap(({ origin }) => ['--model', `openai:small@${origin}/v1`]);
      const few = [
        '--domain',
        'domain.ts',
        '--tools',
        'tools.ts',
        '--simulators',
        'all.json',
        '--turns',
        '1',
      ];
      const { code, out } = await assize('t', 'model.ts', ...models, ...few, '--json');
      expect(code).toBe(0);
      expect(JSON.parse(out).variants.map(({ name }: { name: string }) => name)).toEqual(
        providers.map(({ origin }) => `model openai:small@${new URL(origin).host}`),
      );
      expect(providers.map(({ requests }) => requests.length)).toEqual([1, 1]);
      const again = await assize('t', 'model.ts', ...models, ...models.slice(0, 2), ...few);
      expect(again).toMatchObject({ code: 2, err: expect.stringContaining('is given twice') });
    } finally {
      await Promise.all(providers.map((provider) => provider.close()));
    }
  });

  test('of several samples have medians in every row, and the text says so', async () => {
    const two = ['--variants', 'variants.ts', '--samples', '3'];
    const { out } = await assize('t', ...two, ...given, '--policy', 'deny.json');
    expect(out).toMatch(/3 samples of each variant, medians of all samples:/);
    const { variants } = JSON.parse((await assize('t', ...two, ...given, '--json')).out);
    const [{ medians, rules, samples }] = variants;
    const lower = (values: number[]): number => values.sort((a, b) => a - b)[1] as number;
    for (const [rule, of] of Object.entries(rules))
      for (const kind of ['rejected', 'escalated']) {
        const met = samples.map(({ steps }: any) =>
          steps.filter((step: any) => step.rule === rule && step.ruling === kind),
        );
        expect((of as any)[kind]).toBe(met.flat().length);
        expect(medians.rules[rule][kind]).toBe(lower(met.map((steps: any[]) => steps.length)));
      }
    expect(Object.keys(rules).length).toBeGreaterThan(0);
    const failing = await assize('t', ...two, ...given.slice(0, 4));
    expect(failing.out).toContain(
      'medians of all samples, of those that failed or have no answer up to there:',
    );
  });

  test('names that fit nothing are compared, with a note to the user', async () => {
    const strange = ['--policy', 'strange.json', '--simulators', 'strange-calls.json'];
    const { code, err } = await assize(
      't',
      'desk.ts',
      ...strange,
      ...given.slice(0, 4),
      '--turns',
      '12',
    );
    expect([code, err]).toEqual([0, expect.any(String)]);
    expect(err).toMatch(
      /The rule odd of strange\.json names fly, and teller has no such action\. Its actions: /,
    );
    expect(err).toMatch(
      /The simulators name till\.fly, and no such tool is loaded\. Tools: till\./,
    );
  });

  test('of a file with another default export are its named agents', async () => {
    const { code, out } = await assize('t', 'default.ts', ...given);
    expect([code, out]).toEqual([
      0,
      expect.stringContaining('default has the rulings of the record.'),
    ]);
  });

  test('of a simulation of the config have the writs of their grants', async () => {
    const before = bytes();
    const { code, out, err } = await assize(
      't',
      '--simulation',
      'own',
      '--config',
      'sim.config.ts',
      '--json',
    );
    expect([code, err]).toEqual([0, '']);
    const { variants, recorded } = JSON.parse(out);
    expect(variants.map(({ name }: { name: string }) => name)).toEqual(['1 teller 0']);
    expect(variants[0].spent).toEqual(recorded.spent);
    expect(variants[0].samples[0].parts).toBeUndefined();
    expect(bytes().equals(before)).toBe(true);
    expect(existsSync(join(folder, 'till.db.root.key'))).toBe(false);
  });

  test('without an answer to a call are a negative finding', async () => {
    const { code, out } = await assize('t', '--variants', 'variants.ts', ...given.slice(0, 4));
    expect([code, out]).toEqual([
      1,
      expect.stringMatching(/no_answer: till\.\w+ \{.*\}: The record has no such call/),
    ]);
  });
});

test.each(['till.db', './till.db', 'linked.db', 'same.db'])(
  '--record %s, a store with trajectories, is refused',
  async (file) => {
    if (file === 'linked.db') symlinkSync('till.db', join(folder, file));
    if (file === 'same.db') linkSync(join(folder, 'till.db'), join(folder, file));
    const before = bytes();
    const { code, out, err } = await assize('t', 'desk.ts', ...given, '--record', file);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(`The file ${file} of --record is a store with trajectories`);
    expect(bytes().equals(before)).toBe(true);
  },
);

test('a store that does not exist is named, and not its anchors', async () => {
  const { code, err } = await runCommand(
    folder,
    'sqlite:./typo.db',
    'lab',
    'simulate',
    't',
    'desk.ts',
  );
  expect([code, err]).toEqual([
    2,
    expect.stringMatching(/The store \.\/typo\.db does not exist\./),
  ]);
});

test.each<readonly [readonly string[], RegExp]>([
  [['t'], /The simulation has no variants/],
  [['nowhere', 'desk.ts'], /The store has no trajectory nowhere/],
  [['t@999', 'desk.ts'], /has no entry with seq 999/],
  [['t', 'none.ts'], /none\.ts does not exist/],
  [['t', '.'], /The agents file .* is not a file\. Name a file, such as a module in that folder/],
  [['t', 'tools.ts'], /it exports no agents/],
  [['t', '--variants', 'tools.ts'], /it exports no list variants/],
  [['t', '--variants', 'empty.ts'], /its list variants is empty; add a variant/],
  [
    ['t', 'desk.ts', '--instead', 'budget'],
    /names the domain budget, and the trajectory has teller/,
  ],
  [['t', 'desk.ts', '--people', 'all'], /The option --people is not valid/],
  [
    ['t', 'desk.ts', '--simulators', 'bad.json'],
    /The simulator of till\.pay is not valid: its table must be a list/,
  ],
  [['t', 'desk.ts', '--schema', 'x.cedarschema'], /The option --schema needs a Cedar policy/],
  [['t', 'desk.ts', '--record', 'sqlite:x.db'], /The option --record names a file/],
  [['t', 'desk.ts', '--samples', '0'], /whole number from 1/],
  [['t', 'model.ts'], /Pass --model/],
  [['t', '--simulation', 'own'], /The config has no simulation own\. Its simulations: none\./],
  [
    ['t', '--simulation', 'no', '--config', 'sim.config.ts'],
    /no simulation no\. Its simulations: own, thrown, other\./,
  ],
  [
    ['t', '--simulation', 'thrown', '--config', 'sim.config.ts'],
    /The function variants .* failed: no model here\./,
  ],
  [
    ['t', '--simulation', 'other', '--config', 'sim.config.ts'],
    /is for the domain budget, and t has teller/,
  ],
])('%j is misuse, in one sentence', async (args, message) => {
  const { code, out, err } = await assize(...args, '--domain', 'domain.ts');
  expect([code, out]).toEqual([2, '']);
  expect(err).toMatch(message);
  expect(err.trimEnd().split('\n')).toHaveLength(1);
});
