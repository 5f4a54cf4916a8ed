import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  type Connecting,
  connected,
  served,
} from '../../../../tests/support/mcp/served-gateway.ts';

const RULES = `
id: notes
trust: [notes]
tools:
  notes/add: { class: irreversible }
rules:
  - { id: reads, allow: notes/*, class: read }
  - { id: short, allow: notes/add, where: [{ path: /text, in: [a, b, c] }] }
  - { id: long, ask: notes/add, where: [{ path: /text, not_in: [a, b, c, secret] }] }
  - { id: secret, deny: notes/add, where: [{ path: /text, is: secret }], because: Secrets are not noted. }
  - { id: never, deny: notes/drop }
`;

/** Notes: each is one effect. */
function notes(added: string[]) {
  return (transport: never) =>
    serveStdio(
      () => {
        const server = new McpServer({ name: 'notes', version: '1' });
        server.registerTool(
          'add',
          { inputSchema: z.object({ text: z.string() }) },
          async ({ text }) => {
            added.push(text);
            return { content: [{ type: 'text', text: `added ${text}` }] };
          },
        );
        const list = { annotations: { readOnlyHint: true }, inputSchema: z.object({}) };
        server.registerTool('list', list, async () => ({
          content: [{ type: 'text', text: added.join() }],
        }));
        server.registerTool('drop', { inputSchema: z.object({}) }, async () => ({ content: [] }));
        return server;
      },
      { transport },
    );
}

/** A server with one resource and one prompt. */
const library = (transport: never) =>
  serveStdio(
    () => {
      const server = new McpServer({ name: 'notes', version: '1' });
      server.registerResource('plan', 'a://plan', {}, async () => ({
        contents: [{ uri: 'a://plan', text: 'plan' }],
      }));
      server.registerPrompt('greet', {}, () => ({ messages: [] }));
      return server;
    },
    { transport },
  );

const textOf = (result: any): string => result.content.map(({ text = '' }) => text).join();

describe.each<NonNullable<Connecting['era']>>(['modern', 'legacy'])('with a %s client', (era) => {
  test('an allowed call is made once, and the ledger has its result', async () => {
    const place = await served(RULES);
    const added: string[] = [];
    const { client, close } = await connected(place, notes(added) as never, { era });
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['add', 'list']);
    expect(textOf(await client.callTool({ name: 'add', arguments: { text: 'a' } }))).toBe(
      'added a',
    );
    expect(textOf(await client.callTool({ name: 'list' }))).toBe('a');
    await close();
    expect(Object.values((await place.state()).calls)).toMatchObject([
      { outcome: 'done' },
      { outcome: 'done' },
    ]);
  });

  test('lists name no resource and no prompt that the rules deny to all', async () => {
    const listed = async (rule: string) => {
      const place = await served(`id: notes\nrules:\n  - ${rule}\n`);
      const { client, close } = await connected(place, library as never, { era });
      const { resources } = await client.listResources();
      const { prompts } = await client.listPrompts();
      await close();
      return [resources.map(({ uri }) => uri), prompts.map(({ name }) => name)];
    };
    expect(await listed('{ id: some, ask: notes/* }')).toEqual([['a://plan'], ['greet']]);
    expect(await listed('{ id: none, deny: notes/resources.read }')).toEqual([[], ['greet']]);
    expect(await listed('{ id: none, deny: notes/* }')).toEqual([[], []]);
  });

  test('a denied call names its rule, and an invalid one is not proposed', async () => {
    const place = await served(RULES);
    const added: string[] = [];
    const { client, close } = await connected(place, notes(added) as never, { era });
    const denied = await client.callTool({ name: 'add', arguments: { text: 'secret' } });
    expect(denied.isError).toBe(true);
    expect(textOf(denied)).toContain('[secret] Secrets are not noted.');
    expect(textOf(await client.callTool({ name: 'add', arguments: { text: 5 } }))).toContain(
      'are not valid',
    );
    expect(textOf(await client.callTool({ name: 'drop' }))).toContain('no tool drop');
    await close();
    expect(added).toEqual([]);
    expect((await place.state()).calls).toEqual({});
  });

  test('an escalated call is made once, after its approval', async () => {
    const place = await served(RULES);
    const added: string[] = [];
    const { client, close } = await connected(place, notes(added) as never, { era });
    const add = () => client.callTool({ name: 'add', arguments: { text: 'a long one' } });
    const first = await add();
    expect(first).toMatchObject({ isError: true, structuredContent: { status: 'pending' } });
    const again = await add();
    expect(again.structuredContent).toEqual(first.structuredContent);
    const [pending, ...others] = await place.approvals();
    expect(others).toEqual([]);
    expect((first.structuredContent as any).url).toBe(`${place.server.url}/inbox/${pending.id}`);
    await place.approve(pending.id);
    expect(textOf(await add())).toBe('added a long one');
    // One approval is for one call.
    expect(await add()).toMatchObject({ structuredContent: { status: 'pending' } });
    await close();
    expect(added).toEqual(['a long one']);
  });
});
