import { MemoryStore } from '@assize/testing/memory';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { readRow } from '#ledger';
import type { Assize, Trajectory } from '#runtime';
import { clinic } from '../support/clinic/clinic.ts';
import { runtimeOver, writFor } from '../support/ledger/runtime.ts';

// For any change to a handed-out pending proposal, the next one handed out matches the ledger.

interface Handed {
  readonly id: string;
  readonly payload: unknown;
}

type From = (trajectory: Trajectory, assize: Assize) => Promise<Handed[]>;

const FROM: readonly From[] = [
  async (trajectory) => trajectory.approvals.pending().map(({ id, payload }) => ({ id, payload })),
  async (trajectory) => {
    const listed = trajectory.approvals.pending();
    for (const { payload, seq, channel, action } of listed)
      expect({ seq, channel, action }).toEqual({
        ...{ seq: payload.seq, channel: payload.channel },
        action: payload.proposal.action.name,
      });
    return listed.map(({ id, payload }) => ({ id, payload }));
  },
  async (_, assize) => {
    const all: Handed[] = [];
    for await (const { id, payload } of assize.pending()) all.push({ id, payload });
    return all;
  },
  (trajectory) =>
    Promise.all(
      trajectory.approvals.pending().map(async ({ id }) => {
        const status = await trajectory.approvals.statusOf(id as never);
        return { id, payload: status.status === 'pending' ? status.payload : undefined };
      }),
    ),
];

/** Does something to one of all that a value is made of. */
function spoil(value: unknown, at: number, how: number): void {
  const parts = partsOf(value);
  const part = parts[at % parts.length] as Record<string, unknown> | unknown[];
  const names = Object.keys(part);
  const name = names[at % Math.max(1, names.length)] ?? 'none';
  try {
    if (how === 0) Reflect.set(part, name, { spoilt: true });
    else if (how === 1) Reflect.deleteProperty(part, name);
    else if (how === 2) Reflect.set(part, 'more', 1);
    else if (Array.isArray(part)) part.splice(0);
    else for (const each of names) Reflect.deleteProperty(part, each);
  } catch (error) {
    // A value that cannot be changed may throw a `TypeError`.
    if (!(error instanceof TypeError)) throw error;
  }
}

function partsOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

const spoiling = fc.record({
  from: fc.nat(FROM.length - 1),
  /** Looked at before it is spoilt, or handed out and looked at when all is spoilt. */
  isSeen: fc.boolean(),
  at: fc.nat(200),
  how: fc.nat(3),
});

test('a change to a returned value does not affect later returned values', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.array(spoiling, { maxLength: 12 }),
      async (count, spoilings) => {
        const store = new MemoryStore();
        const assize = runtimeOver(store, [clinic]);
        const trajectory = await assize.create(clinic, { trajectoryId: 't' });
        const memory = trajectory.memory({ space: 'ward', writ: writFor('n') });
        for (let n = 0; n < count; n++)
          for (const object of ['flu', 'cold'])
            await memory.assertMany([
              { subject: `p${n}`, predicate: 'diagnosis', object, source: object },
            ]);
        const recorded = (await store.entries('t'))
          .filter(({ kind }) => kind === 'pending_approval')
          .map((row) => ({ id: row.id, payload: readRow(row).payload }));
        expect(recorded).toHaveLength(count);
        const unseen: Handed[] = [];
        for (const { from, isSeen, at, how } of spoilings) {
          const handed = await FROM[from]!(trajectory as never, assize);
          if (isSeen) spoil(handed, at, how);
          else unseen.push(...handed);
          for (const each of FROM)
            expect(await each(trajectory as never, assize)).toEqual(recorded);
        }
        for (const { id, payload } of unseen)
          expect(payload).toEqual(recorded.find((each) => each.id === id)?.payload);
      },
    ),
    { numRuns: 40 },
  );
});
