import { MemoryStore } from '@assize/testing/memory';
import { hashText } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { copySideRows, dropRuns } from './side-rows.ts';

const MOVED = ['acme', 'acme:orders', 'acme:returns'];
const OTHERS = ['acmes', 'beta', 'other:acme'];

async function put(store: SideStore, kind: string, key: string, body: string): Promise<void> {
  const row = await store.sideGet(kind, key);
  await store.sidePut([{ kind, key, expected: row?.version ?? null, body }]);
}

/** Every row of the kinds, without versions. */
async function rowsOf(store: SideStore): Promise<readonly (readonly [string, string])[]> {
  const kinds = ['grant', 'run/open', 'run/ended', 'token', 'cells/applied'];
  const lists = await Promise.all(kinds.map((kind) => store.sideList(kind, { limit: 5_000 })));
  return lists.flat().map(({ kind, key, body }) => [`${kind} ${key}`, body] as const);
}

const rows = fc.array(
  fc.record({
    trajectory: fc.constantFrom(...MOVED, ...OTHERS),
    what: fc.constantFrom('grant', 'run/open', 'run/ended', 'token'),
    n: fc.nat(3),
    body: fc.integer().map(String),
  }),
  { maxLength: 40 },
);

const keyOf = (what: string, trajectory: string, n: number): string => {
  if (what === 'grant') return `${hashText(trajectory)}/${n}`;
  return what === 'token' ? `${n}` : trajectory;
};

test('the rows of the moved trajectories are in the new cell, and no others', async () => {
  await fc.assert(
    fc.asyncProperty(rows, rows, async (written, earlier) => {
      const [from, to] = [new MemoryStore(), new MemoryStore()];
      const expected = new Map<string, string>();
      for (const { what, trajectory, n, body } of earlier) {
        await put(to, what, keyOf(what, trajectory, n), body);
        expected.set(`${what} ${keyOf(what, trajectory, n)}`, body);
      }
      for (const { what, trajectory, n, body } of written) {
        await put(from, what, keyOf(what, trajectory, n), body);
        if (what !== 'token' && MOVED.includes(trajectory))
          expected.set(`${what} ${keyOf(what, trajectory, n)}`, body);
      }
      const before = await rowsOf(from);
      await copySideRows(from, to, MOVED);
      expect(new Map(await rowsOf(to))).toEqual(expected);
      const after = await rowsOf(to);
      await copySideRows(from, to, MOVED);
      expect(await rowsOf(to)).toEqual(after);
      expect(await rowsOf(from)).toEqual(before);
      await dropRuns(from, MOVED);
      const isOfMovedRun = ([place]: readonly [string, string]) =>
        MOVED.some((name) => place === `run/open ${name}`);
      expect(await rowsOf(from)).toEqual(before.filter((row) => !isOfMovedRun(row)));
    }),
  );
});

test('a trajectory with more grants than one page keeps all of them', async () => {
  const [from, to] = [new MemoryStore(), new MemoryStore()];
  for (let n = 0; n < 1_003; n++) await put(from, 'grant', keyOf('grant', 'acme', n), `${n}`);
  await put(from, 'grant', `${hashText('beta')}/0`, '"other"');
  await copySideRows(from, to, ['acme']);
  expect(await to.sideList('grant', { limit: 5_000 })).toHaveLength(1_003);
});

test('a row that changes meanwhile in the new cell is read again', async () => {
  const [from, to] = [new MemoryStore(), new MemoryStore()];
  await put(from, 'run/open', 'acme', '"new"');
  await put(to, 'run/open', 'acme', '"old"');
  let puts = 0;
  const racing: SideStore = {
    sideGet: (kind, key) => to.sideGet(kind, key),
    sideList: (kind, page) => to.sideList(kind, page),
    sidePut: async (changes) => {
      if (puts++ === 0) await put(to, 'run/open', 'acme', '"between"');
      return to.sidePut(changes);
    },
  };
  await copySideRows(from, racing, ['acme']);
  expect([puts, (await to.sideGet('run/open', 'acme'))?.body]).toEqual([2, '"new"']);
});
