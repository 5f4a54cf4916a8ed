/** Only a limited number of open transactions is read into memory at the same time. */

import { MemoryStore } from '@assize/testing/memory';
import { expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';
import { bodyText, claimTexts, declareTool, readClaim, recordsText, type Tool } from '#effects';
import type { LoggedTransaction, OpenEffectPage } from '#ledger';
import { operatorWrit, runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import {
  OutsideSink,
  Steps,
  storeOf,
  tally,
  toolFor,
} from '../../../../../tests/support/tools/effect-sink.ts';
import { blindTool, createInDoubtEffects } from '../../../tests/support/tools/in-doubt-effects.ts';
import type { Trajectory } from '../trajectory.ts';
import { RESUMED_AT_ONCE } from './engine/engine.ts';

const OPEN = 1_203;

class WatchedStore extends MemoryStore {
  readonly pages: number[] = [];
  /** Maximum number of concurrent reads of the effect log. */
  most = 0;
  /** Total number of these reads. */
  looks = 0;
  #asked = 0;

  override async openEffects(page?: OpenEffectPage): Promise<LoggedTransaction[]> {
    const open = await super.openEffects(page);
    this.pages.push(open.length);
    return open;
  }

  override async effectsOf(epoch: number): Promise<LoggedTransaction | undefined> {
    this.looks += 1;
    this.#asked += 1;
    this.most = Math.max(this.most, this.#asked);
    const logged = await super.effectsOf(epoch);
    this.#asked -= 1;
    return logged;
  }
}

/** A store with many transactions that an ended process was about to abort. */
async function left(): Promise<WatchedStore> {
  const store = new WatchedStore();
  const assize = runtimeOver(store, [tally]);
  for (const trajectoryId of ['t', 'other']) await assize.create(tally, { trajectoryId });
  await assize.close();
  const { fence, release } = await store.leaseEffects();
  const begun = Array.from({ length: OPEN }, (_, n) => {
    const claims = claimTexts([readClaim('write', `test:p${n}`)]);
    const body = bodyText({
      transaction: `${n}`,
      principal: 'alice',
      writ_id: '0'.repeat(64),
      claims,
    });
    return { epoch: n + 1, trajectory_id: n % 2 === 0 ? 't' : 'other', body };
  });
  const record = recordsText([{ is: 'aborting', cause: 'crashed' }]);
  await store.logEffects({
    fence,
    begun,
    records: begun.map(({ epoch }) => ({ epoch, place: 0, record })),
  });
  await release();
  return store;
}

test('open transactions are read in pages and handled in groups; all resume', async () => {
  const store = await left();
  const tool = toolFor(
    { sink: new OutsideSink('blind'), steps: new Steps(), fault: () => 'none' },
    'reversible',
    'buffered',
  );
  const assize = runtimeOver(store, [tally], { tools: [tool] });
  onTestFinished(() => assize.close());
  expect((await assize.effects()).map(({ epoch }) => epoch)).toEqual(
    Array.from({ length: OPEN }, (_, n) => n + 1),
  );
  expect((await assize.effects({ trajectoryId: 'other' })).length).toBe(Math.floor(OPEN / 2));
  expect(await assize.recoverEffects()).toEqual([]);
  expect(Math.max(...store.pages)).toBe(500);
  expect(store.most).toBe(100);
  expect(await store.openEffects()).toEqual([]);
});

test('a decision about one of those that wait looks at none of the others', async () => {
  const store = new WatchedStore();
  await createInDoubtEffects(store, 50);
  const assize = runtimeOver(store, [tally], { tools: [blindTool] });
  onTestFinished(() => assize.close());
  expect((await assize.recoverEffects()).length).toBe(50);
  store.looks = 0;
  const resolved = await assize.resolveEffect({
    epoch: 7,
    n: 0,
    as: 'undone',
    by: 'ops',
    writ: operatorWrit(),
    evidence: 'not there',
  });
  expect(resolved).toMatchObject({ epoch: 7, phase: 'undone', transaction: 'aborted' });
  expect(store.looks).toBeLessThan(10);
});

test('recovered calls are bounded, and a hung tool delays no others', async () => {
  const store = new MemoryStore();
  const steps = new Steps();
  const writ = writFor('alice');
  const count = RESUMED_AT_ONCE + 10;
  const first = { slow: new Gate(), quick: new Gate() };
  const crashed = runtimeOver(storeOf(store, steps), [tally], { tools: toolsOf(first) });
  const before = await crashed.create(tally, { trajectoryId: 't', writs: [writ] });
  const act = (trajectory: Trajectory, tool: string, n: number) =>
    trajectory.transaction({ writ, writes: [`test:${tool}${n}`] }, async (tx) => {
      await tx.call(tool, `${tool}${n}`);
      tx.propose({ action: 'count', role: 'counter', args: `${tool}${n}` });
    });
  for (let n = 0; n < count; n++)
    for (const tool of ['slow', 'quick']) act(before, tool, n).catch(() => undefined);
  await Promise.all([first.slow.reached(count), first.quick.reached(count)]);
  steps.endAfter(1);
  void steps.step();

  const [slow, quick] = [new Gate(), new Gate()];
  quick.open();
  const assize = runtimeOver(store, [tally], { tools: toolsOf({ slow, quick }) });
  const trajectory = await assize.open('t');
  const recovered = assize.recoverEffects();
  await Promise.all([slow.reached(RESUMED_AT_ONCE), quick.reached(count)]);
  expect((await act(trajectory, 'quick', count)).ruling.ruling).toBe('committed');
  expect([slow.calls, quick.calls]).toEqual([RESUMED_AT_ONCE, count + 1]);
  expect(quick.most).toBeLessThanOrEqual(RESUMED_AT_ONCE);
  slow.open();
  expect(await recovered).toEqual([]);
  expect([slow.calls, slow.most]).toEqual([count, RESUMED_AT_ONCE]);
  await assize.close();
  expect(await store.openEffects()).toEqual([]);
});

/** Holds calls until it is opened, and counts them. */
class Gate {
  calls = 0;
  most = 0;
  #inside = 0;
  readonly #opened = Promise.withResolvers<void>();

  async enter(): Promise<void> {
    this.calls += 1;
    this.#inside += 1;
    this.most = Math.max(this.most, this.#inside);
    await this.#opened.promise;
    this.#inside -= 1;
  }

  open(): void {
    this.#opened.resolve();
  }

  async reached(calls: number): Promise<void> {
    await vi.waitFor(() => expect(this.calls).toBeGreaterThanOrEqual(calls), { timeout: 20_000 });
  }
}

function toolsOf(gates: Readonly<Record<string, Gate>>): Tool[] {
  return Object.entries(gates).map(([name, gate]) =>
    declareTool({
      name,
      input: z.string(),
      class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
      writes: (to) => [`test:${to}`],
      execute: () => gate.enter(),
      compensate: () => ({ undone: 'all' as const }),
    }),
  );
}
