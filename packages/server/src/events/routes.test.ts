import { connect, type Socket } from 'node:net';
import { MemoryStore } from '@assize/testing/memory';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import {
  AGENT,
  proposeAt,
  READER,
  serveDesk,
  tokenOf,
} from '../../../../tests/support/ledger/served-desk.ts';
import type { Serving } from '../serve.ts';

/** Other work may keep the machine busy. */
const PATIENCE = { timeout: 60_000 };

const STREAMS = 300;

let server: Serving;
let agent = '';
let reader = '';
let proposed = 0;

beforeAll(async () => {
  server = await serveDesk(new MemoryStore(), { streams: STREAMS });
  agent = await tokenOf(server, AGENT);
  reader = await tokenOf(server, READER);
});
afterAll(() => server.stop());

async function propose(count: number): Promise<void> {
  for (let n = 0; n < count; n++) {
    const order = { key: `key-${++proposed}`, action: 'keep', args: { value: proposed } };
    expect(await proposeAt(server, agent, order)).toMatchObject({ ruling: 'committed' });
  }
}

/** A connection of its own, with the text that came over it. */
function stream(
  query: string,
  headers: readonly string[] = [],
): { readonly socket: Socket; text: string } {
  const { port, host } = new URL(server.url);
  const socket = connect(Number(port), '127.0.0.1');
  const lines = [
    `GET /v1/events${query} HTTP/1.1`,
    `Host: ${host}`,
    `Authorization: Bearer ${reader}`,
    ...headers,
  ];
  socket.write(`${lines.join('\r\n')}\r\n\r\n`);
  onTestFinished(() => void socket.destroy());
  const heard = { socket, text: '' };
  socket.setEncoding('utf8').on('data', (piece: string) => (heard.text += piece));
  return heard;
}

function commitsIn({ text }: { readonly text: string }): number {
  return text.split('event: commit').length - 1;
}

/** The open streams, by the metric of operators. */
async function openStreams(): Promise<number> {
  const headers = { authorization: `Bearer ${reader}` };
  const text = await (await fetch(`${server.url}/metrics`, { headers })).text();
  return Number(/^assize_event_streams (\d+)$/m.exec(text)![1]);
}

test(`${STREAMS} streams have every commit, and one more is refused`, async () => {
  const streams = Array.from({ length: STREAMS }, () => stream(''));
  await vi.waitFor(
    () => expect(streams.filter(({ text }) => text.includes('event: ready'))).toHaveLength(STREAMS),
    PATIENCE,
  );
  const refused = stream('');
  await vi.waitFor(() => expect(refused.text).toContain('open event streams'), PATIENCE);
  await propose(5);
  await vi.waitFor(
    () => expect(streams.filter((one) => commitsIn(one) === 5)).toHaveLength(STREAMS),
    PATIENCE,
  );
  expect(await openStreams()).toBe(STREAMS);
  for (const { socket } of streams) socket.destroy();
  await vi.waitFor(async () => expect(await openStreams()).toBe(0), PATIENCE);
});

test('a stream continues after the last id, from the header or the query', async () => {
  await propose(3);
  const whole = stream('?last_event_id=-1');
  await vi.waitFor(() => expect(commitsIn(whole)).toBe(proposed), PATIENCE);
  const last = [...whole.text.matchAll(/^id: (\d+)$/gm)].at(-2)![1]!;
  const rest = stream('', [`Last-Event-ID: ${last}`]);
  await vi.waitFor(() => expect(commitsIn(rest)).toBe(1), PATIENCE);
});

test.each(['10000', 'abc', '-2'])('the last id %s of another log is refused', async (id) => {
  const refused = stream(`?last_event_id=${id}`);
  await vi.waitFor(() => expect(refused.text).toContain('"code":"invalid_request"'), PATIENCE);
  expect(await openStreams()).toBe(0);
});
