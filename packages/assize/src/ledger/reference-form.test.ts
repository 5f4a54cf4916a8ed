import { MemoryStore } from '@assize/testing/memory';
import { describe, expect, test } from 'vitest';
import { canonicalize, hashText } from '#canon';
import {
  ChainWriter,
  commitMembers,
  pendingMembers,
  rejectionMembers,
  rootMembers,
  second,
} from '../../../../tests/support/ledger/rows.ts';
import { type BlobRow, payloadFault, Replayer, verifyTrajectory } from './index.ts';

async function verified(writer: ChainWriter, values: readonly unknown[] = []) {
  const store = new MemoryStore();
  const blobs: BlobRow[] = values.map((value) => ({
    hash: hashText(canonicalize(value)),
    text: canonicalize(value),
  }));
  await store.commit({ entries: writer.rows, blobs });
  return verifyTrajectory(new Replayer(store), 't');
}

const referenceTo = (value: unknown): object => {
  const text = canonicalize(value);
  return { $blob: hashText(text), bytes: Buffer.byteLength(text) };
};

function chain(): ChainWriter {
  const writer = new ChainWriter('t');
  writer.add('root', rootMembers({ n: 0 }));
  return writer;
}

describe('a reference', () => {
  const args = (given: unknown): Promise<Awaited<ReturnType<typeof verified>>> => {
    const writer = chain();
    writer.add(
      'commit',
      commitMembers([], {
        action: { name: 'act', role: { name: 'worker', params: {} }, args: given },
      }),
    );
    return verified(writer, [{ a: 1 }]);
  };

  test('is whole, has the length of its text, and nothing else', async () => {
    const reference = referenceTo({ a: 1 });
    expect(await args(reference)).toMatchObject({ valid: true });
    expect(await args({ ...reference, bytes: 8 })).toMatchObject({
      fault: { seq: 1, code: 'blob_tampered' },
    });
    for (const odd of [
      { ...reference, more: 1 },
      { $blob: 'x', bytes: 1 },
      { $blob: hashText('x') },
      { $erased: hashText('x') },
    ]) {
      expect(await args(odd)).toMatchObject({ fault: { seq: 1, code: 'malformed' } });
    }
  });

  test.each(['delta', 'approval'])('of a pending proposal (%s) leads to a list', async (what) => {
    for (const [value, valid] of [
      [[], true],
      [{}, false],
    ] as const) {
      const writer = chain();
      const given =
        what === 'delta'
          ? { delta: { state: referenceTo(value), effects: [], beliefs: [] } }
          : { approval: referenceTo(value) };
      writer.add('pending_approval', pendingMembers({}, given));
      expect(await verified(writer, [value])).toMatchObject(
        valid ? { valid } : { fault: { seq: 1, code: 'malformed' } },
      );
    }
  });

  test('of a beginning leads to an object, of a change to a list', async () => {
    const root = new ChainWriter('t');
    root.add('root', rootMembers(referenceTo([1])));
    expect(await verified(root, [[1]])).toMatchObject({ fault: { seq: 0, code: 'malformed' } });
    const writer = chain();
    writer.add('commit', {
      ...commitMembers([]),
      delta: { state: referenceTo({}), effects: [], beliefs: [] },
    });
    expect(await verified(writer, [{}])).toMatchObject({ fault: { seq: 1, code: 'bad_patch' } });
  });
});

test('an empty change, a state other than an object, a NUL in a name fail', () => {
  const row = chain().rows[0]!;
  const root = JSON.parse(row.payload) as Record<string, unknown>;
  expect(payloadFault(root)).toBeUndefined();
  expect(payloadFault({ ...root, trajectory_id: 'a\u0000' })).toContain('trajectory_id');
  for (const state of [null, 1, 'x', []])
    expect(payloadFault({ ...root, initial_state: state })).toContain('initial_state');
  const writer = chain();
  const commit = JSON.parse(writer.add('commit', commitMembers([])).payload) as { delta: object };
  expect(payloadFault({ ...commit, delta: { ...commit.delta, state: '' } })).toContain('delta');
});

describe('a rejection of a pending proposal', () => {
  const resolved = (rest: object): Promise<Awaited<ReturnType<typeof verified>>> => {
    const writer = chain();
    writer.add('pending_approval', pendingMembers({ expires: second(5) }));
    const resolves = writer.head.id;
    const by = {
      proposal_id: hashText('proposal'),
      reason: 'expired',
      resolves,
      at: second(9),
      ...rest,
    };
    writer.add('rejection', rejectionMembers(by));
    return verified(writer);
  };

  test('has the intent and the writ that were pending, and one of two reasons', async () => {
    expect(await resolved({})).toMatchObject({ valid: true });
    const broken = { fault: { seq: 2, code: 'rule_broken' } };
    expect(
      await resolved({
        intent: {
          action: 'other',
          role: { name: 'worker', params: {} },
          args: {},
          observations: [],
        },
      }),
    ).toMatchObject(broken);
    expect(await resolved({ writ_id: hashText('another') })).toMatchObject(broken);
    expect(await resolved({ reason: 'conflict' })).toMatchObject(broken);
  });
});
