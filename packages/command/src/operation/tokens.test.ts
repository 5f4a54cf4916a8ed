import { MemoryStore } from '@assize/testing/memory';
import { addMicros, type Instant } from 'assize/internal/canon';
import { systemRandom } from 'assize/internal/oracle';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { collected } from '../../../../tests/support/server/collected.ts';
import { Tokens } from './tokens.ts';

const SECRET = new Uint8Array(32).fill(1);
const NOW: Instant = '2026-01-01T00:00:00.000000Z';

function terms(seconds = 60) {
  return {
    principal: 'agent:scout',
    kinds: ['agent'],
    created: NOW,
    expires: addMicros(NOW, seconds * 1_000_000),
  } as const;
}

test('a token counts from its creation until its last microsecond', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 10_000 }),
      fc.integer({ min: -5, max: 20_000 }),
      async (life, at) => {
        const tokens = new Tokens(new MemoryStore(), SECRET, systemRandom);
        const { token, row } = await tokens.create(terms(life));
        const verified = tokens.verify(token, addMicros(NOW, at * 1_000_000));
        if (at < life) expect(await verified).toEqual(row);
        else await expect(verified).rejects.toMatchObject({ code: 'unauthenticated' });
      },
    ),
    { numRuns: 30 },
  );
});

test('any other text is refused with the same message', async () => {
  const tokens = new Tokens(new MemoryStore(), SECRET, systemRandom);
  const { token, row } = await tokens.create(terms());
  const messages = new Set<string>();
  const near = fc
    .nat({ max: token.length - 1 })
    .chain((at) =>
      fc
        .constantFrom(...'0123456789abcdef_z')
        .map((letter) => token.slice(0, at) + letter + token.slice(at + 1)),
    );
  const unknown = fc.stringMatching(/^[0-9a-f]{16}$/).map((id) => `asz_${id}_${token.slice(-64)}`);
  await fc.assert(
    fc.asyncProperty(fc.oneof(near, unknown, fc.string()), async (text) => {
      if (text === token) return;
      const error = await tokens.verify(text, NOW).then(
        () => undefined,
        (thrown: unknown) => thrown as Error & { code: string },
      );
      expect(error?.code).toBe('unauthenticated');
      messages.add(error?.message ?? '');
    }),
  );
  expect(messages.size).toBe(1);
  await tokens.revoke(row.id);
  const [ended] = await Promise.allSettled([tokens.verify(token, NOW)]);
  expect(messages).toContain((ended as PromiseRejectedResult).reason.message);
});

test('the store has neither a token nor its secret', async () => {
  const store = new MemoryStore();
  const tokens = new Tokens(store, SECRET, systemRandom);
  const { token } = await tokens.create({ ...terms(), note: 'for the build' });
  const rows = JSON.stringify(await store.sideList('token', { limit: 10 }));
  expect(rows).not.toContain(token.slice(-64));
  expect(rows).toContain('for the build');
  expect(JSON.stringify(await collected(tokens.list()))).not.toContain(token.slice(-64));
});

test('a token of another root key does not count', async () => {
  const store = new MemoryStore();
  const { token } = await new Tokens(store, new Uint8Array(32), systemRandom).create(terms());
  const tokens = new Tokens(store, SECRET, systemRandom);
  await expect(tokens.verify(token, NOW)).rejects.toMatchObject({ code: 'unauthenticated' });
  expect(await collected(tokens.list())).toEqual([]);
});

test('a used id gets another token, and a revocation ends one of them', async () => {
  const store = new MemoryStore();
  let calls = 0;
  const random = {
    bytes: (count: number) =>
      new Uint8Array(count).fill(count === 8 ? Math.floor(calls++ / 2) : calls),
  };
  const tokens = new Tokens(store, SECRET, random as never);
  const one = await tokens.create(terms());
  const two = await tokens.create(terms());
  expect(two.row.id).not.toBe(one.row.id);
  expect(await tokens.revoke(one.row.id)).toBe(true);
  expect(await tokens.revoke(one.row.id)).toBe(false);
  expect(await tokens.verify(two.token, NOW)).toEqual(two.row);
});

test('a sweep deletes tokens a week after their end, and no others', async () => {
  const tokens = new Tokens(new MemoryStore(), SECRET, systemRandom);
  const lives = [60, 120, 30 * 86_400];
  const ids = await Promise.all(
    lives.map(async (life) => (await tokens.create(terms(life))).row.id),
  );
  const left = async (seconds: number): Promise<string[]> => {
    await tokens.sweep(addMicros(NOW, seconds * 1_000_000));
    return (await collected(tokens.list())).map(({ id }) => id);
  };
  expect(await left(7 * 86_400 + 59)).toEqual([...ids].sort());
  expect(await left(7 * 86_400 + 60)).toEqual([ids[1], ids[2]].sort());
  expect(await left(20 * 86_400)).toEqual([ids[2]]);
});

test('a list begins after any id, and has the tokens in order', async () => {
  const tokens = new Tokens(new MemoryStore(), SECRET, systemRandom);
  for (let n = 0; n < 5; n++) await tokens.create(terms());
  const all = (await collected(tokens.list())).map(({ id }) => id);
  expect(all).toEqual([...all].sort());
  expect(new Set(all).size).toBe(5);
  for (const [at, id] of all.entries())
    expect((await collected(tokens.list(id))).map((row) => row.id)).toEqual(all.slice(at + 1));
});
