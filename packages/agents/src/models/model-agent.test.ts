import { MemoryStore } from '@assize/testing/internal/memory';
import { MockLanguageModelV4 } from 'ai/test';
import { defineDomain, escalate, pass, reject } from 'assize/internal/kernel';
import { createOracle, seededRandom } from 'assize/internal/oracle';
import { afterEach, expect, test } from 'vitest';
import { z } from 'zod';
import { type Agent, type RunOptions, replayRun, runAgents } from '#agents';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import {
  completion,
  message,
  STUB_KEY,
  StubProvider,
  type StubReply,
} from '../../../../tests/support/models/stub-provider.ts';
import { aiSdk, anthropic, type ChatModel, modelAgent, openAiCompatible } from './index.ts';

const claims = defineDomain({
  name: 'claims',
  version: '1',
  state: z.object({ paid: z.record(z.string(), z.int()), approved: z.boolean() }),
  initial: { paid: {}, approved: false },
  processes: { paying: { reads: ['/approved'], writes: ['/paid/*'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      description: 'Pays a claim.',
      args: z.strictObject({ id: z.string(), cents: z.int() }),
      apply: (state, { id, cents }) => {
        state.paid[id] = cents;
      },
    },
    'pay.one': {
      process: 'paying',
      args: z.string(),
      apply: (state, id) => {
        state.paid[id] = 1;
      },
    },
  },
  counselors: { manager: (principal) => principal.startsWith('manager:') },
  invariants: ({ each, invariant }) => [
    each('CAP', '/paid/*', {}, (cents) =>
      cents <= 1_000 ? pass : reject(`${cents} is over 1000`),
    ),
    invariant(
      'LARGE',
      ['/paid/*', '/approved'],
      ({ paid, approved }) =>
        approved || Object.values(paid).every((cents) => cents <= 500) ? pass : escalate('a lot'),
      {
        channel: 'manager',
        onApprove: (state) => {
          state.approved = true;
        },
      },
    ),
  ],
});

let stub: StubProvider | undefined;
afterEach(() => stub?.close());

async function provider(
  replies: readonly StubReply[],
  protocol: 'openai' | 'anthropic' = 'openai',
): Promise<ChatModel> {
  stub = await StubProvider.listen(protocol, replies);
  const options = { model: 'stub', apiKey: STUB_KEY, pause: async () => undefined };
  return protocol === 'openai'
    ? openAiCompatible({ ...options, baseUrl: `${stub.origin}/v1` })
    : anthropic({ ...options, baseUrl: stub.origin });
}

async function desk(options: Partial<RunOptions> = {}) {
  const [store, clock] = [new MemoryStore(), new HandClock()];
  const assize = runtimeOver(store, [claims], { ports: { clock }, oracle: store });
  const trajectory = await assize.create(claims, { trajectoryId: 't' });
  const outside = {
    oracle: createOracle({ store, clock, mode: 'record' }),
    clock,
    random: seededRandom('run'),
  };
  const run = (agent: Agent) => runAgents(trajectory, [agent], { ...outside, ...options });
  const replay = (agent: Agent) =>
    replayRun({ store, oracleStore: store, trajectoryId: 't' }, claims, [agent], {
      anchors: [operator.publicKey],
    });
  return { store, trajectory, run, replay };
}

const agentOf = (model: ChatModel, rest: object = {}): Agent =>
  modelAgent({
    name: 'ada',
    role: { name: 'clerk', params: {} },
    writ: writFor('ada'),
    domain: claims,
    instructions: 'Pay the claims.',
    model,
    ...rest,
  });

/** The JSON of the last user text of a request. */
const viewIn = (at: number): any => {
  const { body } = stub!.requests.at(at)!;
  const { content } = body.messages.at(-1);
  return JSON.parse(/\{[\s\S]*\n\}/.exec(content)![0]);
};

const DONE: StubReply = completion([['done', {}]]);
const pay = (id: string, cents: unknown): readonly [string, unknown] => ['pay', { id, cents }];

test.each(['openai', 'anthropic'] as const)(
  '%s: a run is replayed to the same head without a network',
  async (kind) => {
    const say = kind === 'openai' ? completion : message;
    const { run, replay, trajectory } = await desk();
    const model = await provider(
      [say([pay('c1', 3)]), say([['pay_one', { value: 'c2' }]]), say([['done', {}]])],
      kind,
    );
    expect(await run(agentOf(model))).toMatchObject({ ended: 'done', turns: 3 });
    expect(trajectory.state()).toMatchObject({ paid: { c1: 3, c2: 1 } });
    await stub!.close();
    expect(await replay(agentOf(model))).toMatchObject({
      same: true,
      turns: 3,
      headId: trajectory.head,
    });
  },
);

test('a refused model learns why, as data, with the place in its arguments', async () => {
  const { run, replay, trajectory } = await desk();
  const model = await provider([
    completion([pay('c1', 'ten')]),
    completion([pay('c1', 2_000)]),
    completion([pay('c1', 10)]),
    DONE,
  ]);
  await run(agentOf(model));
  expect(viewIn(0)).toEqual({
    role: { name: 'clerk', params: {} },
    state: { approved: false, paid: {} },
    last_proposal: null,
  });
  expect(viewIn(1).last_proposal).toMatchObject({
    action: 'pay',
    args: { id: 'c1', cents: 'ten' },
    ruling: 'rejected',
    reason: 'type_mismatch',
    findings: [{ pointer: '/cents', message: expect.stringContaining('number') }],
  });
  expect(viewIn(2).last_proposal).toEqual({
    action: 'pay',
    args: { id: 'c1', cents: 2_000 },
    ruling: 'rejected',
    reason: 'invariant_rejected',
    rule: 'CAP',
    detail: expect.stringContaining('2000 is over 1000'),
  });
  expect(viewIn(3).last_proposal).toEqual({
    action: 'pay',
    args: { id: 'c1', cents: 10 },
    ruling: 'committed',
  });
  await stub!.close();
  expect(await replay(agentOf(model))).toMatchObject({ same: true, headId: trajectory.head });
});

test('an escalated model learns so; a frozen one goes on after the decision', async () => {
  const { run, replay, trajectory } = await desk({ counsel: () => ({ do: 'later' }) });
  const model = await provider([completion([pay('c1', 600)]), completion([pay('c1', 1)])]);
  expect((await run(agentOf(model))).ended).toBe('pending');
  expect(viewIn(1).last_proposal).toMatchObject({
    action: 'pay',
    args: { id: 'c1', cents: 600 },
    ruling: 'escalated',
    rule: 'LARGE',
    channel: 'manager',
  });
  const [{ id } = { id: '' }] = trajectory.approvals.pending();
  await trajectory.approvals.reject(id, {
    principal: 'manager:grace',
    method: 'desk',
    reason: 'no receipt',
  });
  stub!.add(DONE);
  expect((await run(agentOf(model))).ended).toBe('done');
  expect(viewIn(2).last_proposal).toMatchObject({
    ruling: 'committed',
    args: { id: 'c1', cents: 1 },
  });
  await stub!.close();
  expect(await replay(agentOf(model))).toMatchObject({ same: true, headId: trajectory.head });
});

test('the end of an approval reaches the model in its next turn', async () => {
  const counsel = () => ({
    do: 'reject' as const,
    principal: 'manager:grace',
    method: 'desk',
    reason: 'no receipt',
  });
  const { run } = await desk({ counsel });
  await run(agentOf(await provider([completion([pay('c1', 600)]), DONE])));
  expect(viewIn(1).last_proposal).toMatchObject({
    ruling: 'rejected',
    reason: 'counselor_rejected',
    detail: 'no receipt',
  });
});

test.each<[string, StubReply, string]>([
  [
    'an unknown action',
    completion([['steal', {}]]),
    'there is no \\"steal\\"; call one of pay, pay_one, wait, done',
  ],
  ['several calls', completion([pay('c1', 1), pay('c2', 1)]), 'the answer has 2 calls'],
  ['no call', completion('I would rather not.'), 'the answer has no tool call'],
  [
    'two objects',
    completion('{"action":"wait"} or {"action":"done"}'),
    'the answer has no tool call',
  ],
  ['broken arguments', completion([['pay', '{"id":']]), 'the arguments of pay are not JSON'],
])('after %s the model is asked again with the fault', async (_, reply, fault) => {
  const { run, replay, trajectory } = await desk();
  const model = await provider([reply, completion([pay('c1', 1)]), DONE]);
  expect((await run(agentOf(model))).turns).toBe(2);
  const { messages } = stub!.requests[1]!.body;
  expect(messages.map(({ role }: any) => role)).toEqual(['system', 'user', 'assistant', 'user']);
  expect(JSON.stringify(messages.at(-1))).toContain(fault);
  expect(trajectory.state()).toMatchObject({ paid: { c1: 1 } });
  await stub!.close();
  expect(await replay(agentOf(model))).toMatchObject({ same: true });
});

test.each<[string, StubReply, string, number, string]>([
  ['unknown actions', completion([['steal', {}]]), 'bad_answer', 2, 'there is no "steal"'],
  ['several calls', completion([pay('a', 1), pay('b', 1)]), 'bad_answer', 2, 'make exactly one'],
  ['only words', completion('Hello.'), 'bad_answer', 2, 'has no tool call'],
  ['broken arguments', completion([['pay', '{']]), 'bad_answer', 2, 'are not JSON'],
  ['a cut answer', completion('I wo', 'length'), 'token_limit', 1, 'is cut'],
  ['a filter', completion('', 'content_filter'), 'content_filtered', 1, 'declined'],
])(
  '%s end the run with a code, and the next run asks again',
  async (_, reply, code, requests, part) => {
    const { run, replay, trajectory } = await desk();
    const model = await provider(Array.from({ length: requests }, () => reply));
    const agent = agentOf(model, { attempts: 2 });
    await expect(run(agent)).rejects.toMatchObject({
      code,
      message: expect.stringContaining(part),
      evidence: { agent: 'ada' },
    });
    expect([stub!.requests.length, trajectory.length]).toEqual([requests, 1]);
    stub!.add(completion([pay('c1', 1)]), DONE);
    expect(await run(agent)).toMatchObject({ ended: 'done' });
    await stub!.close();
    expect(await replay(agent)).toMatchObject({ same: true, headId: trajectory.head });
  },
);

test.each<[string, string]>([
  ['alone', '{"action":"pay","args":{"id":"c1","cents":7}}'],
  [
    'after reasoning',
    '<think>{"action":"done"}? No.</think>\n{"action":"pay","args":{"id":"c1","cents":7}}',
  ],
  [
    'after reasoning without a start',
    'Maybe {"action":"done"}.</think>{"action":"pay","args":{"id":"c1","cents":7}}',
  ],
  ['in sentences', 'I decide:\n{"name":"pay","arguments":{"id":"c1","cents":7}}\nThat is all.'],
  ['in a fence', 'Here:\n```json\n{"tool":"pay","input":{"id":"c1","cents":7}}\n```\nDone.'],
])('a decision as JSON in text is read %s', async (_, text) => {
  const { run, trajectory } = await desk();
  await run(agentOf(await provider([completion(text), DONE])));
  expect(trajectory.state()).toMatchObject({ paid: { c1: 7 } });
});

test('a failing provider ends the run; the next run goes on where it ended', async () => {
  const { run, trajectory } = await desk();
  const model = await provider([
    completion([pay('c1', 1)]),
    { status: 400, body: { error: { message: 'too long' } } },
  ]);
  await expect(run(agentOf(model))).rejects.toMatchObject({ code: 'request_refused' });
  stub!.add(completion([pay('c2', 2)]), DONE);
  expect((await run(agentOf(model))).ended).toBe('done');
  expect([trajectory.state(), stub!.requests.length]).toEqual([
    { paid: { c1: 1, c2: 2 }, approved: false },
    4,
  ]);
});

test('no entry and no row of the log contains the key', async () => {
  const { run, store } = await desk();
  await run(agentOf(await provider([completion([pay('c1', 1)]), DONE])));
  const entries = await store.entries('t', { limit: 100 });
  const keys = [...JSON.stringify(entries).matchAll(/"oracle_key\\?":\\?"([0-9a-f]{64})/g)].map(
    ([, key]) => key as string,
  );
  const rows = await Promise.all(keys.map((key) => store.oracleGet(key)));
  expect(rows.length).toBeGreaterThan(1);
  expect(JSON.stringify([entries, rows])).not.toMatch(/4711|abcdef/);
});

test('an abort ends a question in progress, and nothing is recorded', async () => {
  const { run, trajectory } = await desk();
  const ending = new AbortController();
  const model: ChatModel = {
    id: 'slow',
    ask: (_, signal) =>
      new Promise((_resolve, fail) => {
        signal!.addEventListener('abort', () => fail(signal!.reason));
        ending.abort(new Error('stopped'));
      }),
  };
  await expect(run(agentOf(model, { signal: ending.signal }))).rejects.toThrow('stopped');
  expect(trajectory.length).toBe(1);
});

test('any language model of the AI SDK decides, and its run is replayed', async () => {
  const { run, replay, trajectory } = await desk();
  const usage = { inputTokens: { total: 5 }, outputTokens: { total: 2 } } as any;
  const call = (toolName: string, input: string): any => ({
    type: 'tool-call',
    toolCallId: 'x',
    toolName,
    input,
  });
  const said = (content: any[]): any => ({
    content,
    finishReason: { unified: 'tool-calls', raw: 'x' },
    usage,
    warnings: [],
  });
  const mock = new MockLanguageModelV4({
    doGenerate: [
      said([call('pay', '{"id":"c1","cents":4}')]),
      said([{ type: 'text', text: '{"action":"done"}' }]),
    ],
  });
  const agent = agentOf(aiSdk(mock), { temperature: 0, maxTokens: 50 });
  expect((await run(agent)).ended).toBe('done');
  const [options] = mock.doGenerateCalls;
  expect(options).toMatchObject({
    temperature: 0,
    maxOutputTokens: 50,
    toolChoice: { type: 'required' },
  });
  expect(options!.tools!.map(({ name }) => name)).toEqual(['pay', 'pay_one', 'wait', 'done']);
  expect(await replay(agentOf(aiSdk(new MockLanguageModelV4())))).toMatchObject({
    same: false,
    firstDifference: { kind: 'oracle_miss' },
  });
  const silent = agentOf(aiSdk(new MockLanguageModelV4()), { temperature: 0, maxTokens: 50 });
  expect(await replay(silent)).toMatchObject({ same: true, headId: trajectory.head });
});

test.each<[string, object]>([
  ['a role that the domain lacks', { role: { name: 'queen', params: {} } }],
  ['an action of no role', { actions: ['pay', 'steal'] }],
  ['no attempts', { attempts: 0 }],
  ['too many attempts', { attempts: 11 }],
])('%s is refused immediately', (_, wrong) => {
  const model: ChatModel = { id: 'x', ask: () => Promise.reject(new Error('asked')) };
  expect(() => agentOf(model, wrong)).toThrow(
    expect.objectContaining({
      code: 'bad_argument',
      message: expect.stringContaining('is not valid'),
    }),
  );
});

test('a subset of the actions becomes tools', async () => {
  const { run } = await desk();
  await run(agentOf(await provider([DONE]), { actions: ['pay'] }));
  expect(stub!.requests[0]!.body.tools.map(({ function: { name } }: any) => name)).toEqual([
    'pay',
    'wait',
    'done',
  ]);
});
