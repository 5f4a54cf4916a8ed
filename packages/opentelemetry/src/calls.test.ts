/** Spans of calls of a framework: allowed, denied, held and approved, failed, in doubt. */

import type { PendingEnd } from '@assize/gate/internal/calls';
import { describe, expect, test } from 'vitest';
import { atServer, here } from '../../../tests/support/gates.ts';
import { spans } from '../../../tests/support/spans.ts';

const SECRET = 'hunter2-hunter2';

describe.each([
  ['in this process', here],
  ['at a server', atServer],
] as const)('%s', (_, place) => {
  test('an allowed call is asked about, made and reported in one tree', async () => {
    const shop = await place();
    const told = spans();
    expect(await shop.pay('c1', 5)).toMatchObject({ end: 'done' });
    expect(told.tree().filter((name) => !name.endsWith('assize.propose'))).toEqual([
      'assize.call',
      '  assize.ask',
      '  assize.make',
      '  assize.report',
    ]);
    expect(told.named('assize.call')[0]?.attributes).toEqual({
      'assize.call': 't1.c1',
      'assize.tool': 'shop/pay',
      'assize.run': 't1',
      'assize.tool_call': 'c1',
      'assize.end': 'done',
      'assize.recorded': false,
    });
    expect(told.values('assize.ask', 'assize.decision')).toEqual(['allowed']);
    expect(told.values('assize.propose', 'assize.action')).toEqual(['session', 'call', 'report']);
    expect(told.values('assize.propose', 'assize.ruling')).toEqual([
      'committed',
      'committed',
      'committed',
    ]);
    expect(new Set(told.all.map((span) => span.spanContext().traceId)).size).toBe(1);
  });

  test('each entry of a call records a span of its trace', async () => {
    const shop = await place();
    const told = spans();
    await shop.pay('c1', 5);
    const [{ traceId } = { traceId: '' }] = told
      .named('assize.call')
      .map((span) => span.spanContext());
    const recorded = await shop.traceparents();
    expect(recorded).toHaveLength(3);
    for (const one of recorded) expect(one).toMatch(new RegExp(`^00-${traceId}-[0-9a-f]{16}-01$`));
    const ids = told.all.map((span) => span.spanContext().spanId);
    for (const one of recorded) expect(ids).toContain(one?.split('-')[2]);
  });

  test('a denied call has the rule that refused it, and is not an error', async () => {
    const shop = await place();
    const told = spans();
    expect(await shop.pay('c1', 5, 'mallory')).toMatchObject({ end: 'refused' });
    expect(told.values('assize.call', 'assize.end')).toEqual(['refused']);
    expect(told.named('assize.make')).toEqual([]);
    const [, call] = told.named('assize.propose');
    expect(call?.attributes).toMatchObject({
      'assize.ruling': 'rejected',
      'assize.rule': 'DENIED',
    });
    expect(told.all.map(({ status }) => status.code)).not.toContain(2);
  });

  test('a call that another gate resumes links to the trace of its question', async () => {
    const shop = await place();
    const told = spans();
    const end = (await told.within('first run', () => shop.pay('c1', 500))) as PendingEnd;
    expect(end.end).toBe('pending');
    expect(told.values('assize.call', 'assize.approval')).toEqual([end.approval]);
    const asked = told
      .named('assize.propose')
      .find(({ attributes }) => attributes['assize.ruling'] === 'escalated');
    expect(asked?.attributes).toMatchObject({
      'assize.approval': end.approval,
      'assize.rule': 'ASK',
    });
    const { traceId } = asked!.spanContext();

    await told.within('decision', () => shop.approve(end.approval));
    const [decided] = told.named('assize.decide');
    expect(decided?.attributes).toMatchObject({
      'assize.approval': end.approval,
      'assize.decision': 'approve',
      'assize.by': 'manager:grace',
      'assize.ruling': 'committed',
    });
    expect(decided?.spanContext().traceId).not.toBe(traceId);
    expect(decided?.links.map((link) => link.context.traceId)).toEqual([traceId]);

    // The wait is a part of the trace that asked.
    const [wait] = told.named('assize.wait');
    expect(wait?.spanContext().traceId).toBe(traceId);
    expect(wait?.attributes).toMatchObject({
      'assize.approval': end.approval,
      'assize.decision': 'approved',
    });
    expect(wait?.links.map((link) => link.context.spanId)).toEqual([decided?.spanContext().spanId]);

    told.clear();
    await shop.another();
    expect(await told.within('second run', () => shop.pay('c1', 500))).toMatchObject({
      end: 'done',
    });
    const [resumed] = told.named('assize.ask');
    expect(resumed?.spanContext().traceId).not.toBe(traceId);
    expect(resumed?.links.map((link) => link.context.traceId)).toEqual([traceId]);
  });

  test('a tool that fails, and one that is interrupted, are errors by code', async () => {
    const shop = await place();
    const told = spans();
    const failing = new Error(SECRET);
    expect(await shop.pay('c1', 5, 'bob', () => Promise.reject(failing))).toMatchObject({
      end: 'failed',
    });
    const late = new DOMException(SECRET, 'TimeoutError');
    expect(await shop.pay('c2', 5, 'bob', () => Promise.reject(late))).toMatchObject({
      end: 'doubt',
    });
    expect(told.values('assize.call', 'error.type')).toEqual(['call_failed', 'call_in_doubt']);
    expect(told.values('assize.make', 'error.type')).toEqual(['Error', 'TimeoutError']);
    expect(told.values('assize.report', 'assize.outcome')).toEqual(['failed', 'unknown']);
    expect(JSON.stringify(told.all.map(everything))).not.toContain(SECRET);
  });

  test('no argument, no result and no text of a rule is in a span', async () => {
    const shop = await place();
    const told = spans({ genAi: true });
    await shop.pay('c1', 5, SECRET, async () => ({ receipt: SECRET }));
    await shop.pay('c2', 500, SECRET);
    await shop.pay('c3', 5, 'mallory');
    const text = JSON.stringify(told.all.map(everything));
    expect(text).toContain('assize.approval');
    for (const hidden of [SECRET, 'the rule', '[large]', '[never]'])
      expect(text).not.toContain(hidden);
  });

  test('the names of GenAI are there with `genAi` only', async () => {
    const shop = await place();
    const told = spans({ genAi: true });
    await shop.pay('c1', 5);
    expect(told.named('execute_tool pay')[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'pay',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.conversation.id': 't1',
      'assize.tool': 'shop/pay',
    });
    expect(told.all.filter(({ name }) => name === 'assize.make')).toEqual([]);
  });

  test('after `stop` nothing is traced and nothing is recorded', async () => {
    const shop = await place();
    const told = spans();
    told.stop();
    await shop.pay('c1', 5);
    expect(told.all).toEqual([]);
    expect(await shop.traceparents()).toEqual([undefined, undefined, undefined]);
  });
});

test('with `record: false` there are spans, and entries have no trace', async () => {
  const shop = await here();
  const told = spans({ record: false });
  await shop.pay('c1', 5);
  expect(told.named('assize.call')).toHaveLength(1);
  expect(await shop.traceparents()).toEqual([undefined, undefined, undefined]);
});

function everything({
  name,
  attributes,
  events,
  status,
  links,
}: ReturnType<typeof spans>['all'][number]): unknown {
  return { name, attributes, events, status, links };
}
