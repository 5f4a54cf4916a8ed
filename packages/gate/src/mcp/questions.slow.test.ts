/** The client gets the allowed questions, log messages and updates of a server. */
import { inputRequired, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Connecting,
  connected,
  served,
} from '../../../../tests/support/mcp/served-gateway.ts';
import { HostileServer, resultOf } from '../../tests/support/mcp/hostile-server.ts';
import { Gateway } from './index.ts';

const RULES = `
id: notes
trust: [notes]
tools:
  notes/add: { class: reversible }
  notes/resources.read: { class: read }
  notes/resources.subscribe: { class: read }
  notes/elicitation.create: { class: reversible }
  notes/sampling.create: { class: reversible }
rules:
  - { id: add, allow: notes/add }
  - { id: questions, allow: notes/elicitation.create, where: [{ path: /message, not: secret }] }
  - { id: secret, deny: notes/elicitation.create, where: [{ path: /message, is: secret }] }
  - { id: models, allow: notes/sampling.create }
  - { id: open, allow: notes/resources.read, where: [{ path: /uri, is: 'a://open' }] }
  - { id: closed, deny: notes/resources.read, where: [{ path: /uri, not: 'a://open' }] }
`;

const ADD = {
  name: 'add',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
};
const SCHEMA = { type: 'object', properties: { name: { type: 'string' } } };
const question = (message: string) => ({
  id: 900,
  method: 'elicitation/create',
  params: { message, requestedSchema: SCHEMA },
});
const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();

/** A server of 2025 that asks in the middle of a call. */
async function asking(message: string, given: Connecting = {}) {
  const server = new HostileServer([ADD]);
  server.replies = (id) => [
    question(message),
    'answer',
    () => resultOf(id, JSON.stringify(server.answers.at(-1))),
  ];
  const place = await served(RULES);
  const made = await connected(place, server.serve as never, {
    client: { capabilities: { elicitation: {}, sampling: {} } },
    ...given,
  });
  const seen: any[] = [];
  if (given.client === undefined || 'capabilities' in given.client)
    made.client.setRequestHandler('elicitation/create', async ({ params }) => {
      seen.push(params);
      return { action: 'accept', content: { name: 'Ada' } };
    });
  const add = () => made.client.callTool({ name: 'add', arguments: { text: 'a' } });
  return { server, place, seen, add, ...made };
}

describe.each<NonNullable<Connecting['era']>>(['modern', 'legacy'])('with a %s client', (era) => {
  test('a question of an old server gets the answer of the client', async () => {
    const { place, seen, add, close } = await asking('Name\u200b?', {
      era,
      questions: ['elicitation'],
    });
    expect(textOf(await add())).toContain('"content":{"name":"Ada"}');
    expect(seen.map(({ message }) => message)).toEqual(['The server notes asks: Name\\u{200b}?']);
    await close();
    const { calls } = await place.state();
    expect(
      Object.values<any>(calls)
        .map(({ tool, outcome }) => [tool, outcome])
        .sort(),
    ).toEqual([
      ['notes/add', 'done'],
      ['notes/elicitation.create', 'done'],
    ]);
    const grace = place.tokens['manager:grace'];
    const entries = await place.server.ask('GET', '/v1/trajectories/calls/entries', {
      token: grace,
    });
    expect(entries.text).not.toContain('"Ada"');
    // A hash of a short answer could be guessed.
    expect(entries.text).not.toContain('"sha256"');
  });

  test('a question of a new server gets the answer of the client', async () => {
    const place = await served(RULES);
    const elicit = inputRequired.elicit({ message: 'Name?', requestedSchema: SCHEMA as never });
    const serve = (transport: never) =>
      serveStdio(
        () => {
          const server = new McpServer({ name: 'notes', version: '1' });
          server.registerTool(
            'add',
            { inputSchema: z.object({ text: z.string() }) },
            async (_, { mcpReq }) => {
              const answer = mcpReq.inputResponses?.['who'];
              if (answer === undefined) return inputRequired({ inputRequests: { who: elicit } });
              return { content: [{ type: 'text', text: JSON.stringify(answer) }] };
            },
          );
          return server;
        },
        { transport },
      );
    const given: Connecting = {
      era,
      questions: ['elicitation'],
      client: { capabilities: { elicitation: {} } },
    };
    const { client, close } = await connected(place, serve as never, given);
    client.setRequestHandler('elicitation/create', async () => ({
      action: 'accept',
      content: { name: 'Ada' },
    }));
    expect(textOf(await client.callTool({ name: 'add', arguments: { text: 'a' } }))).toContain(
      '{"name":"Ada"}',
    );
    await close();
  });

  test('log messages of a call reach its client, a long one as its size', async () => {
    const server = new HostileServer([ADD]);
    const log = (data: unknown) => ({
      method: 'notifications/message',
      params: { level: 'error', data },
    });
    server.replies = (id) => [
      log('one'),
      log({ 'a\u202e': ['b\u200b'] }),
      log('x'.repeat(20_000)),
      resultOf(id, 'fine'),
    ];
    const { client, close } = await connected(await served(RULES), server.serve as never, { era });
    const seen: unknown[] = [];
    client.setNotificationHandler(
      'notifications/message',
      ({ params }) => void seen.push(params.data),
    );
    const _meta = era === 'modern' ? { _meta: { 'io.modelcontextprotocol/logLevel': 'info' } } : {};
    await client.callTool({ name: 'add', arguments: { text: 'a' }, ..._meta } as never);
    expect(seen).toEqual([
      'one',
      { 'a\\u{202e}': ['b\\u{200b}'] },
      'A log message of 20002 characters is left out.',
    ]);
    await close();
  });
});

describe('a question that is not passed on', () => {
  test('a question that the configuration does not allow is an unknown method', async () => {
    const { seen, add, close } = await asking('Name?');
    expect(textOf(await add())).toContain('-32601');
    await close();
    expect(seen).toEqual([]);
  });

  test('against the rules is declined', async () => {
    const { seen, add, close, warnings } = await asking('secret', { questions: ['elicitation'] });
    expect(textOf(await add())).toContain('"action":"decline"');
    expect(warnings.join()).toContain('[secret]');
    await close();
    expect(seen).toEqual([]);
  });

  test('to a client that cannot answer is declined', async () => {
    const { add, close } = await asking('Name?', {
      questions: ['elicitation'],
      client: {} as never,
    });
    expect(textOf(await add())).toContain('"action":"decline"');
    await close();
  });

  test('between two calls, or outside of any, is declined', async () => {
    const { server, seen, client, close } = await asking('Name?', { questions: ['elicitation'] });
    await client.listTools();
    const outside = new Promise((resolve) => setTimeout(resolve, 300));
    await server.send(question('Name?'));
    await outside;
    expect(server.answers.at(-1)?.result).toEqual({ action: 'decline' });
    server.replies = (id, { text }) =>
      text === 'a' ? ['never'] : [question('Name?'), 'answer', resultOf(id, 'fine')];
    const leave = new AbortController();
    const lost = client.callTool(
      { name: 'add', arguments: { text: 'a' } },
      { signal: leave.signal },
    );
    await expect.poll(() => server.calls.length).toBe(1);
    await client.callTool({ name: 'add', arguments: { text: 'b' } });
    expect(server.answers.at(-1)?.result).toEqual({ action: 'decline' });
    leave.abort();
    await expect(lost).rejects.toThrow();
    await close();
    expect(seen).toEqual([]);
  });

  test('of a call that was given up reaches no other call', async () => {
    const { server, seen, client, close } = await asking('Name?', { questions: ['elicitation'] });
    let lostId = 0;
    server.replies = (id, { text }) => {
      if (text !== 'a') return [question('Name?'), 'answer', resultOf(id, 'fine')];
      lostId = id;
      return ['never'];
    };
    const leave = new AbortController();
    const lost = client.callTool(
      { name: 'add', arguments: { text: 'a' } },
      { signal: leave.signal },
    );
    await expect.poll(() => server.calls.length).toBe(1);
    leave.abort();
    await expect(lost).rejects.toThrow();
    await client.callTool({ name: 'add', arguments: { text: 'b' } });
    expect(server.answers.at(-1)?.result).toEqual({ action: 'decline' });
    // With its answer, the server has ended that call.
    await server.send(resultOf(lostId, 'late'));
    await client.callTool({ name: 'add', arguments: { text: 'c' } });
    expect(server.answers.at(-1)?.result).toMatchObject({ action: 'accept' });
    await close();
    expect(seen).toHaveLength(1);
  });

  test('of a server that several principals use is declined', async () => {
    const { seen, add, gateway, place, server, close } = await asking('Name?', {
      questions: ['elicitation'],
    });
    await add();
    const other = new Gateway({
      upstream: gateway.upstream,
      desk: place.desk(),
      onWarning: () => undefined,
    });
    await other.client();
    await add();
    expect(server.answers.at(-1)?.result).toEqual({ action: 'decline' });
    await close();
    expect(seen).toHaveLength(1);
  });

  test('for the ninth time in a call is declined', async () => {
    const { server, seen, add, close } = await asking('Name?', {
      questions: ['elicitation'],
      era: 'legacy',
    });
    const many = Array.from({ length: 12 }, () => [question('Name?'), 'answer' as const]).flat();
    server.replies = (id) => [...many, resultOf(id, 'fine')];
    await add();
    await close();
    expect(seen).toHaveLength(8);
    expect(server.answers.at(-1)?.result).toEqual({ action: 'decline' });
  });
});

test('an answer for other arguments goes to no server', async () => {
  const given: Connecting = {
    questions: ['elicitation'],
    client: { capabilities: { elicitation: {} }, inputRequired: { autoFulfill: false } },
  };
  const { server, client, close } = await asking('Name?', given);
  const add = (text: string, more: object = {}): Promise<any> =>
    client.callTool(
      { name: 'add', arguments: { text }, ...more } as never,
      { allowInputRequired: true } as never,
    );
  const { requestState } = await add('a');
  const answer = {
    requestState,
    inputResponses: { answer: { action: 'accept', content: { name: 'Eve' } } },
  };
  expect(textOf(await add('b', answer))).toContain('other arguments');
  expect(server.answers).toEqual([]);
  expect(textOf(await add('a', answer))).toContain('Eve');
  // The call is over, and its result comes again.
  expect(textOf(await add('a', answer))).toContain('Eve');
  await close();
  expect(server.calls).toHaveLength(1);
});

test('an answer after the end of its call gets the result of the call', async () => {
  const given: Connecting = {
    questions: ['elicitation'],
    client: { capabilities: { elicitation: {} }, inputRequired: { autoFulfill: false } },
  };
  const { server, place, client, close } = await asking('Name?', given);
  server.replies = (id) => {
    setTimeout(() => void server.send(resultOf(id, 'done without it')), 100);
    return [question('Name?')];
  };
  const add = (more: object = {}): Promise<any> =>
    client.callTool(
      { name: 'add', arguments: { text: 'a' }, ...more } as never,
      { allowInputRequired: true } as never,
    );
  const { requestState } = await add();
  await expect
    .poll(async () => Object.values<any>((await place.state()).calls).map(({ outcome }) => outcome))
    .toContain('done');
  const answer = {
    requestState,
    inputResponses: { answer: { action: 'accept', content: { name: 'Eve' } } },
  };
  expect(textOf(await add(answer))).toBe('done without it');
  await close();
  expect(server.calls).toHaveLength(1);
});

test('a client hears of the resources that it may read, and of no others', async () => {
  const server = new HostileServer([ADD]);
  const { client, close } = await connected(await served(RULES), server.serve as never, {
    era: 'legacy',
  });
  const seen: string[] = [];
  client.setNotificationHandler(
    'notifications/resources/updated',
    ({ params }) => void seen.push(params.uri),
  );
  await client.subscribeResource({ uri: 'a://open' });
  await expect(client.subscribeResource({ uri: 'a://closed' })).rejects.toThrow('[closed]');
  for (const uri of ['a://open', 'a://closed'])
    await server.notify('notifications/resources/updated', { uri });
  await expect.poll(() => seen, { timeout: 3_000 }).toEqual(['a://open']);
  await client.unsubscribeResource({ uri: 'a://open' });
  await server.notify('notifications/resources/updated', { uri: 'a://open' });
  await client.listTools();
  await close();
  expect(seen).toEqual(['a://open']);
});

test('completions are judged like reading, recorded, and never wait', async () => {
  const server = new HostileServer([ADD]);
  const place = await served(RULES);
  const { client, close } = await connected(place, server.serve as never, {});
  const complete = async (ref: object, value: string) =>
    (await client.complete({ ref, argument: { name: 'a', value } } as never)).completion.values;
  expect(await complete({ type: 'ref/resource', uri: 'a://open' }, 'x')).toEqual(['done']);
  expect(await complete({ type: 'ref/resource', uri: 'a://closed' }, 'y')).toEqual([]);
  expect(await complete({ type: 'ref/prompt', name: 'unlisted' }, 'z')).toEqual([]);
  await close();
  expect(server.completed).toEqual(['x']);
  expect(await place.approvals()).toEqual([]);
  expect(Object.values<any>((await place.state()).calls)).toMatchObject([
    { tool: 'notes/completion.complete', outcome: 'done' },
  ]);
});

test('a flood of notes is cut off, and calls go on', async () => {
  const server = new HostileServer([ADD]);
  const { client, warnings, close } = await connected(await served(RULES), server.serve as never, {
    era: 'legacy',
  });
  let seen = 0;
  client.setNotificationHandler('notifications/message', () => void seen++);
  await client.listTools();
  for (let n = 0; n < 5_000; n++)
    await server.notify('notifications/message', { level: 'error', data: 'x' });
  for (let n = 0; n < 5_000; n++)
    await server.notify('notifications/progress', { progressToken: 'none', progress: n });
  expect(textOf(await client.callTool({ name: 'add', arguments: { text: 'a' } }))).toBe('fine');
  await close();
  expect(seen).toBe(200);
  expect(warnings.length).toBeLessThan(300);
});
