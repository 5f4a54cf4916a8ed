import { expect, test, vi } from 'vitest';
import {
  allEntries,
  deskOf,
  FaultyStore,
  soundState,
} from '../../../../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { Writs } from '../authority/writs.ts';

const desk = deskOf();
const worker = writFor('agent');

test('memory is reloaded if it cannot move past an entry of its own', async () => {
  const store = new FaultyStore();
  const trajectory = await runtimeOver(store, [desk]).create(desk, {
    trajectoryId: 't',
    writs: [worker],
  });
  const before = trajectory.head;
  const apply = vi.spyOn(Writs.prototype, 'apply').mockImplementationOnce(() => {
    throw new Error('the budget does not cover it');
  });
  await expect(trajectory.propose(intent('add', { by: 1 }, worker))).rejects.toThrow(
    'does not cover it',
  );
  apply.mockRestore();
  const heads = vi.spyOn(store, 'commit');
  expect(await trajectory.propose(intent('add', { by: 1 }, worker))).toMatchObject({
    ruling: 'committed',
  });
  // Without a reload, the first append would be a conflict.
  expect(heads).toHaveBeenCalledTimes(1);
  const [, last] = await allEntries(store, 't');
  expect(last).toMatchObject({ parent: before, seq: 1 });
  expect(await soundState(store, 't')).toContain('"n":1');
});
