import { expect, test } from 'vitest';
import { desk, said } from '../../../../tests/support/domains/gateway/desk.ts';
import { configuration } from './configuration.ts';
import { readRules } from './rules/read-rules.ts';

const FILE = `
id: a
tools: { bank/pay: { class: irreversible, amounts: { cents: /cents } }, bank/get: { class: read } }
rules: [{ id: get, allow: bank/get }, { id: pay, ask: bank/pay }]
`;

test('a trial limit holds up no call, and no approval of one that waits', async () => {
  const made = await desk(FILE, { policy: false });
  const trial = readRules(`${FILE}limits: [{ id: few, tools: '*', per: day, max: 1 }]`).rules;
  const { rules } = readRules(FILE);
  await made.act('configure', configuration(rules, [], { rules: trial, until: '2099-01-01' }));
  const waits = await made.call('ada', 'bank/pay', { cents: 5 });
  expect(said(waits)).toBe('escalated pay');
  for (const id of ['c2', 'c3']) {
    expect(said(await made.call('ada', 'bank/get'))).toBe('committed');
    expect(said(await made.act('report', { call: id, outcome: 'done' }, 'ada'))).toBe('committed');
  }
  expect(made.state().calls['c3']?.trial).toMatchObject({ ruling: 'deny', rule: 'few' });
  expect(said(await made.approve(waits))).toBe('committed');
});
