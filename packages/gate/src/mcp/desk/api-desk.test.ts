import { expect, test, vi } from 'vitest';
import { ApiDesk, type Ask } from './api-desk.ts';

const deskOn = (ask: Ask): ApiDesk =>
  new ApiDesk({ ask, world: 'calls', server: 'notes', agent: 'ada', url: 'http://a' });

/** A server that accepts a request and never answers it. */
const silent: Ask = (_, { signal }) =>
  new Promise((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason as Error));
  });

test('a request without an answer ends after half a minute and its wait', async () => {
  const timeout = AbortSignal.timeout.bind(AbortSignal);
  const given: number[] = [];
  using _ = vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    given.push(ms);
    return timeout(20);
  });
  const desk = deskOn(silent);
  await expect(desk.report('a', 'done')).rejects.toThrow('does not answer');
  await expect(desk.decision('a', 20)).rejects.toThrow('does not answer');
  expect(given).toEqual([30_000, 50_000]);
});
