/**
 * Writes the golden ledger of upgrades, once: `node tests/golden/make-upgrades.ts`. The ledger is
 * an addition to version 1. The other ledgers of version 1 stay unchanged. No ledger is ever
 * overwritten.
 */

import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { seededRandom } from '#oracle';
import { Assize, type Trajectory } from '#runtime';
import { keysOf } from '../support/ledger/rows.ts';
import { HandClock, operator, writFor } from '../support/ledger/runtime.ts';
import { asked, atMost, counter } from '../support/ledger/versions.ts';
import type { Change } from './ledger.ts';
import { lastLine, rehashed, type Swap, writeLedger } from './write-ledger.ts';

const DOCTOR = { principal: 'dr-who', method: 'golden' } as const;
const writ = writFor('agent');
const first = counter({ version: '1' });
const second = counter({ version: '2', state: { note: z.string() } });
const tight = counter({
  version: '3',
  invariants: [atMost(5), asked],
  state: { note: z.string() },
});
const doubled = counter({
  version: '2',
  ask: (state, { amount }) => {
    state.asked = 2 * amount;
  },
});
const domains = [first, second, tight, doubled];

async function live(store: MemoryStore): Promise<void> {
  const clock = new HandClock();
  const ports = { clock, random: seededRandom('upgrades') };
  const assize = new Assize({
    store,
    domains,
    anchors: [operator.publicKey],
    ports,
    signer: keysOf(21),
  });
  const does = async (trajectory: Trajectory, action: string, args: unknown): Promise<void> => {
    clock.forward(1_000);
    await trajectory.propose({ action, role: 'clerk', args, writ });
  };
  const books = await assize.create(first, { trajectoryId: 'books', writs: [writ] });
  await does(books, 'set', { n: 7 });
  await does(books, 'ask', { amount: 3 });
  const migrate = (state: { note: string }): void => {
    state.note = 'from 1';
  };
  await books.upgrade(second, { migrate, writ, reason: 'a note' });
  await books.approvals.approve(books.approvals.pending()[0]?.id as string, DOCTOR);
  await books.upgrade(tight, { writ, reason: 'refused' });
  await books.upgrade(tight, {
    writ,
    reason: 'five at most',
    override: { ...DOCTOR, reason: 'until Monday' },
  });
  await does(books, 'set', { n: 4 });
  const closed = await assize.create(first, { trajectoryId: 'closed', writs: [writ] });
  await does(closed, 'ask', { amount: 3 });
  await closed.upgrade(doubled, { writ, reason: 'twice' });
  const rejected = await assize.create(first, { trajectoryId: 'rejected', writs: [writ] });
  await does(rejected, 'ask', { amount: 3 });
  await rejected.approvals.reject(rejected.approvals.pending()[0]?.id as string, {
    ...DOCTOR,
    reason: 'no',
  });
  await assize.branch('books', books.head, {
    trajectoryId: 'branch',
    note: 'of the third version',
    override: true,
  });
}

function changesOf(lines: readonly string[]): [string, Change][] {
  const last = (pattern: RegExp): number => lastLine(lines, pattern);
  const swapped = (line: number, ...swaps: readonly Swap[]): Change =>
    rehashed(lines, line, ...swaps);
  const upgrade =
    lines.findIndex((line) => /"kind":"commit"/.test(line) && line.includes('"reason":"a note"')) +
    1;
  const overridden = last(
    /"kind":"commit".*"reason":"five at most"|"reason":"five at most".*"kind":"commit"/,
  );
  const closing = last(/"reason":"upgraded"/);
  const rejection = last(/"reason":"counselor_rejected"/);
  return [
    ['honest', {}],
    [
      'an upgrade from a version that was not in force',
      swapped(upgrade, [/"from":"[0-9a-f]{4}/, '"from":"0000']),
    ],
    ['an upgrade to the version in force', swapped(upgrade, [second.hash, first.hash])],
    ['an upgrade to another domain', swapped(upgrade, [/"name":"counter"/, '"name":"desk"'])],
    ['an upgrade without a reason', swapped(upgrade, [/"reason":"a note",/, ''])],
    [
      'an upgrade without results of its rules',
      swapped(upgrade, [/"detection_vector":\[[^\]]*\],/, '']),
    ],
    [
      'an upgrade that breaks a rule alone',
      swapped(upgrade, [/"result":"pass"/, '"result":"reject"']),
    ],
    ['an upgrade with a cost', swapped(upgrade, [/"budget_cost":\{\}/, '"budget_cost":{"usd":1}'])],
    ['an override without a counselor', swapped(overridden, [/"counselor":\{[^}]*\},/, ''])],
    ['a counselor without an override', swapped(overridden, [/"override":true,/, ''])],
    ['an override of nothing', swapped(overridden, [/"result":"reject"/, '"result":"pass"'])],
    ['a proposal closed by an upgrade and a counselor', swapped(closing, ...counseled())],
    [
      'a proposal closed without an upgrade',
      swapped(
        rejection,
        [/"counselor":\{[^}]*\},/, ''],
        [/"reason":"counselor_rejected"/, '"reason":"upgraded"'],
      ),
    ],
    ['an upgrade lost', { lines: { [upgrade]: [] } }],
  ];
}

function counseled(): readonly Swap[] {
  const counselor = '"counselor":{"as":"md","method":"golden","principal":"dr-who"}';
  return [[/("at":"[^"]*"),/, `$1,${counselor},`]];
}

const store = new MemoryStore();
await live(store);
await writeLedger('upgrades', store, changesOf);
