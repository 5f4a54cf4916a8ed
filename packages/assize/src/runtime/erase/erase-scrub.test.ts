import { exportLines, importLines } from '@assize/audit/internal/export';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { type Domain, defineDomain, escalate, isErased, pass, sensitive } from '#kernel';
import { type Batch, type CommitResult, integrateLog } from '#ledger';
import { StoreError } from '#stores';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Trajectory } from '../trajectory.ts';

const officer = writFor('officer');

/** Notes. The rule protects the note `kept` until a counselor agrees. */
const diary = defineDomain({
  name: 'diary',
  version: '1',
  state: z.object({ notes: z.record(z.string(), sensitive(z.string())), agreed: z.boolean() }),
  initial: { notes: {}, agreed: false },
  counselors: { md: (principal) => principal.startsWith('dr-') },
  processes: { writing: { writes: ['/notes'] } },
  roles: { writer: { processes: ['writing'] } },
  actions: {},
  invariants: ({ invariant }) => [
    invariant(
      'KEPT_UNLESS_AGREED',
      ['/notes', '/agreed'],
      ({ notes, agreed }) =>
        agreed || !isErased(notes['kept']) ? pass : escalate('a note is to be kept'),
      {
        channel: 'md',
        onApprove: (state) => {
          state.agreed = true;
        },
      },
    ),
  ],
}) as unknown as Domain;

/** Records, in order, the calls that concern erasure. */
class WatchedStore extends MemoryStore {
  readonly seen: string[] = [];
  fault: StoreError | undefined;

  override async commit(batch: Batch): Promise<CommitResult> {
    const done = await super.commit(batch);
    if (batch.erased !== undefined && batch.erased.length > 0) this.seen.push(done.status);
    return done;
  }

  async scrub(): Promise<void> {
    // Later than an answer that does not wait for it.
    for (let turns = 0; turns < 20; turns += 1) await undefined;
    this.seen.push('scrubbed');
    if (this.fault !== undefined) throw this.fault;
  }
}

async function openDiary(
  notes: Record<string, string>,
): Promise<{ store: WatchedStore; trajectory: Trajectory }> {
  const store = new WatchedStore();
  const initial = { notes, agreed: false };
  return {
    store,
    trajectory: await runtimeOver(store, [diary]).create(diary, { trajectoryId: 't', initial }),
  };
}

test('an erasure of several entries is scrubbed once, at the end, then returns', async () => {
  const many = Object.fromEntries(Array.from({ length: 2_001 }, (_, n) => [`n${n}`, `note ${n}`]));
  const { store, trajectory } = await openDiary(many);
  const ruling = await trajectory.erase({ at: ['/notes'], reason: 'asked for', writ: officer });
  expect(ruling.ruling).toBe('committed');
  expect(store.seen).toEqual(['committed', 'committed', 'scrubbed']);
});

test('an erasure that a person approves is scrubbed when they do', async () => {
  const { store, trajectory } = await openDiary({ kept: 'a note' });
  const waiting = await trajectory.erase({ at: ['/notes'], reason: 'asked for', writ: officer });
  expect(waiting.ruling).toBe('escalated');
  expect(store.seen.filter((each) => each === 'committed')).toEqual([]);
  store.seen.length = 0;
  const [pending] = trajectory.approvals.pending();
  expect(
    (await trajectory.approvals.approve(pending!.id, { principal: 'dr-who', method: 'test' }))
      .ruling,
  ).toBe('committed');
  expect(store.seen).toEqual(['committed', 'scrubbed']);
});

test('if bytes may remain, success is not reported, but the value is erased', async () => {
  const { store, trajectory } = await openDiary({ other: 'a note' });
  store.fault = new StoreError('store_not_scrubbed', 'make room', { retryable: true });
  await expect(
    trajectory.erase({ at: ['/notes'], reason: 'asked for', writ: officer }),
  ).rejects.toBe(store.fault);
  expect(store.seen).toEqual(['committed', 'scrubbed']);
  expect(trajectory.state()).toMatchObject({ notes: { other: { $erased: expect.any(String) } } });
});

test('an import that takes texts away is scrubbed once', async () => {
  const { store, trajectory } = await openDiary({ other: 'a note' });
  await trajectory.erase({ at: ['/notes'], reason: 'asked for', writ: officer });
  await integrateLog(store);
  const copy = new WatchedStore();
  const lines = async function* (): AsyncGenerator<string> {
    for await (const line of exportLines(store)) yield line.slice(0, -1);
  };
  await importLines(copy, lines(), { erase: true });
  expect(copy.seen.at(-1)).toBe('scrubbed');
  expect(copy.seen.filter((each) => each === 'scrubbed')).toHaveLength(1);
});
