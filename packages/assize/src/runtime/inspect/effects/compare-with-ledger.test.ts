import { expect, test } from 'vitest';
import { type LogRecord, recordsText } from '#effects';
import type { Entry, Hash } from '#ledger';
import { EffectLogComparison, LedgerEffects } from './compare-with-ledger.ts';

const hash = (digit: string): Hash => digit.repeat(64);
const KEY = hash('a');
const COMMIT = hash('c');
const PAYLOAD = { $blob: hash('b'), bytes: 1, salted: true } as never;
const EFFECT = {
  key: KEY,
  tool: 'mail',
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  payload: PAYLOAD,
} as const;
const COMMITTED: LogRecord = { is: 'committed', entry: COMMIT, planned: [EFFECT] };

/** Accepted entries, with the fields that this test uses. */
const entry = (seq: number, id: Hash, payload: object): Entry =>
  ({ id, seq, trajectory_id: 't', payload }) as never;
const commit = entry(1, COMMIT, {
  kind: 'commit',
  epoch: 1,
  action: { name: 'count' },
  delta: { effects: [{ id: KEY }] },
});
const settled = (outcome: string): Entry =>
  entry(2, hash('d'), {
    kind: 'commit',
    action: {
      name: 'assize.settle',
      args: { settled: [{ commit: COMMIT, effects: [{ id: KEY, outcome }] }] },
    },
  });
const answer = entry(3, hash('e'), { kind: 'delegation', child_trajectory_id: 't' });

function compared(
  entries: readonly Entry[],
  records: readonly LogRecord[] | undefined,
  open = true,
  isLogHere = true,
) {
  const told = new LedgerEffects();
  for (const each of entries) told.addEntry(each);
  const comparison = new EffectLogComparison(told, new Set(open ? [1] : []));
  const body = '{"claims":[],"principal":"p","transaction":"x","writ_id":"w"}';
  const unknown =
    records &&
    comparison.add({ epoch: 1, trajectory_id: 't', body, records: [recordsText(records)] });
  return { found: comparison.differences(isLogHere), unknown };
}

const APPLIED: LogRecord = { is: 'applied', n: 0 };
const ENDED: LogRecord = { is: 'settled' };

test('a possible state is not a difference', () => {
  for (const { found } of [
    compared([], undefined),
    compared([commit], [COMMITTED]),
    // It has ended, and the entry will follow.
    compared([commit], [COMMITTED, APPLIED, ENDED]),
    compared([commit, settled('applied')], [COMMITTED, APPLIED, ENDED], false),
    // The log may have been lost by then, and nothing is called again.
    compared([commit, settled('applied')], undefined),
    // No entry follows a final answer.
    compared([commit, answer], [COMMITTED, APPLIED, ENDED], false),
    // Imported.
    compared([commit], undefined, false, false),
  ])
    expect(found).toEqual([]);
});

test('an impossible state is one difference, with its entry', () => {
  const told = (...args: Parameters<typeof compared>) =>
    compared(...args).found.map(({ seq, detail }) => [seq, detail]);
  expect(told([commit], undefined)).toEqual([
    [
      1,
      '1 effects of this commit are not settled, but the effect log has no transaction of the commit',
    ],
  ]);
  expect(told([commit], [COMMITTED, APPLIED, ENDED], false)).toEqual([
    [
      1,
      expect.stringContaining(
        'mail, effect 0 of transaction 1, is applied in the effect log, its transaction has ended',
      ),
    ],
  ]);
  expect(told([commit], [COMMITTED], false)).toEqual([
    [1, expect.stringContaining('but not listed as open')],
  ]);
  expect(told([commit, settled('undone')], [COMMITTED, APPLIED, ENDED], false)).toEqual([
    [1, 'mail, effect 0 of transaction 1, is applied in the effect log, but was settled as undone'],
  ]);
  expect(told([], [COMMITTED])).toEqual([
    [0, expect.stringContaining('which is not a commit of this trajectory')],
  ]);
  expect(
    told([commit], [{ ...COMMITTED, planned: [{ ...EFFECT, key: hash('f') }] } as LogRecord]),
  ).toEqual([[1, 'transaction 1 of the effect log has other effects than this commit']]);
  const copied = entry(1, COMMIT, { ...(commit.payload as object), epoch: 2 });
  expect(told([copied], [COMMITTED])).toEqual([
    [1, expect.stringContaining('which belongs to transaction 2')],
  ]);
  expect(told([commit], [ENDED], false)[0]).toEqual([
    1,
    expect.stringContaining('no entry commits it'),
  ]);
  expect(told([commit], [{ is: 'refused', n: 4, why: 'x' }])).toEqual([
    [1, expect.stringContaining('cannot be read')],
  ]);
});

test('a commit that has nothing to name must be looked up', () => {
  expect(compared([], [{ ...COMMITTED, planned: [] } as LogRecord], true).unknown).toEqual({
    epoch: 1,
    entry: COMMIT,
  });
});
