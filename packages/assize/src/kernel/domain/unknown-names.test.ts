import { expect, test } from 'vitest';
import { parseRuleTable, type Rule } from '#authority';
import { unknownNames } from './unknown-names.ts';

const domains = [
  { actions: { claim: {}, 'book.flight': {} }, roles: { employee: {} } },
  { actions: { pay: {} }, roles: { clerk: {} } },
];
const tools = [{ name: 'bank.pay' }];

const found = (rule: Partial<Rule>, known: object = { domains, tools }) =>
  unknownNames(
    parseRuleTable({
      id: 't',
      otherwise: 'deny',
      rules: [
        { id: 'ok', effect: 'allow', actions: ['**'] },
        { id: 'r', effect: 'deny', actions: ['claim'], ...rule },
      ],
    }),
    known as never,
  ).map(({ rule, pointer, kind, name }) => `${rule} ${pointer} ${kind} ${name}`);

test.each<[string, Partial<Rule>, string[]]>([
  ['an action of no domain', { actions: ['clam', 'pay'] }, ['r /rules/1/actions/0 action clam']],
  [
    'a pattern that matches nothing',
    { actions: ['pay', 'book:*'] },
    ['r /rules/1/actions/1 action book:*'],
  ],
  ['a role of no domain', { roles: ['clerk', 'boss'] }, ['r /rules/1/roles/1 role boss']],
  [
    'a tool that is not given',
    { calls: [{ tool: 'mail.*' }] },
    ['r /rules/1/calls/0/tool tool mail.*'],
  ],
])('%s is reported', (_, rule, expected) => {
  expect(found(rule)).toEqual(expected);
});

test.each<[string, Partial<Rule>]>([
  ['actions of any domain', { actions: ['claim', 'book.flight', 'pay'] }],
  [
    'tools and built-in actions',
    { actions: ['bank.pay', 'assize.erase', 'assize.resolve_effect', '**'] },
  ],
  [
    'roles of domains, tools and built-in actions',
    { roles: ['employee', 'clerk', 'assize', 'assize.tool'] },
  ],
  ['tools by group', { calls: [{ tool: 'bank.*' }, { tool: '**' }] }],
])('%s are known', (_, rule) => {
  expect(found(rule)).toEqual([]);
});

test('tools in calls are compared only if tools are given', () => {
  expect(found({ calls: [{ tool: 'mail.send' }] }, { domains })).toEqual([]);
  expect(found({ actions: ['bank.pay'] }, { domains })).toEqual([
    'r /rules/1/actions/0 action bank.pay',
  ]);
});
