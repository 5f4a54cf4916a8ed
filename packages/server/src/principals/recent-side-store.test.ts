import { Tokens } from '@assize/command/operation';
import { MemoryStore } from '@assize/testing/memory';
import { systemRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { recentSideStore } from './recent-reads.ts';

const SECRET = new Uint8Array(32).fill(1);
const NOW = '2026-01-01T00:00:00.000000Z';
const TERMS = {
  principal: 'agent:scout',
  kinds: ['agent'],
  created: NOW,
  expires: '2027-01-01T00:00:00.000000Z',
} as const;

test('a token revoked by this server does not count in the next request', async () => {
  const tokens = new Tokens(recentSideStore(new MemoryStore()), SECRET, systemRandom);
  const { token, row } = await tokens.create(TERMS);
  expect(await tokens.verify(token, NOW)).toEqual(row);
  expect(await tokens.revoke(row.id)).toBe(true);
  await expect(tokens.verify(token, NOW)).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a row that another server changed can be deleted', async () => {
  const store = new MemoryStore();
  const side = recentSideStore(store);
  const tokens = new Tokens(side, SECRET, systemRandom);
  const { token, row } = await tokens.create(TERMS);
  await tokens.verify(token, NOW);
  const stored = (await store.sideGet('token', row.id))!;
  expect(await store.sidePut([{ ...stored, expected: stored.version }])).toBe(true);
  expect(await tokens.revoke(row.id)).toBe(true);
  expect(await store.sideGet('token', row.id)).toBeUndefined();
});
