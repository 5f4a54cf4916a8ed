import { type CallContext, declareTool } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callerIn, claimsOf, directCaller } from './callers.ts';
import { modeOf } from './modes.ts';
import type { Environment } from './task.ts';

const calls: CallContext[] = [];
const send = declareTool({
  name: 'mail.send',
  input: z.strictObject({ to: z.string(), cc: z.string().default('nobody') }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  reads: ['mail:addresses'],
  writes: ['mail:{to}'],
  execute: ({ to, cc }, call) => {
    calls.push(call);
    if (to === 'nowhere') throw new Error('the line was dead');
    return `${to}, ${cc}`;
  },
});

test('without a runtime a tool of any class acts when called, with a fresh key', async () => {
  const call = directCaller([send]);
  expect(await call({ tool: 'mail.send', input: { to: 'ada' } })).toBe('ada, nobody');
  await call({ tool: 'mail.send', input: { to: 'ada' } });
  const keys = calls.splice(0).map(({ key }) => key);
  expect(new Set(keys).size).toBe(2);
  await expect(call({ tool: 'mail.read', input: {} })).rejects.toThrow(TypeError);
});

test('a checkpoint mode retries under a new key, since no key is passed on', async () => {
  const environment = {
    tools: [send],
    snapshot: () => null,
    restore: () => undefined,
  } as unknown as Environment;
  const caller = await callerIn(modeOf('CR'), environment, [send], { retries: 2 });
  const told = await caller.step(0, { tool: 'mail.send', input: { to: 'nowhere' } });
  expect(told).toMatchObject({ error: new Error('the line was dead'), retries: 2, waits: false });
  expect(new Set(calls.splice(0).map(({ key }) => key)).size).toBe(3);
});

test('a step claims the scopes that its call accesses', () => {
  expect(claimsOf(send, { to: 'ada' })).toEqual({
    reads: ['mail:addresses'],
    writes: ['mail:ada'],
  });
});
