import * as authority from '#authority';
import { keysOf } from '../../support/ledger/rows.ts';
import { operator, START, writFor } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT, takes } from './table.ts';

const holder = keysOf(11);
const writ = writFor(holder.publicKey, { trajectory: 't', budget: { usd: 10 } });
const changes = { subject: 'child', nonce: 'n', actions: ['a:*'], budget: { usd: 1 } };
const child = authority.attenuate(writ, changes, holder.privateKey);
const { v, parent, signature, ...grant } = writ;
const { signature: _, ...childBody } = child;
const id = authority.writId(writ);
const revoked = new Set<string>();
const use = {
  writ,
  chain: [],
  principal: holder.publicKey,
  trajectory: 't',
  at: START,
  action: 'a',
  scopes: ['s'],
  revoked,
};
const anchors = [operator.publicKey];
const verifier = authority.createWritVerifier({ anchors });
const table = {
  id: 'T',
  rules: [
    { id: 'R', effect: 'allow', actions: ['**'], where: [{ path: '/a', exists: false }] },
    { id: 'C', effect: 'deny', actions: ['**'], calls: [{ tool: 'bank.*', where: [{ path: '/cents', min: 5 }] }] },
  ],
  otherwise: 'deny',
};

function granted(): authority.BudgetLedger {
  const ledger = new authority.BudgetLedger();
  ledger.grant(writ);
  ledger.spend(id, { usd: 2 });
  return ledger;
}

export const AUTHORITY: Readonly<Record<string, Case | Exempt>> = {
  'new BudgetLedger': exempt('no arguments'),
  'BudgetLedger.grant': takes((given) => new authority.BudgetLedger().grant(given), [writ]),
  'BudgetLedger.covers': takes((name, cost) => granted().covers(name, cost), [id, { usd: 1 }]),
  'BudgetLedger.spend': takes((name, cost) => granted().spend(name, cost), [id, { usd: 1 }]),
  'BudgetLedger.spendUpTo': takes((name, cost) => granted().spendUpTo(name, cost), [id, { usd: 1 }]),
  'BudgetLedger.refund': takes((name, cost) => granted().refund(name, cost), [id, { usd: 1 }]),
  'BudgetLedger.left': takes((name) => granted().left(name), [id]),
  'BudgetLedger.reserved': takes((name) => granted().reserved(name, []), [id]),
  'BudgetLedger.spent': takes((name) => granted().spent(name), [id]),
  'BudgetLedger.state': exempt('no arguments'),
  'BudgetLedger.restore': takes((state) => granted().restore(state), [{ [id]: { usd: 1 } }]),
  attenuate: takes(authority.attenuate, [writ, changes, holder.privateKey]),
  checkWrit: takes(authority.checkWrit, [{ ...use, anchors }]),
  contains: takes(authority.contains, ['a:**', 'a:b']),
  allHold: exempt(MADE),
  compileCondition: exempt(MADE),
  covers: takes(authority.covers, ['a:*', 'a:b']),
  createWritVerifier: takes(authority.createWritVerifier, [{ anchors, cacheSize: 10, maxDepth: 3 }]),
  'WritVerifier.check': takes((given) => verifier.check(given), [use]),
  'WritVerifier.verify': takes((one, chain, by) => verifier.verify(one, chain, by), [writ, [], 'd']),
  'WritVerifier.verifyAnywhere': takes((one, chain) => verifier.verifyAnywhere(one, chain), [writ, []]),
  'WritVerifier.checkDelegation': takes(
    (given) => verifier.checkDelegation(given),
    [{ writ, chain: [], trajectory: 't', child: 'c', at: START, revoked }],
  ),
  delegateWrit: takes(authority.delegateWrit, [writ, { ...changes, trajectory: 'c' }, holder.privateKey]),
  costItems: takes(authority.costItems, [{ usd: 1 }]),
  isAmount: takes(authority.isAmount, [1]),
  isToolName: takes(authority.isToolName, ['bank.pay']),
  isToolPattern: takes(authority.isToolPattern, ['bank.*']),
  issueWrit: takes(authority.issueWrit, [grant, operator.privateKey]),
  haltScope: takes(authority.haltScope, ['t']),
  matchesTool: takes(authority.matchesTool, ['bank.*', 'bank.pay'], { 0: MADE, 1: MADE }),
  mayHalt: takes(authority.mayHalt, [{ writ: child, chain: [writ] }]),
  mayRevoke: takes(authority.mayRevoke, [
    { writ, chain: [] },
    { writ: child, chain: [writ] },
  ]),
  normalizeAction: takes(authority.normalizeAction, ['a:*']),
  normalizeScope: takes(authority.normalizeScope, ['a:*']),
  readScope: takes(authority.readScope, ['a:*']),
  overlaps: takes(authority.overlaps, ['a:*', 'a:b']),
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
  effectScope: takes(authority.effectScope, ['bank.pay']),
  mayResolveEffect: takes(authority.mayResolveEffect, () => [{ writ, chain: [] }]),
  revokeScope: takes(authority.revokeScope, [id]),
  ruleTable: takes(authority.ruleTable, [authority.parseRuleTable(table)]),
  failClosedPolicy: takes(authority.failClosedPolicy, [authority.ruleTable(authority.parseRuleTable(table))], {
    0: PORT,
  }),
  isSubject: exempt(MADE),
  segment: takes(authority.segment, ['a/b']),
  widening: takes(authority.widening, [writ, childBody], { 0: MADE, 1: MADE }),
  writId: takes(authority.writId, [writ]),
};
