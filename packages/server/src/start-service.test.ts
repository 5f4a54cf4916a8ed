import { expect, test, vi } from 'vitest';
import { start } from '../../../tests/support/server/serving.ts';
import { Watchdog } from './watchdog/watchdog.ts';

test('a start that fails leaves no watchdog behind', async () => {
  const stop = vi.spyOn(Watchdog.prototype, 'stop');
  await expect(start({ config: { worlds: { main: { domain: 'till', initial: 5 } } } })).rejects.toMatchObject({
    code: 'invalid_state',
  });
  expect(stop).toHaveBeenCalledTimes(1);
  stop.mockRestore();
});
