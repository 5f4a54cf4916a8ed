/** Answers to the pauses of agents and graphs of LangChain. */
import { describe, expect, test } from 'vitest';
import {
  agent,
  bareGraph,
  decide,
  named,
  pay,
  runOf,
} from '../../../tests/support/langchain-runs.ts';
import { answerTo } from './index.ts';

/** Of 1,000 cents a day, a payment that waits for a person holds its part. */
const LIMITED = `
id: shop
tools:
  shop/pay: { class: irreversible, amounts: { cents: /cents } }
rules:
  - { id: small, allow: shop/pay, amount: { unit: cents, max: 100 } }
  - { id: large, ask: shop/pay, amount: { unit: cents, min: 101 } }
limits:
  - { id: day, tools: shop/pay, per: day, unit: cents, max: 1000 }
`;

describe.each([
  ['an agent', agent],
  ['a graph with a ToolNode', bareGraph],
] as const)('%s', (_, make) => {
  test.each([
    ['null', null],
    ['a text', 'approve'],
    ['no decision', { decisions: [] }],
    ['two decisions', { decisions: [{ type: 'approve' }, { type: 'approve' }] }],
    ['another word', { decisions: [{ type: 'approved' }] }],
    ['a decision of true', { decisions: [true] }],
    ['a name of no form', { decisions: [{ type: 'approve' }], assize: 'yes' }],
    [
      'another call',
      { decisions: [{ type: 'approve' }], assize: { call: 't1.c9', approval: 'a', digest: 'd' } },
    ],
    ['an open decision', { decision: 'approve', args: 'all' }],
    [
      'a cancelled interrupt',
      { interruptId: 'x', status: 'cancelled', payload: { decision: 'approve' } },
    ],
  ])('an answer that is %s approves nothing, and the pause is repeated', async (_name, answer) => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const again = await it.resume({ [pauses[0]!.id]: answer });
    expect(again.pauses).toMatchObject([{ value: pauses[0]!.value }]);
    expect(it.made).toEqual([]);
    // A later answer counts.
    const { told } = await it.resume(answerTo(again.pauses[0]!, { type: 'approve' }));
    expect(told).toMatchObject([{ content: 'paid bob' }]);
    expect(it.made).toHaveLength(1);
  });

  test('an answer without a person does not count, even if a person comes later', async () => {
    let person: string | undefined;
    const it = await runOf(make, { approver: () => person });
    const [pause] = (await it.start([pay('c1', 'bob', 500)])).pauses;
    const [again] = (await it.resume(answerTo(pause!, { type: 'approve' }))).pauses;
    person = 'manager:grace';
    const [third] = (await it.resume(undefined)).pauses;
    expect(third).toBeDefined();
    const [fourth] = (await it.resume({ [again!.id]: null })).pauses;
    const { decisions, assize } = answerTo(fourth!, { type: 'approve' })[fourth!.id]!;
    const wrong = { decisions, assize: { ...assize, digest: '0'.repeat(64) } };
    expect((await it.resume({ [fourth!.id]: wrong })).pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
  });

  test('an answer to all is not that of a person who comes later', async () => {
    let person: string | undefined;
    const it = await runOf(make, { approver: () => person });
    await it.start([pay('c1', 'bob', 500)]);
    await it.resume({ decisions: [{ type: 'approve' }] });
    person = 'manager:grace';
    expect((await it.resume(undefined)).pauses).toHaveLength(1);
    const { pauses } = await it.resume(undefined);
    expect(it.made).toEqual([]);
    expect((await it.resume(answerTo(pauses[0]!, { type: 'approve' }))).told).toMatchObject([
      { content: 'paid bob' },
    ]);
  });

  test('a rejection tells the model its reason; a later approval is ignored', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const copy = await it.copy();
    const { told } = await it.resume(answerTo(pauses[0]!, { type: 'reject', message: 'too much' }));
    expect(told).toMatchObject([{ status: 'error', content: expect.stringContaining('too much') }]);
    const after = await copy.resume(answerTo(pauses[0]!, { type: 'approve' }));
    expect(after.told).toMatchObject([
      { status: 'error', content: expect.stringContaining('too much') },
    ]);
    expect(it.made).toEqual([]);
  });

  test('an answer without a name approves no later call', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    expect((await it.resume({ decisions: [{ type: 'approve' }] })).pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
    // Under the id of its interrupt it is about this call.
    const { told } = await it.resume({ [pauses[0]!.id]: { decisions: [{ type: 'approve' }] } });
    expect(told).toMatchObject([{ content: 'paid bob' }]);
  });

  test('a call is made as a named person has edited it, once', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const edit = (cents: number) =>
      ({ type: 'edit', editedAction: { name: 'pay', args: { to: 'bob', cents } } }) as const;
    const copy = await it.copy();
    const { told } = await it.resume(answerTo(pauses[0]!, edit(300)));
    expect(told).toMatchObject([{ tool_call_id: 'c1', content: 'paid bob' }]);
    // The same edit again, another one, and an approval of the first arguments get its result.
    for (const again of [edit(300), edit(50), { type: 'approve' } as const]) {
      const other = await copy.copy();
      const { told: twice } = await other.resume(answerTo(pauses[0]!, again));
      expect(twice).toMatchObject([{ tool_call_id: 'c1', content: 'paid bob' }]);
    }
    expect(it.made).toEqual([{ to: 'bob', cents: 300 }]);
  });

  test('an edit without a named person changes nothing', async () => {
    const it = await runOf(make);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const edit = {
      type: 'edit',
      editedAction: { name: 'pay', args: { to: 'bob', cents: 5 } },
    } as const;
    const again = await it.resume(answerTo(pauses[0]!, edit));
    expect(again.pauses).toMatchObject([
      { value: { actionRequests: [{ args: { to: 'bob', cents: 500 } }] } },
    ]);
    expect(it.made).toEqual([]);
  });

  test('an edit that a rule refuses, or to another tool, does not pass', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const other = { type: 'edit', editedAction: { name: 'look', args: {} } } as const;
    const again = await it.resume(answerTo(pauses[0]!, other));
    expect(again.pauses).toHaveLength(1);
    const mallory = {
      type: 'edit',
      editedAction: { name: 'pay', args: { to: 'mallory', cents: 5 } },
    } as const;
    const third = await it.resume(answerTo(again.pauses[0]!, mallory));
    expect(third.pauses).toMatchObject([
      { value: { assize: { reason: expect.stringContaining('[never]') } } },
    ]);
    expect(it.made).toEqual([]);
    const { told } = await it.resume(answerTo(third.pauses[0]!, { type: 'approve' }));
    expect(told).toMatchObject([{ content: 'paid bob' }]);
  });

  test('an answer of one call is not the answer of its sibling', async () => {
    const it = await runOf(make, named);
    const { pauses } = await it.start([pay('c1', 'bob', 500), pay('c2', 'eve', 900)]);
    // LangGraph gives an answer without an id to each call that waits.
    const unnamed = await it.resume({ decisions: [{ type: 'approve' }] });
    expect(it.made).toEqual([]);
    expect(unnamed.pauses.length).toBeGreaterThan(0);
    const of = pauses.find(({ value }) => value.assize.call === 't1.c1') ?? pauses[0]!;
    const asked = unnamed.pauses.find(({ value }) => value.assize.call === of.value.assize.call);
    const first = await it.resume(
      answerTo({ ...of, id: (asked ?? unnamed.pauses[0]!).id }, { type: 'approve' }),
    );
    expect(it.made).toHaveLength(1);
    expect(it.made[0]).toEqual(of.value.actionRequests[0]!.args);
    await decide(it, first.pauses[0]!, 'approve');
    const { told } = await it.resume({ [first.pauses[0]!.id]: null });
    expect(told).toMatchObject([{ content: 'paid bob' }, { content: 'paid eve' }]);
    expect(it.made).toHaveLength(2);
  });

  test('an answer about a call that another one blocks decides neither', async () => {
    const it = await runOf(make, { ...named, rules: LIMITED });
    const [blocking] = (await it.start([pay('c1', 'eve', 950)])).pauses;
    const { pauses } = await it.start([pay('c2', 'bob', 60)], { thread_id: 't2' });
    expect(pauses).toMatchObject([
      { value: { actionRequests: [{ args: { to: 'bob', cents: 60 } }] } },
    ]);
    expect(pauses[0]!.value.assize.digest).toBeUndefined();
    expect(pauses[0]!.value.assize.approval).toBe(blocking!.value.assize.approval);
    const answer = answerTo(pauses[0]!, { type: 'approve' });
    expect((await it.resume(answer, { thread_id: 't2' })).pauses).toHaveLength(1);
    expect(it.made).toEqual([]);
    expect(await it.gate.port.shown(blocking!.value.assize.approval as never)).toBeDefined();
  });

  test('a pause in the form of AG-UI is resumed with its decision', async () => {
    const it = await runOf(make, { ...named, interrupts: 'ag-ui' });
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const { interrupts } = pauses[0]!.value as never as {
      interrupts: { id: string; metadata: object }[];
    };
    expect(interrupts).toMatchObject([
      {
        ...{
          reason: 'approval_required',
          toolCallId: 'c1',
          message: expect.stringContaining('large'),
        },
        responseSchema: { required: ['decision'] },
        metadata: { tool: 'pay', args: { to: 'bob', cents: 500 }, digest: expect.any(String) },
      },
    ]);
    const other = [
      { interruptId: 'of another', status: 'resolved', payload: { decision: 'approve' } },
    ];
    const again = await it.resume({ [pauses[0]!.id]: other });
    expect(again.pauses).toHaveLength(1);
    const payload = { decision: 'approve' };
    const { told } = await it.resume({
      [again.pauses[0]!.id]: [{ interruptId: interrupts[0]!.id, status: 'resolved', payload }],
    });
    expect(told).toMatchObject([{ content: 'paid bob' }]);
    expect(it.made).toHaveLength(1);
  });

  test('the program names the person by the call and the configuration', async () => {
    const seen: unknown[] = [];
    const it = await runOf(make, {
      approver: (answer, held, { configurable }) => {
        seen.push([answer, held]);
        return (configurable['user'] as string | undefined) ?? '';
      },
    });
    const { pauses } = await it.start([pay('c1', 'bob', 500)]);
    const approve = answerTo(pauses[0]!, { type: 'approve' });
    const place = { thread_id: 't1', user: 'manager:grace' };
    expect((await it.resume(approve, place)).told).toMatchObject([{ content: 'paid bob' }]);
    expect(seen).toMatchObject([
      [
        Object.values(approve)[0],
        { run: 't1', id: 'c1', tool: 'pay', args: { to: 'bob', cents: 500 } },
      ],
    ]);
  });
});
