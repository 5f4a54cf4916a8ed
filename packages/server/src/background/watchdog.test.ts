import { Worker } from 'node:worker_threads';
import { expect, test, vi } from 'vitest';
import { start } from '../../../../tests/support/server/serving.ts';

test('a start that fails leaves no watchdog behind', async () => {
  const terminate = vi.spyOn(Worker.prototype, 'terminate');
  await expect(
    start({ config: { worlds: { main: { domain: 'till', initial: 5 } } } }),
  ).rejects.toMatchObject({
    code: 'invalid_state',
  });
  expect(terminate).toHaveBeenCalledTimes(1);
  terminate.mockRestore();
});
