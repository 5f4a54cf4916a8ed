import { expect, test, vi } from 'vitest';
import { start } from '../../tests/support/server/serving.ts';
import { Watchdog } from './watchdog/watchdog.ts';

test('a start that fails leaves no watchdog behind', async () => {
  const stop = vi.spyOn(Watchdog.prototype, 'stop');
  await expect(start({ config: { worlds: { main: { domain: 'missing' } } } })).rejects.toMatchObject({
    code: 'no_such_value',
  });
  expect(stop).toHaveBeenCalledTimes(1);
  stop.mockRestore();
});
