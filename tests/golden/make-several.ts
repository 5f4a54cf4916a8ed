/**
 * Writes the golden ledger of decisions that need several approvers, once:
 * `node tests/golden/make-several.ts`. The ledger is an addition to version 1. The other ledgers of
 * version 1 stay unchanged. No ledger is ever overwritten.
 */

import { MemoryStore } from '@assize/testing/memory';
import { seededRandom } from '#oracle';
import { Assize, type Trajectory } from '#runtime';
import { doctor, pendingOf, severalOf } from '../support/ledger/multi-approval.ts';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, intent, operator, writFor } from '../support/ledger/runtime.ts';
import type { Change } from './ledger.ts';
import { lastLine, rehashed, writeLedger } from './write-ledger.ts';

const agent = writFor('agent');
const world = severalOf(3);
const apart = severalOf(2, 'footprint');

async function live(store: MemoryStore): Promise<void> {
  const clock = new HandClock();
  const ports = { clock, random: seededRandom('several') };
  const options = { ports, signer: keysOf(21), approvals: { timeoutMs: 60_000 } };
  const assize = new Assize({
    store,
    domains: [world, apart],
    anchors: [operator.publicKey],
    ...options,
  });
  const ask = async (trajectory: Trajectory, amount: number): Promise<string> => {
    clock.forward(1_000);
    return pendingOf(
      trajectory.propose(intent('ask', { amount }, agent, { idempotencyKey: `${amount}` })),
    );
  };
  const step = async (
    trajectory: Trajectory,
    id: string,
    name: string,
    rest = {},
  ): Promise<string> => {
    clock.forward(1_000);
    return pendingOf(trajectory.approvals.approve(id, doctor(name, rest)));
  };
  const first = await assize.create(apart, { trajectoryId: 'apart', writs: [agent] });
  await first.approvals.reject(
    await step(first, await ask(first, 1), 'a'),
    doctor('b', { reason: 'no' }) as never,
  );
  await step(first, await ask(first, 2), 'a');
  clock.forward(60_000);
  await first.propose(intent('ask', { amount: 200 }, agent));
  const over = await step(first, first.approvals.pending()[0]?.id as string, 'a', {
    override: true,
  });
  await first.propose(intent('keep', { value: 'beside' }, agent));
  await first.approvals.approve(over, doctor('b', { override: true, reason: 'this once' }));
  const second = await assize.create(world, { trajectoryId: 'world', writs: [agent] });
  const half = await step(second, await ask(second, 5), 'a', { reason: 'it is due' });
  const last = await step(second, half, 'Zo\u00eb');
  await second.approvals.approve(last, doctor('c'));
  const third = await assize.create(world, { trajectoryId: 'waiting', writs: [agent] });
  await step(third, await ask(third, 7), 'a');
}

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lastLine(lines, pattern);
  const swapped = (line: number, from: RegExp | string, to: string): Change =>
    rehashed(lines, line, [from, to]);
  const commit = last(/"kind":"commit".*"trajectory_id":"world"/);
  const step = last(/"approved_by".*"trajectory_id":"waiting"/);
  return [
    ['honest', {}],
    [
      'the last approval by one who approved before',
      swapped(commit, /"principal":"dr-c"/, '"principal":"dr-a"'),
    ],
    [
      'the same, in another form of Unicode',
      swapped(commit, /"principal":"dr-c"/, '"principal":"dr-Zoe\u0308"'),
    ],
    [
      'an override by the last one alone',
      swapped(commit, /"method":"test"/, '"method":"test","override":true'),
    ],
    ['an approval by nobody', swapped(step, /"approved_by":\[[^\]]*\],/, '')],
    ['an approval of what takes fewer', swapped(step, /"approvals":3/, '"approvals":2')],
    ['an approval of something else', swapped(step, /"detail":"7/, '"detail":"1')],
    [
      'an approval that is not canonical',
      {
        lines: { [step]: [(lines[step - 1] as string).replace('"approvals":3', '"approvals": 3')] },
      },
    ],
    ['an approval lost', { lines: { [last(/"approved_by".*"trajectory_id":"world"/)]: [] } }],
  ];
}

const store = new MemoryStore();
await live(store);
await writeLedger('several', store, changesOf);
