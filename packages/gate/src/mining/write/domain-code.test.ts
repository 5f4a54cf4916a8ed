/** Mined rules as code of a domain: the module runs, and rules as the candidate says. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MemoryStore } from '@assize/testing/memory';
import { declareTool } from 'assize/internal/effects';
import { call, defineDomain } from 'assize/internal/kernel';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { cases } from '../../../../../tests/support/cases.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { domainCode, judgeRule, type MinedRule } from '../index.ts';

const RULES: readonly MinedRule[] = [
  { kind: 'bound', tool: 'bank/pay', path: '/cents', of: 'value', max: 50 },
  { kind: 'bound', tool: 'bank/pay', path: '/to', of: 'length', max: 2 },
  { kind: 'values', tool: 'bank/pay', path: '/folder', values: ['in"box', 'sent'] },
  { kind: 'prefix', tool: 'bank/pay', path: '/deep/path', prefix: '/repo/`$\u007bx}/' },
  { kind: 'approval', tool: 'bank/pay', from: { path: '/cents', min: 30 } },
  {
    kind: 'ordering',
    tool: 'bank/pay',
    needs: 'crm/get',
    on: { path: '/order', needsPath: '/id' },
  },
];

type Made = readonly any[];

async function moduleOf(rule: MinedRule): Promise<Made> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-mined-'));
  const file = join(folder, 'rules.ts');
  const code = domainCode([{ id: `${rule.kind}-1`, rule }], { effect: 'deny' });
  const assize = pathToFileURL(
    join(import.meta.dirname, '../../../../assize/src/public/index.ts'),
  ).href;
  writeFileSync(file, code.replace("from 'assize'", `from '${assize}'`));
  return ((await import(pathToFileURL(file).href)) as { minedRules: Made }).minedRules;
}

const tool = declareTool({
  name: 'bank.pay',
  input: z.record(z.string(), z.any()),
  class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['bank'],
  execute: () => null,
  compensate: () => ({ undone: 'all' }),
});

async function ruledBy(minedRules: Made) {
  const domain = defineDomain({
    name: 'mined',
    version: '1',
    state: z.strictObject({ done: z.record(z.string(), z.boolean()), paid: z.int() }),
    initial: { done: { 'crm.get o/1': true }, paid: 0 },
    processes: { paying: { reads: ['/done'], writes: ['/paid'] } },
    roles: { worker: { processes: ['paying'] } },
    actions: {
      pay: {
        process: 'paying',
        args: z.strictObject({ input: z.record(z.string(), z.any()) }),
        apply: (state) => {
          state.paid++;
        },
        calls: (_, { input }) => [call(tool, input)],
      },
    },
    invariants: minedRules,
  });
  const writ = writFor('agent:ada');
  const trajectory = await runtimeOver(new MemoryStore(), [domain], { tools: [tool] }).create(
    domain,
    {
      writs: [writ],
    },
  );
  return (input: object) =>
    trajectory.judge({ action: 'pay', role: 'worker', args: { input } as never, writ });
}

const input = fc.record(
  {
    cents: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constant('x')),
    to: fc.oneof(fc.array(fc.constant('a'), { maxLength: 4 }), fc.constant('abc')),
    folder: fc.constantFrom('in"box', 'sent', 'other'),
    deep: fc.record({ path: fc.constantFrom('/repo/`$\u007bx}/a', '/etc', 7) }),
    order: fc.constantFrom('o/1', 'o/2'),
  },
  { requiredKeys: ['order'] },
);

describe.each(RULES.map((rule) => [rule.kind, rule] as const))('%s', (_, rule) => {
  let judge: Awaited<ReturnType<typeof ruledBy>>;
  beforeAll(async () => {
    judge = await ruledBy(await moduleOf(rule));
  });

  test('the code refuses the calls that break the rule, and no others', async () => {
    let refused = 0;
    await fc.assert(
      fc.asyncProperty(input, async (args) => {
        const look = { tool: 'crm/get', args: { id: 'o/1' }, ruling: 'committed' } as const;
        const pay = { tool: 'bank/pay', args: args as never, ruling: 'committed' } as const;
        const breaks =
          judgeRule(rule, [{ id: 'one', calls: [look, pay] }]).counter_example_count === 1;
        expect(await judge(args)).toMatchObject({ ruling: breaks ? 'rejected' : 'committed' });
        if (breaks) refused++;
      }),
      { numRuns: cases(1_000) },
    );
    expect(refused).toBeGreaterThan(0);
  });
});

test('names and values of calls stay data', () => {
  const evil = "x'; process.exit(1) //\u2028process.exit(1)\n*/`$\u007bprocess.exit(1)}";
  const code = domainCode([
    {
      id: 'values-1',
      rule: { kind: 'values', tool: 'bank/pay', path: `/${evil}`, values: [evil] },
    },
  ]);
  const outside = code.replaceAll(/"(?:[^"\\]|\\.)*"/g, '""').replaceAll(/\/\/ .*/g, '');
  expect(outside).not.toContain('exit');
  expect(code).not.toMatch(/[\u2028\u2029]/);
});

test.each<MinedRule>([
  { kind: 'never', tool: 'bank/pay', by: 'principal', names: ['ben'] },
  { kind: 'rate', tool: 'bank/pay', per: 'run', max: 1 },
  { kind: 'apart', tool: 'bank/pay', other: 'bank/plan' },
  { kind: 'bound', tool: 'Bank Pay', path: '/cents', of: 'value', max: 1 },
])('a rule without a place in code is refused: $kind', (rule) => {
  expect(() => domainCode([{ id: 'x', rule }])).toThrow(
    expect.objectContaining({ code: 'not_expressible' }),
  );
});
