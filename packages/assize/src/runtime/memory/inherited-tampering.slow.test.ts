import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { openStore } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import { HandClock, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Trajectory } from '../trajectory.ts';
import type { Memory } from './index.ts';

// A caller that waits for writers of the same partition eventually succeeds, however they continue.

const folder = mkdtempSync(join(tmpdir(), 'assize-coming-through-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

const writ = writFor('nurse');
const careful = writFor('careful', { require_approval: ['assize.believe'] });
const officer = writFor('officer', { actions: ['assize.erase'], scopes: ['erase:memory:ward'] });
const asking = writFor('asking', { require_approval: ['assize.erase'] });
const ABOUT = { subject: 'p7', predicate: 'drug' };

/** Writes by others after which the caller counts as starved. */
const PATIENCE = 2_000;

/** Writers that never pause, next to a caller that must succeed. */
async function beside<T>(others: Memory, writers: number, wanted: () => Promise<T>): Promise<T> {
  let isOver = false;
  let written = 0;
  const write = async (writer: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      if (++written > PATIENCE)
        throw new Error(`nobody came through while others wrote ${PATIENCE} times`);
      const { ruling } = await others.assert({
        ...ABOUT,
        object: `${writer} ${n}`,
        source: `${writer} ${n}`,
      });
      expect(ruling).toBe('committed');
    }
  };
  const writing = Promise.all(Array.from({ length: writers }, (_, n) => write(n)));
  try {
    return await Promise.race([
      wanted(),
      writing.then(() => Promise.reject(new Error('nobody else writes'))),
    ]);
  } finally {
    isOver = true;
    await writing;
  }
}

describe.each(['memory', 'sqlite'])('on %s', (kind) => {
  const begun = async () => {
    const store = await openStore(
      kind === 'memory' ? 'memory:' : `sqlite:${join(folder, `${++files}.db`)}`,
    );
    const assize = runtimeOver(store, [clinic], { ports: { clock: new HandClock() } });
    const [trajectory, other] = (await Promise.all(
      ['t', 'u'].map((trajectoryId) => assize.create(clinic, { trajectoryId, writs: [writ] })),
    )) as [Trajectory, Trajectory];
    return { trajectory, others: other.memory({ space: 'ward', writ }) };
  };

  describe.each([1, 3])('beside %i writers', (writers) => {
    test('an approval', async () => {
      const { trajectory, others } = await begun();
      const memory = trajectory.memory({ space: 'ward', writ: careful });
      const asked = await memory.assert({ ...ABOUT, object: 'insulin' });
      if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
      const approve = () =>
        trajectory.approvals.approve(asked.pending, { principal: 'dr house', method: 'test' });
      expect(await beside(others, writers, approve)).toMatchObject({ ruling: 'committed' });
    });

    test('a thousand claims from sources', async () => {
      const { trajectory, others } = await begun();
      const memory = trajectory.memory({ space: 'ward', writ });
      const claims = Array.from({ length: 1_000 }, (_, n) => ({
        ...ABOUT,
        object: 'insulin',
        source: `${n}`,
      }));
      expect(await beside(others, writers, () => memory.assertMany(claims))).toMatchObject({
        ruling: 'committed',
      });
    });

    test('an erasure that a person approves', async () => {
      const { trajectory, others } = await begun();
      const memory = trajectory.memory({ space: 'ward', writ });
      expect(await memory.assert({ ...ABOUT, object: 'insulin' })).toMatchObject({
        ruling: 'committed',
      });
      const [row] = (await memory.recall(ABOUT)).facts;
      const beliefs = [{ space: 'ward', ...ABOUT, claim: row!.lineage }];
      const asked = await trajectory.erase({ beliefs, reason: 'request 17', writ: asking });
      if (asked.ruling !== 'escalated') throw new Error(asked.ruling);
      const approve = () =>
        trajectory.approvals.approve(asked.pending, { principal: 'dr house', method: 'test' });
      expect(await beside(others, writers, approve)).toMatchObject({ ruling: 'committed' });
      // The partition is released.
      expect(await others.assert({ ...ABOUT, object: 'after', source: 'after' })).toMatchObject({
        ruling: 'committed',
      });
    });

    test('an erasure', async () => {
      const { trajectory, others } = await begun();
      const memory = trajectory.memory({ space: 'ward', writ });
      expect(await memory.assert({ ...ABOUT, object: 'insulin' })).toMatchObject({
        ruling: 'committed',
      });
      const [row] = (await memory.recall(ABOUT)).facts;
      const beliefs = [{ space: 'ward', ...ABOUT, claim: row!.lineage }];
      const erase = () => trajectory.erase({ beliefs, reason: 'request 17', writ: officer });
      expect(await beside(others, writers, erase)).toMatchObject({ ruling: 'committed' });
    });
  });
});
