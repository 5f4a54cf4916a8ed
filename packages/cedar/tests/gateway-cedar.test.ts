/** The gateway domain with a Cedar policy in the place of the policy of a rules file. */

import { gateway, readRules } from '@assize/gate/unstable/gateway';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { cedarPolicy } from '../src/index.ts';

const SCHEMA = `
entity Role;
entity Principal in [Role];
entity Trajectory;
action call appliesTo {
  principal: [Principal], resource: [Trajectory],
  context: { args: { server: String, tool: String, "/args/cents"?: Long } },
};
`;
const POLICIES = `
@id("small") permit (principal, action == Action::"call", resource)
when { context.args.server == "bank" && context.args has "/args/cents" && context.args["/args/cents"] <= 100 };
@id("large") @approval("required") permit (principal, action == Action::"call", resource)
when { context.args.server == "bank" && context.args has "/args/cents" && context.args["/args/cents"] > 100 };
@id("mail") forbid (principal, action == Action::"call", resource) when { context.args.server == "mail" };
`;

test('Cedar permits, asks and forbids calls, and unknown tools still ask', async () => {
  const policy = await cedarPolicy({ policies: POLICIES, schema: SCHEMA });
  const { rules } = readRules(
    'id: cedar\ndefault: allow\ntools: { bank/pay: {}, mail/send: {} }\n',
  );
  const domain = gateway({ rules });
  const writ = writFor('agent:ada');
  const assize = runtimeOver(new MemoryStore(), [domain], { policy });
  const trajectory = await assize.create(domain, { writs: [writ] });
  const call = async (server: string, tool: string, args: object) => {
    const role = { name: 'agent', params: { agent: 'ada' } } as never;
    const ruling = await trajectory.propose({
      action: 'call',
      role,
      args: { server, tool, args },
      writ,
    });
    return [ruling.ruling, 'reason' in ruling ? ruling.reason : undefined];
  };
  expect(await call('bank', 'pay', { cents: 50, to: ['x'] })).toEqual(['committed', undefined]);
  expect(await call('bank', 'pay', { cents: 500 })).toEqual(['escalated', 'policy_needs_approval']);
  expect(await call('bank', 'pay', { cents: 'many' })).toEqual(['rejected', 'policy_denied']);
  expect(await call('mail', 'send', {})).toEqual(['rejected', 'policy_denied']);
  expect(await call('bank', 'close', { cents: 1 })).toEqual(['escalated', 'invariant_escalated']);
});
