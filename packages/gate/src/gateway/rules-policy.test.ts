import type { Json } from 'assize/internal/base';
import { describe, expect, test } from 'vitest';
import { readRules, rulesPolicy } from './index.ts';

const policy = rulesPolicy(
  readRules(`
id: denials
unknown: deny
default: deny
tools:
  fs/read: { class: read, reads: /path }
  web/get: {}
rules:
  - { id: secrets, deny: fs/*, path: /repo/secrets, because: No. }
  - { id: wild, deny: "*", class: irreversible }
  - { id: paid, ask: bank/pay }
  - { id: ben, deny: web/get, agents: ben }
limits:
  - { id: none, tools: "*", per: day, max: 0 }
`).rules,
);

const COMMON = {
  scopes: [],
  writ_id: 'f'.repeat(64),
  trajectory_id: 't',
  at: '2026-03-01T09:00:00.000000Z',
};
function asked(action: string, role: string, args: Json, agent = 'ada') {
  const params: Record<string, string> = role === 'agent' ? { agent } : {};
  return policy.evaluate({
    ...COMMON,
    action,
    args,
    role: { name: role, params },
    principal: `agent:${agent}`,
  });
}
const called = (server: string, tool: string, args: Json, agent?: string) =>
  asked('call', 'agent', { server, tool, args }, agent);

describe('the policy of the rules', () => {
  test('denies a call with the id of the rule', () => {
    expect(called('fs', 'read', { path: '/repo/secrets/x' })).toEqual({
      decision: 'deny',
      rule: 'secrets',
      reasons: ['[secrets] No.'],
      errors: [],
    });
    expect(called('fs', 'read', { path: '/repo/../x' })).toMatchObject({
      decision: 'deny',
      rule: 'secrets',
    });
    expect(called('web', 'get', {}, 'ben')).toMatchObject({ decision: 'deny', rule: 'ben' });
  });

  test('denies a call of a tool that Assize makes, reads included', () => {
    expect(asked('fs.read', 'assize.tool', { path: '/repo/secrets/x' })).toMatchObject({
      decision: 'deny',
    });
    expect(asked('fs.read', 'assize.tool', { path: '/repo/x' })).toMatchObject({
      decision: 'allow',
    });
    expect(asked('web.get', 'assize.tool', {}, 'ben')).toMatchObject({
      decision: 'deny',
      rule: 'ben',
    });
  });

  test('leaves questions, limits, defaults and unknown tools to the domain', () => {
    expect(called('fs', 'read', { path: '/elsewhere' })).toMatchObject({ decision: 'allow' });
    expect(called('bank', 'pay', {})).toMatchObject({ decision: 'allow' });
    expect(called('new', 'tool', {})).toMatchObject({ decision: 'allow' });
  });

  test('denies by a class only where the file says the class', () => {
    // A pin may say that web/get only reads.
    expect(called('web', 'get', {})).toMatchObject({ decision: 'allow' });
  });

  test('allows every other action', () => {
    for (const action of ['report', 'configure', 'assize.erase', 'pin'])
      expect(asked(action, 'admin', {})).toMatchObject({ decision: 'allow' });
  });

  test('denies a request that it cannot read', () => {
    expect(asked('call', 'agent', 'nothing')).toMatchObject({ decision: 'deny' });
  });

  test('has another digest for other rules', () => {
    const digest = (yaml: string) => rulesPolicy(readRules(yaml).rules).digest;
    expect(digest('id: a\n')).toBe(digest('id: a\ndefault: ask\n'));
    expect(digest('id: a\n')).not.toBe(digest('id: a\ndefault: deny\n'));
  });
});
