import { expect, onTestFinished, test } from 'vitest';
import { startHookServer } from '../../../tests/support/agents/hook-server.ts';
import { serverFaults } from './own-server.ts';

test.each<[string, unknown, RegExp | undefined]>([
  ['Assize', { name: 'agent:coder', kinds: ['agent'], method: 'token' }, undefined],
  ['Assize for a person', { name: 'ada', kinds: ['counselor'], method: 'token' }, /no agent/],
  ['another program', {}, /names no agent/],
  ['a program that greets', 'It works!', /names no agent/],
  ['a stopped program', undefined, /did not answer in time/],
])('the check believes a server that answers as %s only if it is one', async (_, answer, fault) => {
  const { url, close } = await startHookServer((_call, response) =>
    answer === undefined ? void response.on('close', () => undefined) : answer,
  );
  onTestFinished(close);
  const faults = await serverFaults(url, 'asz_1');
  expect(faults).toEqual(fault === undefined ? [] : [expect.stringMatching(fault)]);
});
