import { expect, test } from 'vitest';
import type { Domain } from '../../api/domain-query.ts';
import { rolesFor, type Trial, trialIn, withAction, withParams } from './trial.ts';

const domain = {
  actions: [
    {
      name: 'pay',
      process: 'payment',
      args: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
    },
    { name: 'audit', process: 'audit' },
  ],
  roles: [
    { name: 'clerk', params: ['desk'], processes: ['payment'] },
    { name: 'auditor', params: [], processes: ['audit'] },
  ],
} as unknown as Domain;

test('another action has its first role and empty arguments', () => {
  const trial: Trial = {
    ...{
      principal: 'agent:a',
      action: 'audit',
      role: { name: 'auditor', params: {} },
      args: {},
      isBefore: true,
    },
  };
  const changed = withAction(trial, domain, 'pay');
  expect(changed).toEqual({
    ...trial,
    action: 'pay',
    role: { name: 'clerk', params: { desk: '' } },
    args: { to: '' },
  });
  expect(withAction(changed, domain, 'audit')).toEqual(trial);
});

test('a role keeps the parameters that it has', () => {
  const [clerk] = rolesFor(domain, 'pay');
  expect(withParams(clerk, { desk: 'b', other: 'x' })).toEqual({
    name: 'clerk',
    params: { desk: 'b' },
  });
  expect(rolesFor(domain, 'unknown')).toEqual([]);
});

test.each(['{', 'null', '7', '{"action":"pay"}', '{"action":"audit","role":null}'])(
  'an address without a proposal has none: %s',
  (text) => expect(trialIn(text, 'agent:a', domain)).toBeUndefined(),
);

test('a role of an address needs a name, and texts as its parameters', () => {
  const read = (role: unknown) =>
    trialIn(JSON.stringify({ action: 'pay', role, args: { to: 'b' } }), 'agent:a', domain);
  for (const role of [{}, { name: 'clerk' }, { name: 'clerk', params: { desk: 1 } }])
    expect(read(role)).toBeUndefined();
  const role = { name: 'clerk', params: { desk: 'b' } };
  expect(read(role)).toMatchObject({ action: 'pay', role, args: { to: 'b' } });
  expect(read('clerk')).toMatchObject({ role: { name: 'clerk', params: {} } });
});
