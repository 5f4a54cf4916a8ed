/** Results and inputs of tools of the AI SDK: recorded, streamed, and given again as they were. */
import { dynamicTool, type ToolSet, tool } from 'ai';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  answering,
  generated,
  named,
  type Paid,
  pay,
  type RunOptions,
  runOf,
  streamedWay,
} from '../../../tests/support/ai-runs.ts';
import { assizeTools } from './index.ts';

const paidInput = z.object({ to: z.string(), cents: z.number() });

/** A tool that reports on its way. `isPlain`: by a function that returns the stream. */
const reporting =
  (isPlain: boolean): NonNullable<RunOptions['tools']> =>
  (made) => {
    async function* reports({ to }: Paid) {
      yield `paying ${to}`;
      made.push({ to, cents: 5 });
      yield `paid ${to}`;
    }
    return {
      pay: tool({
        inputSchema: paidInput,
        execute: isPlain ? (paid: Paid) => reports(paid) : reports,
      }),
    } as ToolSet;
  };

describe.each([
  ['generateText', generated],
  ['streamText', streamedWay],
] as const)('%s', (_, way) => {
  test('results that are not JSON are given again as they were', async () => {
    const result = { at: new Date(5), seen: new Map([['a', new Set([1n])]]), none: undefined };
    const it = await runOf(way, { pays: () => result });
    for (const run of [it, await it.copy()]) {
      const { parts } = await run.start([pay('c1', 'bob', 5)]);
      expect(parts.find(({ type }) => type === 'tool-result')?.output).toStrictEqual(result);
    }
    expect(it.made).toHaveLength(1);
  });

  test('a tool that returns nothing returns nothing again', async () => {
    const it = await runOf(way, { pays: () => undefined });
    const first = await it.start([pay('c1', 'bob', 5)]);
    expect((await it.start([pay('c1', 'bob', 5)])).told).toEqual(first.told);
    expect(it.made).toHaveLength(1);
  });

  test('a result that cannot be kept is given once, and a repetition says so', async () => {
    const it = await runOf(way, { pays: () => ({ run: () => 1 }) });
    const { parts } = await it.start([pay('c1', 'bob', 5)]);
    expect(parts.find(({ type }) => type === 'tool-result')).toBeDefined();
    expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject({
      c1: { type: 'error-text', value: expect.stringContaining('was not kept') },
    });
    expect(it.made).toHaveLength(1);
  });

  test('a dynamic tool and a tool without execute keep their way', async () => {
    const it = await runOf(way, {
      tools: (made) => ({
        pay: dynamicTool({
          inputSchema: paidInput,
          execute: async (paid) => {
            made.push(paid as Paid);
            return 'paid';
          },
        }),
        look: tool({ inputSchema: z.object({}), outputSchema: z.string() }),
      }),
    });
    const { told } = await it.start([pay('c1', 'bob', 5), { id: 'c2', name: 'look', args: {} }]);
    expect(told).toEqual({ c1: { type: 'text', value: 'paid' } });
    expect(it.made).toHaveLength(1);
  });

  test('a call is made with the arguments that a person has approved instead', async () => {
    const it = await runOf(way, named);
    const first = await it.start([pay('c1', 'bob', 500)]);
    const { port } = it.gate;
    const { ask } = port;
    // The console has amended the call.
    port.ask = async (call, options) => {
      const decision = await ask.call(port, call, options);
      return decision.kind === 'allowed'
        ? { ...decision, args: { to: 'bob', cents: 400 } }
        : decision;
    };
    expect((await it.resume(answering(first, true))).told).toMatchObject({
      c1: { value: 'paid bob' },
    });
    expect(it.made).toEqual([{ to: 'bob', cents: 400 }]);
  });

  test('arguments that a person has approved instead fit the schema of the tool', async () => {
    const it = await runOf(way, named);
    const first = await it.start([pay('c1', 'bob', 500)]);
    const { port } = it.gate;
    const { ask } = port;
    port.ask = async (call, options) => {
      const decision = await ask.call(port, call, options);
      return decision.kind === 'allowed' ? { ...decision, args: { to: 5 } } : decision;
    };
    expect((await it.resume(answering(first, true))).told).toMatchObject({
      c1: { type: 'error-text' },
    });
    expect(it.made).toEqual([]);
  });
});

test.each([
  ['an async generator', false, {}],
  ['a function that returns a stream, and is named', true, { streaming: ['pay'] }],
])('the reports of %s are streamed', async (_, isPlain, options) => {
  const it = await runOf(streamedWay, { ...options, tools: reporting(isPlain) });
  const outputs = async () =>
    (await it.start([pay('c1', 'bob', 5)])).parts
      .filter(({ type }) => type === 'tool-result')
      .map(({ output, preliminary = false }) => [output, preliminary]);
  expect(await outputs()).toEqual([
    ['paying bob', true],
    ['paid bob', true],
    ['paid bob', false],
  ]);
  expect(await outputs()).toEqual([
    ['paid bob', true],
    ['paid bob', false],
  ]);
  expect(it.made).toHaveLength(1);
});

test('of a stream that is not named, the last result is given', async () => {
  const it = await runOf(streamedWay, { tools: reporting(true) });
  expect((await it.start([pay('c1', 'bob', 5)])).told).toEqual({
    c1: { type: 'text', value: 'paid bob' },
  });
});

test('a reader that stops a streamed call leaves it in doubt', async () => {
  const stopped = Promise.withResolvers<void>();
  async function* execute({ to }: Paid) {
    yield `paying ${to}`;
    await stopped.promise;
    yield `paid ${to}`;
  }
  const it = await runOf(streamedWay, {
    tools: () => ({ pay: tool({ inputSchema: paidInput, execute }) }) as ToolSet,
  });
  const gated = it.tools['pay']!;
  const stream = gated.execute!({ to: 'bob', cents: 5 } as never, {
    toolCallId: 'c1',
    messages: [],
    context: {} as never,
  });
  for await (const _ of stream as AsyncIterable<unknown>) break;
  stopped.resolve();
  await expect.poll(() => it.gate.port.outcomeOf('r1.c1')).toMatchObject({ outcome: 'unknown' });
});

test('a tool that asks by itself is refused: the rules ask', async () => {
  const { gate } = await runOf(generated);
  for (const needsApproval of [true, () => true]) {
    const tools = { pay: tool({ inputSchema: paidInput, needsApproval, execute: () => 'paid' }) };
    expect(() => assizeTools(gate, tools, { run: 'r1' })).toThrow(
      expect.objectContaining({
        code: 'bad_argument',
        message: expect.stringContaining('Write a rule that asks, and remove it'),
      }),
    );
  }
});

test('a call without a run, or with an input that is not data, is not made', async () => {
  const it = await runOf(generated, { run: () => undefined });
  const call = { toolCallId: 'c1', messages: [], context: {} as never };
  const made = (input: unknown, run: typeof it) => run.tools['pay']!.execute!(input as never, call);
  await expect(made({ to: 'bob', cents: 5 }, it)).rejects.toMatchObject({
    code: 'no_identity',
    message: expect.stringContaining('Pass `run`'),
  });
  const other = await it.copy({ run: 'r1' });
  for (const input of ['bob', ['bob'], { to: () => 'bob' }, new Map()])
    await expect(made(input, other)).rejects.toMatchObject({
      code: 'not_json',
      message: expect.stringContaining('is not an object of plain data'),
    });
  expect(it.made).toEqual([]);
});
