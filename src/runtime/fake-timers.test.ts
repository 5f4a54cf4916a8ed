import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { openStore } from '#stores';
import { deskOf } from '../../tests/support/ledger/desk.ts';
import { intent, runtimeOver, writFor } from '../../tests/support/ledger/runtime.ts';
import { COUNT, stage } from '../../tests/support/tools/transaction-stage.ts';

// Waits that only yield to the event loop do not hang on timers that a test replaces.

const folder = mkdtempSync(join(tmpdir(), 'assize-timers-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const worker = writFor('agent');
const desk = deskOf();

async function withFakeTimers<T>(work: () => Promise<T>): Promise<T> {
  vi.useFakeTimers({ now: new Date('2026-05-01T00:00:00Z') });
  try {
    return await work();
  } finally {
    vi.useRealTimers();
  }
}

test.each(['memory:', 'sqlite:'])('a proposal on %s is ruled on under fake timers', async (url) => {
  const ruling = await withFakeTimers(async () => {
    const store = await openStore(url === 'memory:' ? url : `sqlite:${join(folder, 'store.db')}`);
    const trajectory = await runtimeOver(store, [desk]).create(desk, { trajectoryId: 't', writs: [worker] });
    const answers = await Promise.all([1, 2, 3].map(() => trajectory.propose(intent('add', { by: 1 }, worker))));
    await store.close();
    return answers.map((one) => one.ruling);
  });
  expect(ruling).toEqual(['committed', 'committed', 'committed']);
});

test('a transaction with a tool is ruled on under fake timers', async () => {
  const { trajectory, all } = await stage();
  const outcome = await withFakeTimers(() =>
    trajectory.transaction(all, async (tx) => {
      tx.propose(COUNT as never);
    }),
  );
  expect(outcome.ruling.ruling).toBe('committed');
});
