/** Results, streams, aborts and pauses of tools of Mastra behind the gate. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openShop } from '../../../tests/support/gated-shop.ts';
import { hasMastra, mastraPackages } from '../../../tests/support/mastra/packages.ts';
import { type AssizeSuspension, answerTo, gatedTools } from '../src/index.ts';
import { agentKind, named, pay, runOf, workflowKind } from './support/mastra-runs.ts';

interface Given {
  readonly writer: { write(part: unknown): Promise<void> };
  readonly abortSignal: AbortSignal;
  readonly agent: {
    readonly suspend: (payload: object) => Promise<void>;
    readonly resumeData?: { readonly account: string };
  };
}

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('parts that a tool writes are streamed while it runs', async () => {
    const end = Promise.withResolvers<void>();
    const it = await runOf(agentKind, {
      pays: async ({ to }, context) => {
        await (context as Given).writer.write({ paying: to });
        await end.promise;
        return { paid: to };
      },
    });
    it.asks([pay('c1', 'bob', 5)]);
    const types: string[] = [];
    for await (const { type } of (await it.agent.stream('go', {})).fullStream) {
      types.push(type);
      if (type === 'tool-output') end.resolve();
    }
    expect(types.filter((type) => type.startsWith('tool'))).toEqual([
      'tool-call',
      'tool-output',
      'tool-result',
    ]);
  });

  test('an aborted run leaves its call in doubt', async () => {
    const abort = new AbortController();
    const it = await runOf(agentKind, {
      pays: (_paid, context) =>
        new Promise((_resolve, reject) => {
          const { abortSignal } = context as Given;
          abortSignal.addEventListener('abort', () => reject(new Error('stopped')));
          abort.abort();
        }),
    });
    const { told } = await it.start([pay('c1', 'bob', 5)], { abortSignal: abort.signal });
    expect(told).toEqual([]);
    expect(it.made).toHaveLength(1);
    expect(await it.gate.port.outcomeOf(`${it.runId}.c1`)).toMatchObject({ outcome: 'unknown' });
  });

  test('a tool that suspends itself is reported, and not called again', async () => {
    const it = await runOf(agentKind, {
      pays: (_paid, context) => (context as Given).agent.suspend({ which: 'account' }),
    });
    const { told, pauses } = await it.start([pay('c1', 'bob', 5)]);
    expect(told).toMatchObject([{ error: expect.stringContaining('suspended itself') }]);
    expect(pauses).toEqual([]);
    expect(it.made).toHaveLength(1);
  });

  test('a tool that may be called again suspends itself, and gets its answer', async () => {
    const it = await runOf(agentKind, {
      ...named,
      idempotent: ['pay'],
      pays: ({ to }, context) => {
        const { suspend, resumeData } = (context as Given).agent;
        return resumeData === undefined
          ? suspend({ which: 'account' })
          : { paid: to, from: resumeData.account };
      },
    });
    expect((await it.start([pay('c1', 'bob', 5)])).pauses).toEqual([{ which: 'account' }]);
    const { told } = await it.resume({ account: 'A1' });
    expect(told).toMatchObject([{ result: { paid: 'bob', from: 'A1' } }]);
    expect(it.made).toHaveLength(2);
  });

  test('a result that cannot be kept is given once, and a repetition says so', async () => {
    const it = await runOf(workflowKind, { pays: () => ({ at: new Date(0) }) });
    expect((await it.start([pay('c1', 'bob', 5)])).told).toMatchObject([
      { result: { at: new Date(0) } },
    ]);
    const run = await it.mastra.getWorkflow('pays').createRun({ runId: it.runId });
    const { status, error } = await run.timeTravel({ step: 'pay' });
    expect([status, error?.message]).toEqual([
      'failed',
      expect.stringContaining('no plain data at /at'),
    ]);
    expect(it.made).toHaveLength(1);
  });

  test('of two steps side by side, each waits for its own approval', async () => {
    const { Mastra, LibSQLStore, createStep, createTool, createWorkflow } = mastraPackages();
    const shop = await openShop();
    const made: string[] = [];
    const schema = z.object({ to: z.string(), cents: z.number() });
    const tool = (id: string) =>
      createTool({
        ...{ id, description: 'Pays.', inputSchema: schema, outputSchema: z.any() },
        execute: async ({ to }: { to: string }) => {
          made.push(`${id} ${to}`);
          return { by: id };
        },
      });
    const tools = gatedTools(shop.gate, [tool('wire'), tool('card')], named);
    const pays = createWorkflow({ id: 'pays', inputSchema: schema, outputSchema: z.any() })
      .parallel(tools.map((each) => createStep(each)))
      .commit();
    const storage = new LibSQLStore({ id: 'state', url: `file:${shop.folder}/mastra.db` });
    const mastra = new Mastra({ workflows: { pays }, storage, logger: false });
    const run = await mastra.getWorkflow('pays').createRun();
    const first = await run.start({ inputData: { to: 'bob', cents: 500 } });
    const { wire, card } = first.suspendPayload as Record<string, AssizeSuspension>;
    const mixed = await run.resume({
      step: 'wire',
      resumeData: answerTo(card!, { decision: 'approve' }),
    });
    expect(mixed.status).toBe('suspended');
    expect(made).toEqual([]);
    await run.resume({ step: 'card', resumeData: answerTo(card!, { decision: 'approve' }) });
    expect(made).toEqual(['card bob']);
    const end = await run.resume({
      step: 'wire',
      resumeData: answerTo(wire!, { decision: 'approve' }),
    });
    expect(end).toMatchObject({
      status: 'success',
      result: { wire: { by: 'wire' }, card: { by: 'card' } },
    });
    expect(made).toEqual(['card bob', 'wire bob']);
  });
});
