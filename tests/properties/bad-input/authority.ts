import * as authority from '#authority';
import { keysOf } from '../../support/ledger/rows.ts';
import { operator, START, writFor } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { PORT, takes } from './table.ts';

const holder = keysOf(11);
const writ = writFor(holder.publicKey, { trajectory: 't', budget: { usd: 10 } });
const changes = { subject: 'child', nonce: 'n', actions: ['a:*'], budget: { usd: 1 } };
const { v, parent, signature, ...grant } = writ;
const id = authority.writId(writ);
const table = {
  id: 'T',
  rules: [
    { id: 'R', effect: 'allow', actions: ['**'], where: [{ path: '/a', exists: false }] },
    {
      id: 'C',
      effect: 'deny',
      actions: ['**'],
      calls: [{ tool: 'bank.*', where: [{ path: '/cents', min: 5 }] }],
    },
  ],
  otherwise: 'deny',
};

export const AUTHORITY: Readonly<Record<string, Case | Exempt>> = {
  attenuate: takes(authority.attenuate, [writ, changes, holder.privateKey]),
  covers: takes(authority.covers, ['a:*', 'a:b']),
  delegateWrit: takes(authority.delegateWrit, [
    writ,
    { ...changes, trajectory: 'c' },
    holder.privateKey,
  ]),
  issueWrit: takes(authority.issueWrit, [grant, operator.privateKey]),
  parseRuleTable: takes(authority.parseRuleTable, [table]),
  'Policy.evaluate': takes(
    (query) => authority.ruleTable(authority.parseRuleTable(table)).evaluate(query),
    [
      {
        action: 'a',
        role: { name: 'r', params: { p: 'x' } },
        args: {},
        scopes: ['s'],
        principal: 'p',
        writ_id: id,
        trajectory_id: 't',
        at: START,
        calls: [{ tool: 'bank.pay', input: { cents: 1 } }],
      },
    ],
  ),
  parseWrit: takes(authority.parseWrit, [writ]),
  ruleTable: takes(authority.ruleTable, [authority.parseRuleTable(table)]),
  failClosedPolicy: takes(
    authority.failClosedPolicy,
    [authority.ruleTable(authority.parseRuleTable(table))],
    {
      0: PORT,
    },
  ),
  writId: takes(authority.writId, [writ]),
};
