import { MemoryStore } from '@assize/testing/memory';
import { addMicros, hashText, type Instant } from 'assize/internal/canon';
import { systemRandom } from 'assize/internal/oracle';
import { expect, test } from 'vitest';
import { collected } from '../../../../tests/support/server/collected.ts';
import { Sessions } from './sessions.ts';

const SECRET = new Uint8Array(32).fill(1);
const NOW: Instant = '2026-01-01T00:00:00.000000Z';
const later = (seconds: number): Instant => addMicros(NOW, seconds * 1_000_000);

function opened(): { readonly store: MemoryStore; readonly sessions: Sessions } {
  const store = new MemoryStore();
  return { store, sessions: new Sessions(store, SECRET, systemRandom) };
}

test('a session counts for twelve hours, until it is ended', async () => {
  const { sessions } = opened();
  const cookie = await sessions.start({ principal: 'boss:ada', method: 'session' }, NOW);
  expect(await sessions.find(cookie, later(12 * 3_600 - 1))).toMatchObject({
    principal: 'boss:ada',
  });
  expect(await sessions.find(cookie, later(12 * 3_600))).toBeUndefined();
  // An earlier clock shows that the deletion ends it, and not its time.
  expect(await sessions.find(cookie, NOW)).toBeDefined();
  await sessions.end(cookie);
  expect(await sessions.find(cookie, NOW)).toBeUndefined();
});

test('a list has each session without its cookie, and ends any of them', async () => {
  const { sessions } = opened();
  const person = { issuer: 'https://issuer.example', client: 'assize', claims: '{"sub":"grace"}' };
  const ada = await sessions.start({ principal: 'boss:ada', method: 'session' }, NOW);
  const grace = await sessions.start({ principal: 'person:grace', method: 'oidc', person }, NOW);
  const rows = await collected(sessions.list());
  expect(rows.map(({ id }) => id)).toEqual([hashText(ada), hashText(grace)].sort());
  expect(rows).toContainEqual({
    ...{ id: hashText(grace), principal: 'person:grace', method: 'oidc', person },
    ...{ created: NOW, expires: later(12 * 3_600) },
  });
  const [first, second] = rows.map(({ id }) => id) as [string, string];
  expect((await collected(sessions.list(first))).map(({ id }) => id)).toEqual([second]);
  expect(await sessions.endById(hashText(ada), 'admin:ann', NOW)).toBe(true);
  expect(await sessions.endById(hashText(ada), 'admin:ann', NOW)).toBe(false);
  // A cookie is not an id.
  expect(await sessions.endById(grace, 'admin:ann', NOW)).toBe(false);
  // Its browser can show who ended it, until it would have expired.
  expect(await sessions.find(ada, NOW)).toMatchObject({ ended: { by: 'admin:ann', at: NOW } });
  expect((await collected(sessions.list())).map(({ id }) => id)).toEqual([hashText(grace)]);
  expect(await sessions.find(grace, NOW)).toMatchObject({ principal: 'person:grace' });
});

test('two sign-ins have two sessions', async () => {
  const { sessions } = opened();
  const started = await Promise.all(
    Array.from({ length: 20 }, () =>
      sessions.start({ principal: 'boss:ada', method: 'session' }, NOW),
    ),
  );
  expect(new Set(started).size).toBe(20);
  await sessions.end(started[0] as string);
  expect(await sessions.find(started[1] as string, NOW)).toBeDefined();
});

test('a code signs in once, within ten minutes, also when requests race', async () => {
  const { sessions } = opened();
  const code = await sessions.createCode('boss:ada', NOW);
  const used = await Promise.all(
    Array.from({ length: 10 }, () => sessions.useCode(code, later(599))),
  );
  expect(used.filter((principal) => principal !== undefined)).toEqual(['boss:ada']);
  const late = await sessions.createCode('boss:ada', NOW);
  expect(await sessions.useCode(late, later(600))).toBeUndefined();
});

test('codes, sessions and sign-in states do not replace each other', async () => {
  const { sessions } = opened();
  const code = await sessions.createCode('boss:ada', NOW);
  const cookie = await sessions.start({ principal: 'boss:ada', method: 'session' }, NOW);
  const state = await sessions.beginSignIn(
    { verifier: 'v', nonce: 'n', browser: hashText('b') },
    NOW,
  );
  expect(await sessions.find(code, NOW)).toBeUndefined();
  expect(await sessions.find(state, NOW)).toBeUndefined();
  expect(await sessions.useCode(cookie, NOW)).toBeUndefined();
  expect(await sessions.useCode(state, NOW)).toBeUndefined();
  expect(await sessions.endSignIn(code, 'b', NOW)).toBeUndefined();
  expect(await sessions.endSignIn(state, 'b', NOW)).toMatchObject({ verifier: 'v', nonce: 'n' });
  expect(await sessions.endSignIn(state, 'b', NOW)).toBeUndefined();
});

test('the store has none of the secrets, and odd texts find nothing', async () => {
  const { store, sessions } = opened();
  const secrets = [
    await sessions.createCode('boss:ada', NOW),
    await sessions.start({ principal: 'boss:ada', method: 'session' }, NOW),
    await sessions.beginSignIn({ verifier: 'v', nonce: 'n', browser: hashText('b') }, NOW),
  ];
  const rows = await Promise.all(
    ['session', 'sign-in-code', 'sign-in'].map((kind) => store.sideList(kind, { limit: 9 })),
  );
  for (const secret of secrets) expect(JSON.stringify(rows)).not.toContain(secret);
  for (const text of ['', 'x', '\0', 'A'.repeat(64), 'a'.repeat(63), 'a'.repeat(1_000)]) {
    expect(await sessions.find(text, NOW)).toBeUndefined();
    expect(await sessions.useCode(text, NOW)).toBeUndefined();
    await sessions.end(text);
  }
});

test('a sweep deletes what has ended, and nothing else', async () => {
  const { store, sessions } = opened();
  await sessions.createCode('boss:ada', NOW);
  await sessions.beginSignIn({ verifier: 'v', nonce: 'n', browser: hashText('b') }, NOW);
  const cookie = await sessions.start({ principal: 'boss:ada', method: 'session' }, NOW);
  const left = async (): Promise<number[]> => {
    const kinds = ['session', 'sign-in-code', 'sign-in'];
    return (await Promise.all(kinds.map((kind) => store.sideList(kind, { limit: 9 })))).map(
      ({ length }) => length,
    );
  };
  await sessions.sweep(later(599));
  expect(await left()).toEqual([1, 1, 1]);
  await sessions.sweep(later(600));
  expect(await left()).toEqual([1, 0, 0]);
  expect(await sessions.find(cookie, later(700))).toBeDefined();
  await sessions.sweep(later(12 * 3_600));
  expect(await left()).toEqual([0, 0, 0]);
});
