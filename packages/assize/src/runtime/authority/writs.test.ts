import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { attenuate, type Writ, writId } from '#authority';
import { generateKeys } from '#canon';
import { defineDomain } from '#kernel';
import { intent, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { Writs } from './writs.ts';

const planner = generateKeys(new Uint8Array(32).fill(21));
const root = writFor(planner.publicKey);
const child = attenuate(root, { subject: 'clerk', nonce: 'c' }, planner.privateKey);

const counter = defineDomain({
  name: 'counter',
  version: '1',
  state: z.object({ n: z.number() }),
  initial: { n: 0 },
  processes: { count: { writes: ['/n'] } },
  roles: { worker: { processes: ['count'] } },
  actions: {
    add: {
      process: 'count',
      args: z.number(),
      apply: (state, by) => {
        state.n += by;
      },
    },
  },
  invariants: [],
});

describe('a child writ that came with a proposal', () => {
  test('is known by id with its whole chain after the trajectory is reopened', async () => {
    for (const writs of [[root], []]) {
      const store = new MemoryStore();
      const trajectory = await runtimeOver(store, [counter]).create(counter, {
        trajectoryId: 't',
        writs,
      });
      const presented = writs.length === 0 ? { writ: child, chain: [root] } : child;
      expect(
        await trajectory.propose({ ...intent('add', 1, child), writ: presented }),
      ).toMatchObject({
        ruling: 'committed',
      });
      const again = await runtimeOver(store, [counter]).open('t');
      for (const writ of [writId(child), child, { writ: child, chain: [root] }]) {
        expect(await again.propose({ ...intent('add', 1, child), writ })).toMatchObject({
          ruling: 'committed',
        });
      }
      expect(again.state()).toEqual({ n: 4 });
    }
  });

  test('is stored with the first entry that can be written, not a failed one', async () => {
    const store = new MemoryStore();
    const trajectory = await runtimeOver(store, [counter]).create(counter, {
      trajectoryId: 't',
      writs: [root],
    });
    const many = Array.from({ length: 100 }, (_, i) => ({
      name: `o${i}`,
      value: 'x'.repeat(15_000),
    }));
    const tooMuch = trajectory.propose(intent('add', 1, child, { observations: many }));
    await expect(tooMuch).rejects.toMatchObject({ name: 'CanonError' });
    expect([trajectory.length, trajectory.state()]).toEqual([1, { n: 0 }]);
    expect(await trajectory.propose(intent('add', 1, child))).toMatchObject({
      ruling: 'committed',
    });
    expect(await store.blob(writId(child))).toBeDefined();
    expect((await runtimeOver(store, [counter]).open('t')).state()).toEqual({ n: 1 });
  });
});

test('blobs of writs are listed until stored, with ancestors known or not', () => {
  const writs = new Writs();
  const chain = { writ: child, chain: [root] as Writ[] };
  expect(writs.unstored(chain)).toEqual([]);
  writs.admit(chain);
  const wanted = writs.unstored(chain);
  expect(wanted.map(({ hash }) => hash)).toEqual([writId(child), writId(root)]);
  expect(writs.unstored(chain)).toEqual(wanted);
  writs.stored(wanted.slice(0, 1));
  expect(writs.unstored(chain)).toEqual([]);
  const bound = new Writs();
  bound.bind([root as never]);
  bound.admit(bound.present(child));
  expect(bound.unstored(bound.present(child)).map(({ hash }) => hash)).toEqual([writId(child)]);
});
