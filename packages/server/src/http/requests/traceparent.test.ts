/** The header `traceparent` of proposals, calls and hooks: recorded if it has the form of W3C. */

import { gateway, readRules } from '@assize/gate/internal/gateway';
import type { Domain } from 'assize/internal/kernel';
import { readRow, traceparentIn } from 'assize/internal/ledger';
import { expect, test } from 'vitest';
import { pay, succeed } from '../../../../../tests/support/server/calling.ts';
import { start } from '../../../../../tests/support/server/serving.ts';
import { traceparentFrom } from './headers.ts';

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const NEARER = '00-0af7651916cd43dd8448eb211c80319c-c7ad6b7169203332-01';

test.each([
  ['one', TRACE, TRACE],
  ['the last of two', `${TRACE}, ${NEARER}`, NEARER],
  ['none that is malformed', '00-short-01', undefined],
  ['none before a malformed one', `${TRACE}, secret`, undefined],
  ['none', undefined, undefined],
])('%s is read', (_, header, read) => {
  expect(traceparentFrom(new Headers(header === undefined ? {} : { traceparent: header }))).toBe(
    read,
  );
});

test('a proposal over HTTP records the trace of its first request', async () => {
  const server = await start();
  const propose = (traceparent: string) =>
    succeed(server, 'proposals.create', pay('north', 5, 'k1', { headers: { traceparent } }));
  const { entry_id } = await propose(TRACE);
  expect(await propose(NEARER)).toMatchObject({ entry_id });
  expect(await propose('secret')).toMatchObject({ entry_id });
  const entry = await succeed(server, 'entries.get', {
    as: 'auditor:eve',
    path: { entry: entry_id },
  });
  const trace = { trace_id: '0af7651916cd43dd8448eb211c80319c', span_id: 'b7ad6b7169203331' };
  expect(entry).toMatchObject({ trace });
  const other = await succeed(
    server,
    'proposals.create',
    pay('north', 5, 'k2', { headers: { traceparent: 'secret' } }),
  );
  const untraced = await succeed(server, 'entries.get', {
    as: 'auditor:eve',
    path: { entry: other.entry_id },
  });
  expect(untraced.trace).toBeUndefined();
  expect(untraced.text).not.toContain('secret');
});

test('calls and hooks record the trace of their request', async () => {
  const { rules } = readRules(
    '{ id: all, tools: { shop/pay: { class: read } }, rules: [{ id: all, allow: "*" }] }',
  );
  const grants = [{ actions: ['call', 'begin', 'report', 'session'] }];
  const server = await start({
    ...{ rules, domains: [gateway({ rules }) as unknown as Domain] },
    config: { worlds: { calls: { domain: 'gateway' } }, tools: [] },
    principals: { 'agent:ada': { kinds: ['agent'], grants } },
  });
  const token = await server.tokenFor('agent:ada');
  const asking = { token, path: { trajectory: 'calls' } };
  const call = { id: 'c1', session: 's1', server: 'shop', tool: 'pay', args: {} };
  await succeed(server, 'calls.ask', { ...asking, body: call, headers: { traceparent: TRACE } });
  const event = {
    ...{
      hook_event_name: 'PreToolUse',
      session_id: 's2',
      tool_use_id: 'u1',
      tool_name: 'Bash',
      cwd: '/tmp',
    },
    ...{ tool_input: { command: 'ls' }, permission_mode: 'default', transcript_path: '/tmp/t' },
  };
  await succeed(server, 'hooks.claude_code', {
    ...asking,
    body: event,
    headers: { traceparent: NEARER },
  });
  const payloads = (await server.store.entries('calls')).map((row) => readRow(row).payload);
  const traces = payloads.flatMap((one) =>
    one.kind === 'commit' && ['call', 'session'].includes(one.action.name)
      ? [[one.action.name, traceparentIn(one)]]
      : [],
  );
  expect(traces).toEqual([
    ['session', TRACE],
    ['call', TRACE],
    ['session', NEARER],
    ['call', NEARER],
  ]);
});
