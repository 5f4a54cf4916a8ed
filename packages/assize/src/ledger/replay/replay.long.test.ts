import { describe, expect, test } from 'vitest';
import {
  branchMembers,
  ChainWriter,
  commitMembers,
  everyKind,
  keysOf,
  type Members,
  pendingMembers,
  RowsReader,
  rejectionMembers,
  rootMembers,
  second,
  withByte,
} from '../../../../../tests/support/ledger/rows.ts';
import type { BlobRow, EntryRow } from '../index.ts';
import { LedgerFault, Replayer, type VerifyReport, verifyTrajectory } from '../index.ts';

const signer = keysOf(1);

function verify(
  rows: readonly EntryRow[],
  name: string,
  blobs: readonly BlobRow[] = [],
): Promise<VerifyReport> {
  return verifyTrajectory(new Replayer(new RowsReader(rows, blobs)), name);
}

async function stateOf(
  rows: readonly EntryRow[],
  name: string,
  blobs: readonly BlobRow[] = [],
): Promise<unknown> {
  return (await new Replayer(new RowsReader(rows, blobs)).replay(name)).fold.state;
}

/** A root and `count` commits that count in `/n`. */
function counting(name: string, count: number): ChainWriter {
  const writer = new ChainWriter(name);
  writer.add('root', rootMembers({ n: 0 }));
  for (let n = 1; n <= count; n++)
    writer.add('commit', commitMembers([{ op: 'replace', path: '/n', value: n }]));
  return writer;
}

describe('a ledger of all kinds', () => {
  const { rows, blobs, names } = everyKind(signer);

  test('is valid, folds, and reports the open and the signed entries', async () => {
    const reports = await Promise.all(names.map((name) => verify(rows, name, blobs)));
    expect(reports).toMatchObject([
      { valid: true, entries: 12, open: 0, delegated: 0, signed: 4 },
      { valid: true, entries: 7, open: 0, delegated: 0, signed: 7 },
      { valid: true, entries: 7, open: 2, delegated: 0, signed: 7 },
      { valid: true, entries: 3, open: 0, delegated: 0, signed: 0 },
    ]);
    const kept = 'a long text in a blob';
    expect(await stateOf(rows, 'first', blobs)).toEqual({ n: 1, list: ['α', 'β'], kept });
    expect(await stateOf(rows, 'second', blobs)).toEqual({ n: 6, list: ['α', 'β'], kept });
    expect(await stateOf(rows, 'third', blobs)).toEqual({ n: 1, list: ['α', {}], kept });
  });

  test('every byte of every payload, flipped, is found and its entry named', async () => {
    const missed: string[] = [];
    let flips = 0;
    const stored = [...rows];
    // One replayer for each trajectory: it folds the initial state of a branch only once.
    const replayers = new Map(
      names.map((name) => [name, new Replayer(new RowsReader(stored, blobs))]),
    );
    for (const [index, row] of rows.entries()) {
      const replayer = replayers.get(row.trajectory_id) as Replayer;
      for (let offset = 0; offset < Buffer.byteLength(row.payload); offset++, flips++) {
        stored[index] = { ...row, payload: withByte(row.payload, offset, 0x01) };
        const { fault } = await verifyTrajectory(replayer, row.trajectory_id);
        stored[index] = row;
        if (
          fault?.seq !== row.seq ||
          fault.code !== 'tampered' ||
          fault.trajectory_id !== row.trajectory_id
        ) {
          missed.push(`${row.trajectory_id} ${row.seq} byte ${offset}: ${JSON.stringify(fault)}`);
        }
      }
    }
    expect(flips).toBeGreaterThan(10_000);
    expect(missed).toEqual([]);
  });

  test('each flipped blob byte is found, and an entry that names it is named', async () => {
    for (const [index, blob] of blobs.entries()) {
      const naming = rows.find(({ payload }) => payload.includes(blob.hash)) as EntryRow;
      for (let offset = 0; offset < Buffer.byteLength(blob.text); offset++) {
        const changed = blobs
          .filter(({ hash }, other) => other === index || hash !== blob.hash)
          .map((other) =>
            other.hash === blob.hash
              ? { ...other, text: withByte(blob.text, offset, 0x01) }
              : other,
          );
        expect(await verify(rows, naming.trajectory_id, changed)).toMatchObject({
          valid: false,
          fault: { seq: naming.seq, code: 'blob_tampered' },
        });
      }
    }
  });

  test('every blob that is missing is found', async () => {
    for (const { hash } of blobs) {
      const naming = rows.find(({ payload }) => payload.includes(hash)) as EntryRow;
      const left = blobs.filter((blob) => blob.hash !== hash);
      expect(await verify(rows, naming.trajectory_id, left)).toMatchObject({
        fault: { seq: naming.seq, code: 'blob_missing' },
      });
    }
  });

  test('every entry dropped, but for the last of a chain, is found', async () => {
    for (const [index, row] of rows.entries()) {
      const report = await verify(rows.toSpliced(index, 1), row.trajectory_id, blobs);
      const last = rows[index + 1]?.trajectory_id !== row.trajectory_id;
      // A chain alone does not detect a lost tail. That needs a checkpoint.
      if (last) expect(report).toMatchObject({ valid: true, entries: row.seq });
      else
        expect(report).toMatchObject({
          valid: false,
          entries: row.seq,
          fault: { seq: row.seq + 1 },
        });
    }
  });

  test('every two entries swapped, by their rows or by their contents, are found', async () => {
    const chain = rows.filter(({ trajectory_id }) => trajectory_id === 'first');
    const child = rows.filter(({ trajectory_id }) => trajectory_id === 'child');
    for (let i = 0; i < chain.length; i++) {
      for (let j = i + 1; j < chain.length; j++) {
        const [one, other] = [chain[i] as EntryRow, chain[j] as EntryRow];
        const byRow = [...chain.with(i, other).with(j, one), ...child];
        expect(await verify(byRow, 'first', blobs)).toMatchObject({
          valid: false,
          entries: i,
          fault: { seq: j },
        });
        const place = ({ seq, parent }: EntryRow): Pick<EntryRow, 'seq' | 'parent'> => ({
          seq,
          parent,
        });
        const byContent = [
          ...chain.with(i, { ...other, ...place(one) }).with(j, { ...one, ...place(other) }),
          ...child,
        ];
        expect(await verify(byContent, 'first', blobs)).toMatchObject({
          valid: false,
          entries: i,
          fault: { seq: i, code: 'column_mismatch' },
        });
      }
    }
  });

  test('every entry that stands there twice is found', async () => {
    for (const [index, row] of rows.entries()) {
      const report = await verify(rows.toSpliced(index, 0, row), row.trajectory_id, blobs);
      expect(report).toMatchObject({ valid: false, entries: row.seq + 1, fault: { seq: row.seq } });
    }
  });
});

test('LIMIT: a suffix rewritten with new ids verifies; only checkpoints differ', async () => {
  const honest = counting('t', 4);
  const forged = new ChainWriter('t');
  for (const row of honest.rows.slice(0, 2)) forged.push(row);
  for (const value of [70, 80, 90])
    forged.add('commit', commitMembers([{ op: 'replace', path: '/n', value }]));
  expect(await verify(forged.rows, 't')).toMatchObject({ valid: true, entries: 5 });
  expect(forged.head.id).not.toBe(honest.head.id);
});

test('no entries and no trajectory are a fault, not an empty success', async () => {
  expect(await verify([], 't')).toMatchObject({
    valid: false,
    entries: 0,
    fault: { seq: 0, code: 'not_found' },
  });
});

test('patches that do not apply are a fault of their entry', async () => {
  const bad: Members[][] = [
    [{ op: 'add', path: '/n', value: 1 }],
    [{ op: 'replace', path: '/m', value: 1 }],
    [{ op: 'remove', path: '/m' }],
    [{ op: 'move', path: '/n', from: '/m' }],
    [{ op: 'add', path: '/list/0', value: 1 }],
    [{ op: 'add', path: '/list/2', value: 1 }],
    [{ op: 'add', path: '/list/-', value: 1 }],
    [{ op: 'replace', path: '/list/length', value: 0 }],
    [{ op: 'replace', path: '/list/00', value: 0 }],
    [{ op: 'add', path: '/n/deeper', value: 1 }],
    [{ op: 'add', path: '/__proto__/x', value: 1 }],
    [{ op: 'add', path: '/constructor/prototype/x', value: 1 }],
    [{ op: 'replace', path: '', value: {} }],
    [{ op: 'replace', path: 'n', value: 1 }],
    [{ op: 'replace', path: '/n~2', value: 1 }],
    [{ op: 'replace', path: '/n' }],
    [{ path: '/n', value: 1 }],
    [{ op: 'replace', path: 7, value: 1 }],
    [{ op: 'replace', value: 1 }],
    [null as never],
    ['text' as never],
    [[] as never],
  ];
  for (const state of bad) {
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers({ n: 0, list: [0] }));
    writer.add('commit', commitMembers(state as never));
    expect(await verify(writer.rows, 't'), JSON.stringify(state)).toMatchObject({
      fault: { seq: 1, code: 'bad_patch' },
    });
  }
  expect(Object.hasOwn(Object.prototype, 'x')).toBe(false);
});

test('a malformed delta, state or reference is a fault of its entry', async () => {
  const states: unknown[] = [
    'text',
    7,
    null,
    { op: 'add' },
    { $blob: 'no hash', bytes: 1 },
    { $erased: 'f'.repeat(64) },
  ];
  for (const state of states) {
    const writer = counting('t', 1);
    writer.add('commit', commitMembers(state as never));
    const report = await verify(writer.rows, 't');
    expect(report, JSON.stringify(state)).toMatchObject({ valid: false, fault: { seq: 2 } });
  }
  for (const state of [null, 7, 'text', []]) {
    const writer = new ChainWriter('t');
    writer.add('root', rootMembers(state));
    writer.add('commit', commitMembers([{ op: 'add', path: '/n', value: 1 }]));
    expect(await verify(writer.rows, 't'), JSON.stringify(state)).toMatchObject({ valid: false });
  }
});

describe('branches', () => {
  test('a nested branch folds all its sources, and no source includes it', async () => {
    const writers = [counting('t0', 3)];
    for (let i = 1; i <= 6; i++) {
      const writer = new ChainWriter(`t${i}`);
      writer.add('branch', {
        ...branchMembers((writers.at(-1) as ChainWriter).head),
        at: second(60 * i),
      });
      const key = { op: 'add', path: `/in${i}`, value: i } as const;
      writer.add('commit', commitMembers([key], { at: second(60 * i) }));
      writers.push(writer);
    }
    const rows = writers.flatMap((writer) => writer.rows);
    expect(await stateOf(rows, 't6')).toEqual({
      n: 3,
      in1: 1,
      in2: 2,
      in3: 3,
      in4: 4,
      in5: 5,
      in6: 6,
    });
    expect(await stateOf(rows, 't0')).toEqual({ n: 3 });
    expect(await verify(rows, 't6')).toMatchObject({ valid: true, entries: 2 });
  });

  test('a branch begins in the middle, at a root, at a branch entry', async () => {
    const source = counting('t', 4);
    const made = (name: string, from: EntryRow): ChainWriter => {
      const writer = new ChainWriter(name);
      writer.add('branch', { ...branchMembers(from), at: second(100) });
      return writer;
    };
    const middle = made('middle', source.rows[2] as EntryRow);
    const root = made('root', source.rows[0] as EntryRow);
    const again = made('again', middle.head);
    const rows = [source, middle, root, again].flatMap((writer) => writer.rows);
    expect(await stateOf(rows, 'middle')).toEqual({ n: 2 });
    expect(await stateOf(rows, 'root')).toEqual({ n: 0 });
    expect(await stateOf(rows, 'again')).toEqual({ n: 2 });
  });

  const source = counting('t', 2);
  const rejection = source.add('rejection', rejectionMembers());
  const pending = source.add('pending_approval', pendingMembers());
  const elsewhere = counting('elsewhere', 1);
  const refused: [string, Members, string][] = [
    ['a rejection', branchMembers(rejection), 'rule_broken'],
    ['a pending approval', branchMembers(pending), 'rule_broken'],
    [
      'another trajectory’s entry',
      { ...branchMembers(elsewhere.head), source_trajectory_id: 't' },
      'source_missing',
    ],
    [
      'no entry',
      { ...branchMembers(source.rows[1] as EntryRow), source_commit_id: 'e'.repeat(64) },
      'source_missing',
    ],
    [
      'no trajectory',
      { ...branchMembers(source.rows[1] as EntryRow), source_trajectory_id: 'gone' },
      'source_missing',
    ],
    [
      'what is younger',
      { ...branchMembers(source.rows[2] as EntryRow), at: second(1) },
      'rule_broken',
    ],
  ];
  test.each(refused)('a branch from %s is a fault', async (_from, members, code) => {
    const writer = new ChainWriter('b');
    writer.add('branch', { at: second(200), ...members });
    const report = await verify([...source.rows, ...elsewhere.rows, ...writer.rows], 'b');
    expect(report).toMatchObject({ valid: false, fault: { trajectory_id: 'b', seq: 0, code } });
  });

  test('only a source fault before the branching point is a fault of the branch', async () => {
    const writer = counting('t', 4);
    const branch = new ChainWriter('b');
    branch.add('branch', { ...branchMembers(writer.rows[2] as EntryRow), at: second(100) });
    const broken = (seq: number): EntryRow[] => {
      const row = writer.rows[seq] as EntryRow;
      return [
        ...writer.rows.with(seq, { ...row, payload: withByte(row.payload, 9, 1) }),
        ...branch.rows,
      ];
    };
    for (const seq of [0, 1]) {
      expect(await verify(broken(seq), 'b')).toMatchObject({
        fault: { trajectory_id: 'b', seq: 0, code: 'source_missing' },
      });
    }
    // The very entry it branches from is read by itself first, and so is named itself.
    expect(await verify(broken(2), 'b')).toMatchObject({ valid: false });
    for (const seq of [3, 4]) expect(await verify(broken(seq), 'b')).toMatchObject({ valid: true });
  });

  test('branches forged into a cycle are a fault, and verification ends', async () => {
    // All at one instant, so no branch is older than its source.
    const at = second(0);
    const one = new ChainWriter('one');
    one.add('root', { ...rootMembers(), at });
    one.add('commit', commitMembers([], { at }));
    const two = new ChainWriter('two');
    two.add('branch', { ...branchMembers(one.head), at });
    two.add('commit', commitMembers([], { at }));
    // The first entry of `one` is replaced with a branch from its own descendant.
    const forged = new ChainWriter('one');
    forged.add('branch', { ...branchMembers(two.head), at });
    const rows = [...forged.rows, one.rows[1] as EntryRow, ...two.rows];
    const reader = new RowsReader(rows);
    let reads = 0;
    const counted = Object.assign(Object.create(reader), {
      entries: (...args: Parameters<RowsReader['entries']>) => {
        if (++reads > 100) throw new Error('it goes round and round');
        return reader.entries(...args);
      },
      resolve: (id: string) => reader.resolve(id),
      blob: (hash: string) => reader.blob(hash),
      erasedBy: (hash: string) => reader.erasedBy(hash),
    }) as RowsReader;
    for (const name of ['one', 'two']) {
      expect(await verifyTrajectory(new Replayer(counted), name)).toMatchObject({
        valid: false,
        fault: { seq: 0 },
      });
    }
  });

  test('a branch of its own trajectory is a fault', async () => {
    const own = counting('t', 1);
    const at = second(1);
    const forged = new ChainWriter('t');
    forged.add('branch', { ...branchMembers(own.rows[1] as EntryRow), at });
    const report = await verify([...forged.rows, ...own.rows.slice(1)], 't');
    expect(report).toMatchObject({ valid: false, fault: { seq: 0, code: 'source_missing' } });
  });
});

describe('replaying', () => {
  test('up to an entry gives the state of then', async () => {
    const writer = counting('t', 5);
    const replayer = new Replayer(new RowsReader(writer.rows));
    for (const [n, row] of writer.rows.entries()) {
      const { chain, fold } = await replayer.replay('t', { until: row.id });
      expect([fold.state, chain.head, chain.seq]).toEqual([{ n }, row.id, n + 1]);
    }
    await expect(replayer.replay('t', { until: 'd'.repeat(64) })).rejects.toThrow(LedgerFault);
  });

  test('repeatedly requested states are shared and stay unchanged', async () => {
    const writer = counting('t', 3);
    const replayer = new Replayer(new RowsReader(writer.rows));
    const row = writer.rows[2] as EntryRow;
    const [one, two] = [await replayer.stateAt('t', row.id), await replayer.stateAt('t', row.id)];
    expect(one.state).toBe(two.state);
    expect(one.state).toEqual({ n: 2 });
  });

  test('more entries than are read at a time', async () => {
    const writer = counting('t', 4_500);
    expect(await verify(writer.rows, 't')).toMatchObject({ valid: true, entries: 4_501 });
    const row = writer.rows[4_321] as EntryRow;
    const changed = writer.rows.with(4_321, { ...row, payload: withByte(row.payload, 20, 1) });
    expect(await verify(changed, 't')).toMatchObject({
      entries: 4_321,
      fault: { seq: 4_321, code: 'tampered' },
    });
  });
});
