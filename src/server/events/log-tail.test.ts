import fc from 'fast-check';
import { expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { budget } from '#domains/budget';
import { Assize } from '#runtime';
import { MemoryStore } from '#stores';
import { type LoggedEntry, LogTail } from './log-tail.ts';

const AN_HOUR_MS = 3_600_000;

async function tailed() {
  const store = new MemoryStore();
  const assize = new Assize({ store, domains: [budget], anchors: [generateKeys().publicKey] });
  const tail = new LogTail(store, {
    pollMs: AN_HOUR_MS,
    onFailure: (error) => {
      throw error;
    },
  });
  return { store, tail, append: (trajectoryId: string) => assize.create(budget, { trajectoryId }) };
}

test('an entry that is not in the log yet is read or told to a new listener', async () => {
  await fc.assert(
    fc.asyncProperty(fc.nat(3), fc.nat(3), fc.nat(3), async (before, without, during) => {
      const { tail, append } = await tailed();
      let n = 0;
      const appendSome = async (count: number) => {
        for (let i = 0; i < count; i++) await append(`t${n++}`);
      };
      await appendSome(before);
      (await tail.listen(() => undefined))();
      await appendSome(without);
      const told: LoggedEntry[] = [];
      const appended = appendSome(during);
      await tail.listen((entries) => told.push(...entries));
      const read = await tail.read(0);
      await appended;
      tail.wake();
      const seen = () => new Set([...read, ...told].map(({ row }) => row.trajectory_id)).size;
      await expect.poll(seen).toBe(n);
      const positions = told.map(({ position }) => position);
      expect(positions).toEqual([...new Set(positions)].sort((a, b) => a - b));
      await tail.stop();
    }),
    { numRuns: 25, endOnFailure: true },
  );
});
