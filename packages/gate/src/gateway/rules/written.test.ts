import fc from 'fast-check';
import { expect, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import {
  ruleFile,
  some,
  yamlOf,
} from '../../../../../tests/support/domains/gateway/naive-rules.ts';
import { rulesDigest } from '../actions/configure.ts';
import { readRules } from './read-rules.ts';
import { fileText } from './written.ts';

const text = fc.string({ unit: 'binary', minLength: 1, maxLength: 20 });
const more = fc.record({
  mode: some(fc.constant('observe' as const)),
  trust: fc.subarray(['bank', 'fs']),
  turns: some(fc.array(fc.record({ tools: fc.constant('fs/*'), because: some(text) }))),
  standing: some(fc.record({ uses: fc.integer({ min: 1, max: 9 }) })),
  values: fc.array(fc.oneof(text, fc.integer(), fc.boolean(), fc.constant(null)), { minLength: 1 }),
  tool: fc.constant({ root: '/repo', undo: { tool: 'crm/del', args: { id: '/result/id' } } }),
});

test('rules that are written as a file are read back as they were', () => {
  const property = fc.property(ruleFile, more, (file, { mode, turns, values, tool, ...rest }) => {
    const made = JSON.parse(yamlOf(file));
    const where = [{ path: '/to', in: values, not: 'b: #c' }];
    const { rules } = readRules(
      JSON.stringify({
        ...{ ...made, ...rest },
        ...(mode && { mode, until: '2030-01-01', agents: 'ada' }),
        turns: turns?.map((turn, i) => ({ id: `t${i}`, ...turn })),
        tools: { ...made.tools, 'crm/add': tool, 'crm/any': {} },
        rules: [...made.rules, { id: 'odd', deny: ['crm/*', '*'], where, because: `x${values}` }],
      }),
    );
    expect(rulesDigest(readRules(fileText(rules)).rules)).toBe(rulesDigest(rules));
  });
  fc.assert(property, { numRuns: cases(2_000) });
});

test('each rule and each tool is one line', () => {
  const file = `id: bills
default: allow
limits: []
read_before_write: []
rules:
  - { id: large, ask: [bank/pay], amount: { unit: cents, min: 10000 } }
standing:
  uses: 10
  hours: 24
  amounts: { cents: 100000 }
trust: []
unknown: ask
tools:
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
`;
  const lines = (given: string) => given.split('\n').sort();
  expect(lines(fileText(readRules(file).rules))).toEqual(lines(file));
});
