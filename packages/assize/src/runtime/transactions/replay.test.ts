import { exportLines, importLines } from '@assize/audit/internal/export';
import { deepReplay } from '@assize/audit/internal/replay';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { integrateLog, Replayer, verifyTrajectory } from '#ledger';
import { runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import { Steps, toolFor } from '../../../../../tests/support/tools/effect-sink.ts';
import {
  asking,
  ledgerWithEffects,
} from '../../../../../tests/support/tools/ledger-with-effects.ts';

test('effects are in the ledger; it verifies and replays without tool calls', async () => {
  const { store, sink } = await ledgerWithEffects();
  expect(sink.log.map(({ what }) => what)).toEqual(['plain', 'asked']);
  expect(await verifyTrajectory(new Replayer(store), 't')).toMatchObject({ valid: true, open: 1 });
  const report = await deepReplay(store, 't', { domains: [asking] });
  expect(report.differences).toEqual([]);
  expect(report).toMatchObject({ same: true });
  expect(sink.log).toHaveLength(2);
});

test('an export can be approved in another store, once it is adopted', async () => {
  const { store, sink } = await ledgerWithEffects();
  const copy = new MemoryStore();
  await importLines(copy, linesOf(store));
  const tools = [toolFor({ sink, steps: new Steps() }, 'irreversible', 'buffered')];
  const assize = runtimeOver(copy, [asking], { tools });
  const trajectory = await assize.open('t');
  const [waits] = trajectory.approvals.pending();
  const approve = () =>
    trajectory.approvals.approve(waits!.id, { principal: 'doc', method: 'test', override: true });
  await expect(approve()).rejects.toMatchObject({ code: 'imported_trajectory' });
  expect(sink.log.map(({ what }) => what)).toEqual(['plain', 'asked']);
  const [first] = await copy.entries('t', { limit: 1 });
  await copy.adopt({ at: '2026-03-23T09:00:00.000000Z', reason: 'moved', roots: [first!.id] });
  await approve();
  expect(sink.log.map(({ what }) => what)).toEqual(['plain', 'asked', 'asked']);
});

async function* linesOf(store: MemoryStore): AsyncGenerator<string> {
  await integrateLog(store);
  for await (const line of exportLines(store)) yield line.slice(0, -1);
}
