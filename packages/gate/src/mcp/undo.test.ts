import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  connected,
  gatewayBefore,
  served,
  type Wrap,
} from '../../../../tests/support/mcp/served-gateway.ts';
import { undoCall, undoRun } from './index.ts';

const RULES = `
id: notes
trust: [notes]
default: allow
tools:
  notes/add: { class: reversible, undo: { tool: notes/remove, args: { id: /result/structuredContent/id, was: /args/text } } }
rules:
  - { id: careful, ask: notes/remove, where: [{ path: /was, is: held }] }
`;

/** Notes with numbers. A note that is not there cannot be removed. */
function notes(kept: Map<number, string>, removed: number[]) {
  return (transport: never) =>
    serveStdio(
      () => {
        const server = new McpServer({ name: 'notes', version: '1' });
        const outputSchema = z.object({ id: z.number() });
        server.registerTool(
          'add',
          { inputSchema: z.object({ text: z.string() }), outputSchema },
          async ({ text }) => {
            kept.set(kept.size + 1, text);
            return { content: [], structuredContent: { id: kept.size } };
          },
        );
        const inputSchema = z.object({ id: z.number(), was: z.string() });
        server.registerTool('remove', { inputSchema }, async ({ id }) => {
          removed.push(id);
          return { content: [], isError: !kept.delete(id) };
        });
        return server;
      },
      { transport },
    );
}

async function stage() {
  const place = await served(RULES);
  const [kept, removed] = [new Map<number, string>(), [] as number[]];
  const { client, gateway, close } = await connected(place, notes(kept, removed) as never);
  const add = async (text: string): Promise<string> =>
    (await client.callTool({ name: 'add', arguments: { text } }))._meta?.['assize/call'] as string;
  const undo = async (call: string, server = 'notes') =>
    undoCall(gateway, { call, server, signal: new AbortController().signal });
  return { place, kept, removed, client, add, undo, close };
}

test('a call is undone once, and the ledger links both', async () => {
  const { place, kept, removed, add, undo, close } = await stage();
  const call = await add('one');
  const ends = await Promise.all([undo(call), undo(call)]);
  expect(ends.filter(({ isUndone }) => isUndone)).toHaveLength(1);
  expect((await undo(call)).text).toContain('undone by');
  await close();
  expect([[...kept], removed]).toEqual([[], [1]]);
  const { calls } = await place.state();
  expect(calls[calls[call].undoneBy]).toMatchObject({ undoes: call, outcome: 'done' });
});

test('an undoing is judged, and one that fails can be tried again', async () => {
  const { place, kept, removed, add, undo, close } = await stage();
  const call = await add('held');
  expect((await undo(call)).text).toContain('waits for approval');
  await place.approve((await place.approvals())[0].id);
  kept.delete(1);
  expect((await undo(call)).text).toContain('answered with an error');
  expect((await undo(call)).text).toContain('waits for approval');
  await close();
  expect(removed).toEqual([1]);
});

test('nothing is undone that the rules, the agent or the ledger do not name', async () => {
  const { removed, client, add, undo, close } = await stage();
  const call = await add('one');
  expect((await undo(call, 'other')).text).toContain('pass --name notes');
  await expect(undo('none')).rejects.toThrow('has made no call none');
  await client.callTool({ name: 'remove', arguments: { id: 9, was: 'x' } });
  const other: any = await client.callTool({ name: 'remove', arguments: { id: 1, was: 'x' } });
  await expect(undo(other._meta['assize/call'])).rejects.toThrow(
    'the rules have no undo of notes/remove',
  );
  await close();
  expect(removed).toEqual([9, 1]);
});

test('a call that a person settled has no result to undo it with', async () => {
  const place = await served(RULES);
  const lost: Wrap = (ask) => async (path, init) => {
    if (String(init.body ?? '').includes('"action":"report"')) throw new TypeError('fetch failed');
    return ask(path, init);
  };
  const serve = notes(new Map(), []);
  const { client, gateway, close } = await connected(place, serve as never, { wrap: lost });
  const { _meta } = await client.callTool({ name: 'add', arguments: { text: 'one' } });
  const call = _meta?.['assize/call'] as string;
  const unknown = {
    action: 'report',
    role: { name: 'agent', params: { agent: 'ada' } },
    args: { call, outcome: 'unknown' },
  };
  const report = { token: place.tokens['agent:ada'], body: unknown, key: 'unknown' };
  await place.server.ask('POST', '/v1/trajectories/calls/proposals', report);
  const body = { outcome: 'done', evidence: 'seen' };
  const token = place.tokens['manager:grace'];
  await place.server.ask('POST', `/v1/trajectories/calls/calls/${call}/settle`, {
    token,
    body,
  } as never);
  const undone = undoCall(gateway, { call, server: 'notes', signal: new AbortController().signal });
  await expect(undone).rejects.toThrow('was settled by hand');
  await close();
});

const TURNS = `${RULES}turns:
  - { id: one, tools: notes/* }
`;

test('a connection holds its turn until its client leaves', async () => {
  const place = await served(TURNS);
  const serve = notes(new Map(), []) as never;
  const [first, second] = [
    await connected(place, serve, { run: 'first' }),
    await connected(place, serve, { run: 'second' }),
  ];
  const add = async ({ client }: typeof first): Promise<any> =>
    client.callTool({ name: 'add', arguments: { text: 'one' } });
  expect((await add(first)).isError).not.toBe(true);
  const waits = await add(second);
  expect(waits.isError).toBe(true);
  expect(waits.content[0].text).toContain('the run first holds the turn until it ends');
  await first.close();
  expect((await add(second)).isError).not.toBe(true);
  await second.close();
});

test('a run is taken back, the newest call first, and what stays is named', async () => {
  const place = await served(TURNS);
  const [kept, removed] = [new Map<number, string>(), [] as number[]];
  const serve = notes(kept, removed) as never;
  const { client, close } = await connected(place, serve, { run: 'first' });
  for (const text of ['one', 'two', 'held'])
    await client.callTool({ name: 'add', arguments: { text } });
  await close();
  const gateway = gatewayBefore(place, serve, { run: 'first' });
  const given = { server: 'notes', signal: new AbortController().signal };
  const { isUndone, text } = await undoRun(gateway, given);
  expect([isUndone, removed, [...kept.values()]]).toEqual([false, [2, 1], ['held']]);
  expect(text.split('\n')).toHaveLength(3);
  expect(text).toContain('Not undone: The call waits for approval');
  const other = await connected(place, serve, { run: 'first' });
  const late: any = await other.client.callTool({ name: 'add', arguments: { text: 'late' } });
  expect(late.isError).toBe(true);
  await other.close();
});
