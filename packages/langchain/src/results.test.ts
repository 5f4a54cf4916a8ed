/** Results of tools of LangChain: recorded, and given again as they were. */
import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { Command, Send } from '@langchain/langgraph';
import { describe, expect, test } from 'vitest';
import { agent, bareGraph, pay, runOf } from '../../../tests/support/langchain-runs.ts';
import { fromRecord, toRecord } from './results.ts';

const told = new ToolMessage({ content: 'paid', tool_call_id: 'c1', name: 'pay' });

test.each([
  ['a message', told],
  [
    'a message with all members',
    new ToolMessage({
      ...{
        content: [{ type: 'text', text: 'paid' }],
        tool_call_id: 'c1',
        name: 'pay',
        status: 'error',
        id: 'm1',
      },
      artifact: { seen: new Map([['a', new Set([1])]]), bytes: new Uint8Array([1, 2]) },
      metadata: { by: 'bank' },
    }),
  ],
  ['a command', new Command({ update: { messages: [told], paid: 5 }, goto: ['next'] })],
  [
    'a command to the parent',
    new Command({
      graph: Command.PARENT,
      goto: [new Send('n', { said: new HumanMessage('h') }), 'm'],
    }),
  ],
])('%s returns from the ledger as it was', async (_, result) => {
  const record = JSON.parse(JSON.stringify(await toRecord(result)));
  expect(await fromRecord(record)).toEqual(result);
});

const circle: Record<string, unknown> = {};
circle['circle'] = circle;

test.each([
  ['a function', () => 1],
  ['a date', new Date(0)],
  ['a big number', 1n],
  ['a circle', circle],
  ['half of a character', '\ud800'],
])('a result with %s is not kept', async (_, artifact) => {
  const record = await toRecord(new ToolMessage({ content: 'paid', tool_call_id: 'c1', artifact }));
  expect(await fromRecord(record)).toBeUndefined();
});

describe.each([
  ['an agent', agent],
  ['a graph with a ToolNode', bareGraph],
] as const)('%s', (_, make) => {
  test('a result that cannot be kept is given once, and a repetition says so', async () => {
    const artifact = new Date(0);
    const it = await runOf(make, {
      pays: () => new ToolMessage({ content: 'paid', tool_call_id: 'c1', artifact }),
    });
    expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject([
      { content: 'paid', artifact },
    ]);
    const again = await it.resume(undefined, await it.before('tools'));
    expect(again.told).toMatchObject([
      { status: 'error', content: expect.stringContaining('was not kept') },
    ]);
    expect(it.made).toHaveLength(1);
  });

  test('events of a tool are streamed while it runs', async () => {
    const end = Promise.withResolvers<void>();
    const it = await runOf(make, {
      pays: async ({ to }, config) => {
        (config as { writer: (event: unknown) => void }).writer({ paying: to });
        await end.promise;
        return 'paid';
      },
    });
    const seen: unknown[] = [];
    for await (const event of await it.stream([pay('c1', 'bob', 5)])) {
      seen.push(event);
      end.resolve();
    }
    expect(seen).toEqual([{ paying: 'bob' }]);
  });

  test('an aborted run ends, and its call is in doubt', async () => {
    const abort = new AbortController();
    const it = await runOf(make, {
      pays: (__, config) =>
        new Promise((_resolve, reject) => {
          const { signal } = config as { signal: AbortSignal };
          signal.addEventListener('abort', () => reject(signal.reason));
          abort.abort();
        }),
    });
    await expect(it.start([pay('c1', 'bob', 5)], undefined, abort.signal)).rejects.toThrow(
      /abort/i,
    );
    expect(await it.gate.port.outcomeOf('t1.c1')).toMatchObject({ outcome: 'unknown' });
  });
});
