/** Server-sent events: every entry, once, in the order of the log, also after a reconnect. */

import { faultyStore } from '@assize/testing/internal';
import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { pay, succeed } from '../../../../tests/support/server/calling.ts';
import { problemFaults } from '../../../../tests/support/server/refusals.ts';
import { start, type TestServer } from '../../../../tests/support/server/serving.ts';

interface Event {
  readonly id: number;
  readonly event: string;
  readonly data: any;
}

/** Collects the events of a stream until it is left. */
async function watch(server: TestServer, query = '', headers: Record<string, string> = {}) {
  const leaving = new AbortController();
  const authorization = `Bearer ${server.tokens['auditor:eve']}`;
  const response = await fetch(`${server.url}/v1/events${query}`, {
    headers: { authorization, ...headers },
    signal: leaving.signal,
  });
  expect(response.headers.get('content-type')).toBe('text/event-stream');
  const events: Event[] = [];
  const reading = (async () => {
    let rest = '';
    for await (const piece of (response.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream(),
    )) {
      const blocks = (rest + piece).split('\n\n');
      rest = blocks.pop() as string;
      for (const block of blocks) {
        const field = (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(block)?.[1] ?? '';
        if (field('event') !== '')
          events.push({
            id: Number(field('id')),
            event: field('event'),
            data: JSON.parse(field('data')),
          });
      }
    }
  })().catch((error: unknown) => {
    if (!leaving.signal.aborted) throw error;
  });
  await expect.poll(() => events.length, { timeout: 20_000 }).toBeGreaterThan(0);
  return {
    events,
    entries: () => events.filter(({ event }) => event !== 'ready'),
    leave: async () => {
      leaving.abort();
      await reading;
    },
    ended: reading,
  };
}

const IN_TIME = { timeout: 20_000 };

test('a stream has each entry once; a reconnect continues after the last one', async () => {
  const server = await start();
  const first = await watch(server);
  for (let n = 0; n < 5; n++) await succeed(server, 'proposals.create', pay('a', 1, `a${n}`));
  await expect.poll(() => first.entries().length, IN_TIME).toBe(5);
  const last = first.events.at(-1) as Event;
  await first.leave();
  for (let n = 0; n < 7; n++) await succeed(server, 'proposals.create', pay('a', 1, `b${n}`));
  const second = await watch(server, '', { 'last-event-id': `${last.id}` });
  for (let n = 0; n < 3; n++) await succeed(server, 'proposals.create', pay('a', 1, `c${n}`));
  await expect.poll(() => second.entries().length, IN_TIME).toBe(10);
  const seqs = [...first.entries(), ...second.entries()].map(({ data }) => data.seq);
  expect(seqs).toEqual(Array.from({ length: 15 }, (_, n) => n + 1));
  await second.leave();
});

test('a stream from the beginning has all entries, with a filter some', async () => {
  const server = await start();
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  await succeed(server, 'proposals.create', pay('b', 200, 'k2'));
  const all = await watch(server, '?last_event_id=-1');
  await expect.poll(() => all.entries().length, IN_TIME).toBe(6);
  expect(all.entries().map(({ id }) => id)).toEqual([0, 1, 2, 3, 4, 5]);
  const some = await watch(server, '?last_event_id=-1&trajectory=main&kind=pending_approval');
  await expect.poll(() => some.entries().length, IN_TIME).toBe(1);
  await Promise.all([all.leave(), some.leave()]);
});

test('racing appends and streams that begin meanwhile miss nothing', async () => {
  const server = await start();
  const streams: Awaited<ReturnType<typeof watch>>[] = [];
  const work = Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      succeed(server, 'proposals.create', pay(`d${n}`, 1, `k${n}`)),
    ),
  );
  for (let n = 0; n < 6; n++) streams.push(await watch(server, '?last_event_id=-1'));
  await work;
  const positions = Array.from({ length: 34 }, (_, n) => n);
  for (const stream of streams) {
    await expect.poll(() => stream.entries().length, IN_TIME).toBe(34);
    expect(stream.entries().map(({ id }) => id)).toEqual(positions);
    await stream.leave();
  }
});

test('too many streams, another kind and a bad position have their problems', async () => {
  const server = await start({ server: { limits: { streams: 2 } } });
  const open = [await watch(server), await watch(server)];
  const asked = async (
    path: string,
    name: keyof TestServer['tokens'],
    status: number,
    code: string,
  ) => {
    const { headers, ...rest } = await server.ask('GET', path, { token: server.tokens[name] });
    expect(
      problemFaults({ ...rest, type: headers.get('content-type') ?? '' }, status, code),
      path,
    ).toEqual([]);
  };
  await asked('/v1/events', 'auditor:eve', 429, 'too_many_open');
  await asked('/v1/events', 'agent:scout', 403, 'forbidden');
  for (const id of ['x', '-2', '1.5', '9'.repeat(20)])
    await asked(`/v1/events?last_event_id=${id}`, 'boss:ada', 400, 'invalid_request');
  // A refused position keeps no stream open.
  const boss = [];
  for (let n = 0; n < 2; n++)
    boss.push(
      await fetch(`${server.url}/v1/events`, {
        headers: { authorization: `Bearer ${server.tokens['boss:ada']}` },
      }),
    );
  expect(boss.map(({ status }) => status)).toEqual([200, 200]);
  for (const one of boss) await one.body?.cancel();
  for (const one of open) await one.leave();
  await expect
    .poll(
      async () => (await server.ask('GET', '/metrics', { token: server.tokens['admin:ann'] })).text,
      IN_TIME,
    )
    .toContain('assize_event_streams 0');
});

test('a stop ends the streams', async () => {
  const server = await start();
  const { ended } = await watch(server);
  await server.stop();
  // A connection that is cut would reject.
  await ended;
});

test('a stream whose first read fails frees its place', async () => {
  let isDown = false;
  const store = faultyStore(new MemoryStore(), ({ operation }) =>
    isDown && operation === 'logSize' ? { kind: 'fails' } : undefined,
  );
  const server = await start({ store, server: { limits: { streams: 1 } } });
  isDown = true;
  const authorization = `Bearer ${server.tokens['auditor:eve']}`;
  for (let n = 0; n < 3; n++) {
    const response = await fetch(`${server.url}/v1/events`, { headers: { authorization } }).catch(
      () => undefined,
    );
    await response?.text().catch(() => undefined);
    expect(response?.status).not.toBe(429);
  }
  isDown = false;
  const { leave } = await watch(server);
  await leave();
});
