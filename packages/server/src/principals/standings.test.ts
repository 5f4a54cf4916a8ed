import type { Caller } from '@assize/command/operation';
import { ServerError } from '@assize/command/operation';
import { expect, test, vi } from 'vitest';
import { isLost, Standings } from './standings.ts';

const EVE: Caller = { name: 'auditor:eve', kinds: ['auditor'], grants: [], method: 'token' };
const token = (text: string) => ({ kind: 'token', text }) as const;

function opened() {
  const time = { ms: 0 };
  const callerBy = vi.fn(async () => EVE);
  return { time, callerBy, standings: new Standings({ callerBy }, () => time.ms) };
}

test('all that ask for one credential in a second share one answer', async () => {
  const { time, callerBy, standings } = opened();
  const asked = Array.from({ length: 1_000 }, () => standings.callerNow(token('a')));
  expect(new Set(await Promise.all(asked))).toEqual(new Set([EVE]));
  time.ms = 999;
  await standings.callerNow(token('a'));
  expect(callerBy).toHaveBeenCalledTimes(1);
  await standings.callerNow(token('b'));
  await standings.callerNow({ kind: 'session', text: 'a' });
  expect(callerBy.mock.calls).toEqual([
    [token('a')],
    [token('b')],
    [{ kind: 'session', text: 'a' }],
  ]);
});

test('after a second the credential is checked again, and can be lost', async () => {
  const { time, callerBy, standings } = opened();
  expect(await standings.callerNow(token('a'))).toBe(EVE);
  callerBy.mockRejectedValue(new ServerError('unauthenticated', 'The token is revoked.'));
  expect(await standings.callerNow(token('a'))).toBe(EVE);
  time.ms = 1_000;
  const error = await standings.callerNow(token('a')).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'unauthenticated' });
  expect(isLost(error)).toBe(true);
});

test('an answer counts from its question, however late it comes', async () => {
  const { time, callerBy, standings } = opened();
  const slow = Promise.withResolvers<Caller>();
  callerBy.mockReturnValueOnce(slow.promise);
  const first = standings.callerNow(token('a'));
  time.ms = 1_500;
  slow.resolve(EVE);
  await first;
  await standings.callerNow(token('a'));
  expect(callerBy).toHaveBeenCalledTimes(2);
});

test('only a refusal of the caller is a loss', () => {
  expect(isLost(new ServerError('forbidden', 'No.'))).toBe(true);
  for (const error of [
    new ServerError('issuer_unreachable', 'Later.'),
    new Error('the disk is gone'),
    undefined,
  ])
    expect(isLost(error)).toBe(false);
});
