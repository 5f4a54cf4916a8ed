import { MemoryStore } from '@assize/testing/memory';
import { expect } from 'vitest';
import { exportLines } from '#export';
import { integrateLog, type LedgerStore } from '#ledger';
import type { Assize, Trajectory } from '#runtime';
import { verifyStore } from '#runtime';
import { runtimeOver, writFor } from '../ledger/runtime.ts';
import { ward } from './ward.ts';

export const agent = writFor('agent:nurse');

export interface Ward {
  readonly assize: Assize;
  readonly store: LedgerStore & MemoryStore;
  readonly trajectory: Trajectory;
  act(action: string, id: string, args?: unknown, more?: object): ReturnType<Trajectory['propose']>;
}

export async function openWard(initial?: unknown): Promise<Ward> {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [ward]);
  const trajectory = await assize.create(ward, {
    trajectoryId: 't',
    ...(initial === undefined ? {} : { initial }),
  });
  return {
    assize,
    store,
    trajectory,
    act: (action, id, args = {}, more = {}) =>
      trajectory.propose({
        action,
        role: { name: 'nurse', params: { id } },
        args,
        writ: agent,
        ...more,
      }),
  };
}

/** Everything that the store has, as text. */
export async function everything(store: MemoryStore): Promise<string> {
  await integrateLog(store);
  let text = '';
  for await (const line of exportLines(store)) text += line;
  return text;
}

export async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}

export async function reopened(store: MemoryStore): Promise<Trajectory> {
  return runtimeOver(store, [ward]).open('t');
}

export async function expectSound(
  store: MemoryStore,
  trajectory: Trajectory,
  erased: number,
): Promise<void> {
  const again = await reopened(store);
  expect(again.state()).toEqual(trajectory.state());
  expect(again.head).toBe(trajectory.head);
  expect(await verifyStore(store)).toMatchObject([
    { valid: true, erased, entries: trajectory.length },
  ]);
}
