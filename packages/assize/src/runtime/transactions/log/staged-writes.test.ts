import { expect, test, vi } from 'vitest';
import type { StagedTransaction } from '#effects';
import { StagedWrites } from './staged-writes.ts';

test('an ended transaction stages nothing, and its staged writes have ended', async () => {
  const holdings = new StagedWrites();
  const end = vi.fn(async () => undefined);
  const together = {
    at: {},
    part: 1,
    execute: async () => [],
    stage: vi.fn(() => ({ rollback: end }) as unknown as StagedTransaction),
  };
  expect(holdings.at(together)).toBe(holdings.at(together));
  await holdings.rollback();
  expect([end.mock.calls.length, together.stage.mock.calls.length]).toEqual([1, 1]);
  for (const at of [together.at, {}])
    expect(() => holdings.at({ ...together, at })).toThrow(
      expect.objectContaining({ reason: 'transaction_over' }),
    );
  expect(together.stage).toHaveBeenCalledTimes(1);
});
