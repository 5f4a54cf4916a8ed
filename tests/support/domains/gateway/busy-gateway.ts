/**
 * States and arguments with which the search of `checkDomain` meets every action of the gateway.
 */
import fc from 'fast-check';
import {
  configuration,
  type GatewayState,
  readRules,
} from '../../../../packages/gate/src/gateway/index.ts';
import { desk } from './desk.ts';

const RULES = `
id: busy
trust: [fs]
tools:
  fs/read: { class: read, reads: /path }
  fs/write: { class: reversible, writes: /path }
  bank/pay: { class: irreversible, amounts: { cents: /cents } }
rules:
  - { id: reads, allow: fs/*, path: /a }
  - { id: small, allow: bank/pay, amount: { unit: cents, max: 50 } }
  - { id: medium, ask: bank/pay, amount: { unit: cents, min: 51, max: 100 } }
  - { id: large, ask: bank/pay, amount: { unit: cents, min: 101 }, approvals: 2 }
limits:
  - { id: day, tools: bank/pay, per: day, unit: cents, max: 400 }
read_before_write:
  - { id: look, tools: fs/write }
standing: { uses: 5, hours: 48, amounts: { cents: 300 } }
`;

/** States that calls, reports, pins and standing approvals lead to. */
export async function busyGateway(): Promise<readonly GatewayState[]> {
  const made = await desk(RULES);
  made.clock.at = '2026-06-01T09:00:00.000000Z';
  const states = [made.state()];
  await made.call('ada', 'fs/read', { path: '/a' });
  await made.act('report', { call: 'c1', outcome: 'done' }, 'ada');
  await made.call('ada', 'bank/pay', { cents: 20 });
  await made.act('pin', { server: 'fs', tool: 'read', definition: { n: 1 } });
  const terms = {
    tools: ['bank/pay'],
    uses: 3,
    amounts: { cents: 200 },
    expires: '2026-06-02T12:00:00Z',
    because: 'x',
  };
  await made.approve(await made.act('stand', { id: 'a', agent: 'ada', ...terms }, 'ada'));
  states.push(made.state());
  await made.call('ada', 'bank/pay', { cents: 80 });
  const old = structuredClone(made.state());
  old.used['day|2026-05-31|*|*|old'] = 7;
  old.read['ada|/old'] = '2026-05-01T09:00:00.000000Z';
  old.standing['gone'] = {
    agent: 'ben',
    ...terms,
    expires: '2026-06-01T10:00:00.000000Z',
    approvedBy: 'human:grace',
  };
  old.spent['gone|old'] = { cents: 5, '#uses': 1 };
  old.calls['old'] = {
    ...(old.calls['c1'] as GatewayState['calls'][string]),
    at: '2026-05-31T09:00:00.000000Z',
  };
  return [...states, old];
}

const tool = fc.constantFrom<[string, string]>(
  ['fs', 'read'],
  ['fs', 'write'],
  ['bank', 'pay'],
  ['new', 'tool'],
);

export const gatewayArguments: Readonly<Record<string, fc.Arbitrary<any>>> = {
  call: fc
    .record({
      tool,
      path: fc.constantFrom('/a', '/a/b', '/b', '/a/..'),
      cents: fc.constantFrom(5, 60, 90, 150, -1),
    })
    .map(({ tool: [server, name], path, cents }) => ({
      server,
      tool: name,
      args: { path, cents },
    })),
  report: fc.record({
    call: fc.constantFrom('c1', 'c2', 'c3', 'none'),
    outcome: fc.constantFrom('done', 'failed', 'unknown'),
  }),
  pin: fc
    .record({ tool, n: fc.nat(2) })
    .map(({ tool: [server, name], n }) => ({ server, tool: name, definition: { n } })),
  stand: fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    agent: fc.constantFrom('ada', 'ben'),
    tools: fc.constant(['bank/pay']),
    uses: fc.integer({ min: 1, max: 6 }),
    amounts: fc.constantFrom({}, { cents: 100 }, { cents: 900 }),
    expires: fc.constantFrom('2026-06-02T12:00:00Z', '2026-06-09T12:00:00Z'),
    because: fc.constant('tested'),
  }),
  end_standing: fc.record({ id: fc.constantFrom('a', 'b') }),
  configure: fc
    .constantFrom('max: 400', 'max: 10', 'max: 500')
    .map((max) => configuration(readRules(RULES.replace('max: 400', max)).rules)),
};
