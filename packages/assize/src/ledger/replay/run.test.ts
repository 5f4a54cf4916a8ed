import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  ChainWriter,
  commitMembers,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../../../tests/support/ledger/rows.ts';
import {
  applyPatches,
  Chain,
  checkRow,
  type Entry,
  fresh,
  type Patch,
  type Payload,
  runsOf,
} from '../index.ts';
import { patchesOfRun } from './run.ts';

/** A chain of commits and rejections under two writs, some with invalid signatures. */
const chainOf = (kinds: readonly string[]): Entry[] => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0, 'a"/~\u0000': 1 }));
  kinds.forEach((kind, i) => {
    const at = second(i + 1);
    const writ_id = String(i % 2).repeat(64);
    if (kind === 'rejection') writer.add('rejection', rejectionMembers({ at }));
    else {
      const path = kind === 'escaped' ? '/a"~1~0\u0000' : '/n';
      const patches =
        kind === 'empty'
          ? []
          : [{ op: 'replace' as const, path, value: { '10': i, '9': '\\ud800"' } }];
      writer.add('commit', { ...commitMembers(patches), at, writ_id, budget_cost: { calls: i } });
    }
  });
  return writer.rows.map(checkRow);
};

const kinds = fc.array(fc.constantFrom('commit', 'rejection', 'empty', 'escaped'), {
  minLength: 1,
  maxLength: 12,
});

test('after a run a chain, its fold and its costs match the separate entries', () => {
  fc.assert(
    fc.property(kinds, fc.nat(11), (given, cut) => {
      const entries = chainOf(given);
      const from = 1 + (cut % given.length);
      const [run, ...more] = runsOf(entries.slice(from));
      expect(more).toEqual([]);
      const [one, joined] = [new Chain('t'), new Chain('t')];
      for (const entry of entries) one.accept(entry);
      for (const entry of entries.slice(0, from)) joined.accept(entry);
      expect(joined.join(run!)).toBe(true);
      expect({ ...joined }).toEqual({ ...one });
      const commits = entries.slice(from).map(({ payload }) => payload);
      const fold = (lists: Iterable<readonly Patch[]>): unknown => {
        const world = fresh({ n: 0, 'a"/~\u0000': 1 });
        for (const patches of lists) applyPatches(world, patches);
        return world.state;
      };
      expect(fold(patchesOfRun(run!))).toEqual(fold(commits.map(patchesOf)));
      const spent = new Map<string, number>();
      for (const payload of commits) {
        if (payload.kind !== 'commit') continue;
        spent.set(
          payload.writ_id,
          (spent.get(payload.writ_id) ?? 0) + (payload.budget_cost['calls'] ?? 0),
        );
      }
      expect(new Map(run!.spent.map(({ writId, cost }) => [writId, cost['calls']]))).toEqual(spent);
    }),
    { numRuns: 300 },
  );
});

function patchesOf(payload: Payload): readonly Patch[] {
  return payload.kind === 'commit' ? (payload.delta.state as readonly Patch[]) : [];
}

test('entries that do not follow each other are in runs of their own', () => {
  const entries = chainOf(['commit', 'commit', 'rejection', 'commit', 'commit']);
  const seqs = (list: readonly Entry[]): number[][] =>
    runsOf(list).map(({ seq, count }) => [seq, count]);
  expect(seqs(entries)).toEqual([[1, 5]]);
  expect(seqs(entries.filter(({ seq }) => seq !== 3))).toEqual([
    [1, 2],
    [4, 2],
  ]);
  const other = chainOf(['empty', 'commit', 'rejection', 'commit', 'commit']);
  expect(seqs([...entries.slice(0, 3), ...other.slice(3)])).toEqual([
    [1, 2],
    [3, 3],
  ]);
});

test('an entry that resolves, references a blob or erases one joins no run', () => {
  const entries = chainOf(['commit', 'commit', 'commit']);
  const changed = (change: (payload: any) => void): number[][] => {
    const list = structuredClone(entries);
    change(list[2]!.payload);
    return runsOf(list).map(({ seq, count }) => [seq, count]);
  };
  const alone = [
    [1, 1],
    [3, 1],
  ];
  const blob = { $blob: 'a'.repeat(64), bytes: 1 };
  expect(changed(() => {})).toEqual([[1, 3]]);
  expect(changed((payload) => (payload.resolves = entries[1]!.id))).toEqual(alone);
  expect(changed((payload) => (payload.action.args = blob))).toEqual(alone);
  expect(changed((payload) => (payload.delta.state = blob))).toEqual(alone);
  expect(changed((payload) => (payload.observations = [{ name: 'x', value: blob }]))).toEqual(
    alone,
  );
  expect(changed((payload) => (payload.observations = [{ name: 'x', value: 1 }]))).toEqual([
    [1, 3],
  ]);
  for (const value of [blob, { ...blob, salted: true }])
    expect(
      changed((payload) => (payload.delta.state = [{ op: 'replace', path: '/n', value }])),
    ).toEqual(alone);
  const inside = { a: blob };
  expect(
    changed((payload) => (payload.delta.state = [{ op: 'replace', path: '/n', value: inside }])),
  ).toEqual([[1, 3]]);
  for (const name of ['assize.erase', 'assize.revoke'])
    expect(changed((payload) => (payload.action.name = name))).toEqual(alone);
});

test('a run joins only the chain that it follows on', () => {
  const entries = chainOf(['commit', 'commit', 'commit']);
  const [run] = runsOf(entries.slice(2));
  const chain = (): Chain => {
    const made = new Chain('t');
    for (const entry of entries.slice(0, 2)) made.accept(entry);
    return made;
  };
  for (const wrong of [
    { trajectoryId: 'u' },
    { seq: 3 },
    { parent: 'f'.repeat(64) },
    { from: second(0) },
    { parentCommit: 'f'.repeat(64) },
  ]) {
    const tried = chain();
    expect(tried.join({ ...run!, ...wrong })).toBe(false);
    expect({ ...tried }).toEqual({ ...chain() });
  }
  const frozen = chain();
  frozen.open.set('x', { freezes: 'world', proposal: { writ_id: 'w' } } as never);
  expect(frozen.join(run!)).toBe(false);
  expect(chain().join(run!)).toBe(true);
});

test('a run ends before its patches become too long a text', () => {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: '' }));
  for (let n = 1; n < 20; n++) {
    const value = `${n}`.repeat(400_000);
    writer.add('commit', {
      ...commitMembers([{ op: 'replace', path: '/n', value }]),
      at: second(n),
    });
  }
  const runs = runsOf(writer.rows.map(checkRow).slice(1));
  expect(runs.length).toBeGreaterThan(1);
  expect(runs.map(({ count }) => count).reduce((a, b) => a + b)).toBe(19);
  for (const { patches } of runs) expect(patches.length).toBeLessThan(6_000_000);
});
