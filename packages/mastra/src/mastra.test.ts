/** Tools in the form of Mastra behind the gate, without Mastra. */

import type { Gate } from '@assize/gate/internal/calls';
import { gateway } from '@assize/gate/internal/gateway';
import { createAssize } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { openShop, type Shop } from '../../../tests/support/gated-shop.ts';
import { decide } from '../tests/support/decide.ts';
import {
  type AssizeSuspension,
  answerTo,
  gatedTools,
  type MastraOptions,
  type ToolContext,
} from './index.ts';

const SCHEMA = z.object({
  to: z.string(),
  cents: z.number().default(500),
  on: z.coerce.date().optional(),
  memo: z.string().optional(),
});
type Paid = z.infer<typeof SCHEMA>;

/** A tool as `createTool` makes it: an object of a class, with its members. */
class PayTool {
  readonly id = 'pay';
  readonly inputSchema: z.ZodType;
  readonly resumeSchema = z.object({ account: z.string() });
  readonly made: {
    readonly paid: Paid;
    readonly context: ToolContext;
    readonly given: ToolContext;
  }[] = [];
  result: (paid: Paid, context: ToolContext) => unknown = ({ to }) => ({ paid: to });

  constructor(inputSchema: z.ZodType = SCHEMA) {
    this.inputSchema = inputSchema;
  }

  readonly execute = async (paid: Paid, context: ToolContext): Promise<unknown> => {
    this.made.push({ paid, context: { ...context }, given: context });
    return this.result(paid, context);
  };
}

interface Place {
  readonly gate: Gate;
  readonly tool: PayTool;
  readonly pauses: AssizeSuspension[];
  readonly contexts: ToolContext[];
  /** Calls the tool as an agent does. */
  call(input: unknown, more?: { id?: string; answer?: unknown; kept?: unknown }): Promise<unknown>;
}

function place(
  { gate }: Pick<Shop, 'gate'>,
  options: MastraOptions = {},
  tool: PayTool = new PayTool(),
): Place {
  const { pay } = gatedTools(gate, { pay: tool }, options);
  const pauses: AssizeSuspension[] = [];
  const contexts: ToolContext[] = [];
  const suspend = async (payload: unknown): Promise<void> => {
    pauses.push(payload as AssizeSuspension);
  };
  const call: Place['call'] = (input, { id = 'c1', answer, kept } = {}) => {
    const agent = { toolCallId: id, suspend, resumeData: answer, suspendPayload: kept };
    const context = { runId: 'r1', agent };
    contexts.push(context);
    return pay.execute(input as Paid, context);
  };
  return { gate, tool, pauses, contexts, call };
}

describe('a tool', () => {
  test('keeps its class and its members, and tells the form of an answer', async () => {
    const { gate } = await openShop();
    const tool = new PayTool();
    const [listed] = gatedTools(gate, [tool]);
    expect(listed).toBeInstanceOf(PayTool);
    expect(Object.keys(listed)).toEqual(expect.arrayContaining(['id', 'inputSchema', 'execute']));
    expect(tool.resumeSchema).not.toBe(listed.resumeSchema);
    const told = (
      listed.resumeSchema as never as { '~standard': { jsonSchema: { input(): object } } }
    )['~standard'];
    expect(told.jsonSchema.input()).toMatchObject({ required: ['decision', 'assize'] });
    // A form of pauses makes Mastra call a tool after its siblings.
    expect(listed).not.toHaveProperty('suspendSchema');
    const own = Object.assign(new PayTool(), { suspendSchema: z.object({ which: z.string() }) });
    const { pay } = gatedTools(gate, { pay: own });
    expect(pay.suspendSchema['~standard'].validate({ tool: 'pay' })).toEqual({
      value: { tool: 'pay' },
    });
  });

  test('of a client is not one of the gate', async () => {
    const { gate } = await openShop();
    expect(() => gatedTools(gate, [{ id: 'look' }])).toThrow(/createTool/);
    expect(() => gatedTools(gate, { look: { execute: async () => 1 } as never })).toThrow(
      /createTool/,
    );
  });
});

describe('a call', () => {
  test('gets the context as it was, without the answer to the gate', async () => {
    const it = place(await openShop(), { approver: () => 'manager:grace' });
    await it.call({ to: 'bob', cents: 500 });
    const [kept] = it.pauses;
    const answer = answerTo(kept!, { decision: 'approve' });
    expect(await it.call({ to: 'bob', cents: 500 }, { answer, kept })).toEqual({ paid: 'bob' });
    expect(it.tool.made).toMatchObject([
      { paid: { to: 'bob' }, context: { runId: 'r1', agent: { toolCallId: 'c1' } } },
    ]);
    const { agent } = it.tool.made[0]!.context;
    expect([agent?.resumeData, agent?.suspendPayload]).toEqual([undefined, undefined]);
    // Mastra knows by the object that it has checked the input.
    expect(it.tool.made[0]!.given).toBe(it.contexts[1]);
  });

  test('is not approved by an answer to a pause that Mastra has not kept', async () => {
    const it = place(await openShop(), { approver: () => 'manager:grace' });
    await it.call({ to: 'bob', cents: 500 });
    const answer = answerTo(it.pauses[0]!, { decision: 'approve' });
    const other = {
      ...it.pauses[0]!,
      assize: { ...it.pauses[0]!.assize, approval: 'f'.repeat(64) },
    };
    for (const kept of [undefined, null, { which: 'account' }, other])
      expect(await it.call({ to: 'bob', cents: 500 }, { answer, kept })).toBeUndefined();
    expect([it.pauses.length, it.tool.made.length]).toEqual([5, 0]);
  });

  test('of a resumed run is the one with the defaults of the schema', async () => {
    const it = place(await openShop());
    // Mastra checks the input at first, and passes the model's own after a resume.
    const on = '2026-05-01T00:00:00.000Z';
    await it.call({ to: 'bob', cents: 500, on: new Date(on) });
    const [kept] = it.pauses;
    expect(kept?.args).toEqual({ to: 'bob', cents: 500, on });
    await decide(it.gate, kept!, 'approve');
    expect(await it.call({ to: 'bob', on }, { answer: {}, kept })).toEqual({ paid: 'bob' });
    expect(it.tool.made).toMatchObject([{ paid: { to: 'bob', cents: 500 } }]);
  });

  test('of a resumed run is the same with a null in place of an absent member', async () => {
    const it = place(await openShop());
    await it.call({ to: 'bob', cents: 500 });
    const [kept] = it.pauses;
    await decide(it.gate, kept!, 'approve');
    expect(await it.call({ to: 'bob', memo: null }, { answer: {}, kept })).toEqual({ paid: 'bob' });
  });

  test('of a resumed run that was checked already is not changed again', async () => {
    const schema = z.object({ to: z.string().transform((to) => `${to}!`), cents: z.number() });
    const it = place(await openShop(), {}, new PayTool(schema));
    await it.call({ to: 'bob!', cents: 500 });
    const [kept] = it.pauses;
    await decide(it.gate, kept!, 'approve');
    expect(await it.call({ to: 'bob!', cents: 500 }, { answer: {}, kept })).toEqual({
      paid: 'bob!',
    });
  });

  test('that suspends itself and may be made again gets its own answer', async () => {
    const it = place(await openShop(), { idempotent: ['pay'] });
    it.tool.result = async ({ to }, { agent }) => {
      if (agent?.resumeData !== undefined) return { paid: to, from: agent.resumeData };
      await agent?.suspend?.({ which: 'account' });
      return undefined;
    };
    expect(await it.call({ to: 'bob', cents: 5 })).toBeUndefined();
    expect(it.pauses).toEqual([{ which: 'account' }]);
    const resumed = { answer: { account: 'A1' }, kept: it.pauses[0] };
    const paid = { paid: 'bob', from: { account: 'A1' } };
    expect(await it.call({ to: 'bob', cents: 5 }, resumed)).toEqual(paid);
    expect(await it.call({ to: 'bob', cents: 5 }, resumed)).toEqual(paid);
    expect(it.tool.made).toHaveLength(2);
  });

  test('of a resumed run with other arguments is refused', async () => {
    const it = place(await openShop());
    await it.call({ to: 'bob', cents: 500 });
    const [kept] = it.pauses;
    await decide(it.gate, kept!, 'approve');
    // Also if the kept pause was changed alike.
    for (const args of [kept!.args, { to: 'bob', cents: 900 }])
      await expect(
        it.call({ to: 'bob', cents: 900 }, { answer: {}, kept: { ...kept, args } }),
      ).rejects.toThrow(/other arguments/);
    expect(it.tool.made).toEqual([]);
  });

  test('is made with the arguments that a person has approved instead', async () => {
    const shop = await openShop();
    const it = place(shop);
    await it.call({ to: 'bob', cents: 500 });
    const [kept] = it.pauses;
    await amend(shop, kept!, { to: 'bob', cents: 400 });
    expect(await it.call({ to: 'bob', cents: 500 }, { answer: {}, kept })).toEqual({ paid: 'bob' });
    expect(it.tool.made).toMatchObject([{ paid: { to: 'bob', cents: 400 } }]);
    // Mastra has not checked this input.
    expect(it.tool.made[0]!.given).not.toBe(it.contexts[1]);
  });

  test('that is repeated gets an equal result, also none and of any form', async () => {
    const shop = await openShop();
    const results = [undefined, null, 'text', 0, [], { unkept: '/', value: [1, { a: null }] }];
    for (const [at, result] of results.entries()) {
      const it = place(shop);
      it.tool.result = () => result;
      const id = `c${at}`;
      expect(await it.call({ to: 'bob', cents: 5 }, { id })).toEqual(result);
      const again = place({ gate: await shop.open() }, {}, it.tool);
      expect(await again.call({ to: 'bob', cents: 5 }, { id })).toEqual(result);
      expect(it.tool.made).toHaveLength(1);
    }
  });

  test.each([
    ['a function', () => 1],
    ['a date', new Date(0)],
    ['a big number', 1n],
    ['an object of a class', new PayTool()],
    ['half of a character', '\ud800'],
    ['a hole', [undefined]],
  ])('with %s in its result is given once, and then not kept', async (_, member) => {
    const it = place(await openShop());
    it.tool.result = () => ({ member });
    expect(await it.call({ to: 'bob', cents: 5 })).toEqual({ member });
    await expect(it.call({ to: 'bob', cents: 5 })).rejects.toMatchObject({
      code: 'not_json',
      message: expect.stringContaining('was made, and'),
    });
    expect(it.tool.made).toHaveLength(1);
  });

  test('with an input that is not JSON is not asked about', async () => {
    const it = place(await openShop());
    await expect(it.call({ to: 'bob', cents: 5n })).rejects.toMatchObject({
      ...{
        code: 'not_json',
        message: expect.stringContaining('cannot be judged'),
        evidence: { tool: 'pay', at: '/cents' },
      },
    });
    expect(it.pauses).toEqual([]);
  });

  test('that does not fit its schema has failed, in the form of Mastra', async () => {
    const it = place(await openShop());
    const misfit = {
      error: true,
      message: 'no such bank',
      validationErrors: { errors: [], fields: {} },
    };
    it.tool.result = () => misfit;
    expect(await it.call({ to: 'bob', cents: 5 })).toEqual(misfit);
    expect(await it.gate.port.outcomeOf('r1.c1')).toMatchObject({ outcome: 'failed' });
    await expect(it.call({ to: 'bob', cents: 5 })).rejects.toThrow(/no such bank/);
  });

  test('without a run, an id or a way to pause is an error', async () => {
    const { gate } = await openShop();
    const tool = new PayTool();
    const { pay } = gatedTools(gate, { pay: tool });
    const input = { to: 'bob', cents: 500 };
    for (const context of [
      {},
      { agent: { toolCallId: 'c1' } },
      { runId: 'r1', agent: {} },
      { workflow: {} },
    ])
      await expect(pay.execute(input, context)).rejects.toMatchObject({
        code: 'no_identity',
        message: expect.stringMatching(
          /Invoke the tool with a tool call|Invoke it with a tool call|Call it in an agent or a workflow, or pass/,
        ),
      });
    await expect(pay.execute(input, { workflow: { runId: 'r1' } })).rejects.toMatchObject({
      code: 'cannot_pause',
      message: expect.stringContaining('workflow'),
    });
    const identity = () => ({ run: 'by-hand', id: 'c9' });
    const given = gatedTools(gate, { pay: tool }, { identity }).pay;
    expect(await given.execute({ to: 'bob', cents: 5 }, {})).toEqual({ paid: 'bob' });
    expect(await gate.port.outcomeOf('by-hand.c9')).toMatchObject({ outcome: 'done' });
  });

  test('of an aborted run is not asked about', async () => {
    const { gate } = await openShop();
    const tool = new PayTool();
    const { pay } = gatedTools(gate, { pay: tool });
    const context = { runId: 'r1', agent: { toolCallId: 'c1' }, abortSignal: AbortSignal.abort() };
    await expect(pay.execute({ to: 'bob', cents: 5 }, context)).rejects.toThrow(/abort/i);
    expect(tool.made).toEqual([]);
  });
});

/** Approves a suspended call with other arguments, as the console does. */
async function amend({ store }: Shop, { assize }: AssizeSuspension, args: object): Promise<void> {
  const world = await createAssize({
    store,
    domain: gateway({}) as unknown as Domain,
    name: 'calls',
    env: {},
  });
  try {
    const proposed = {
      id: assize.call,
      session: 'r1',
      server: 'shop',
      tool: 'pay',
      args,
      once: true,
    };
    const by = { principal: 'manager:grace', method: 'test' };
    await world.trajectory.approvals.approve(assize.approval, { ...by, args: proposed } as never);
  } finally {
    await world.close();
  }
}
