/** The tools, resources and prompts that the conformance runner of MCP asks for, over pipes. */
import { completable, McpServer, ResourceTemplate } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQAAAAA=';

const NONE = { description: 'A tool for the runner.', inputSchema: z.object({}) };
const text = (of: string) => ({ type: 'text' as const, text: of });
const image = { type: 'image' as const, data: PNG, mimeType: 'image/png' };
const resource = (uri: string) => ({
  type: 'resource' as const,
  resource: { uri, mimeType: 'text/plain', text: 'x' },
});
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));

function made(): McpServer {
  const capabilities = { logging: {}, completions: {}, resources: { subscribe: true } };
  const server = new McpServer({ name: 'conformance', version: '1' }, { capabilities });
  addTools(server);
  addResources(server);
  addPrompts(server);
  return server;
}

function addTools(server: McpServer): void {
  const content = (name: string, ...items: object[]): void =>
    void server.registerTool(name, NONE, async () => ({ content: items as never }));
  content('test_simple_text', text('This is a simple text response for testing.'));
  content('test_image_content', image);
  content('test_audio_content', { type: 'audio', data: WAV, mimeType: 'audio/wav' });
  content('test_embedded_resource', resource('test://embedded-resource'));
  content(
    'test_multiple_content_types',
    text('one'),
    image,
    resource('test://mixed-content-resource'),
  );
  server.registerTool('test_error_handling', NONE, async () => ({
    isError: true,
    content: [text('It fails.')],
  }));
  server.registerTool('test_tool_with_logging', NONE, async (_, { mcpReq }) => {
    for (const step of ['started', 'working', 'ended']) {
      await mcpReq.log('info', step);
      await later();
    }
    return { content: [text('logged')] };
  });
  server.registerTool('test_tool_with_progress', NONE, async (_, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken ?? 0;
    for (const progress of [0, 50, 100]) {
      await mcpReq.notify({
        method: 'notifications/progress',
        params: { progressToken, progress, total: 100 },
      });
      await later();
    }
    return { content: [text('done')] };
  });
}

function addResources(server: McpServer): void {
  const one = (name: string, uri: string, contents: object): void =>
    void server.registerResource(name, uri, {}, async () => ({
      contents: [{ uri, ...contents }] as never,
    }));
  one('text', 'test://static-text', { mimeType: 'text/plain', text: 'text' });
  one('binary', 'test://static-binary', { mimeType: 'image/png', blob: PNG });
  one('watched', 'test://watched-resource', { mimeType: 'text/plain', text: 'text' });
  const template = new ResourceTemplate('test://template/{id}/data', { list: undefined });
  server.registerResource('template', template, {}, async ({ href }, { id }) => ({
    contents: [{ uri: href, mimeType: 'application/json', text: JSON.stringify({ id }) }],
  }));
}

function addPrompts(server: McpServer): void {
  const user = (content: object) => ({
    messages: [{ role: 'user' as const, content: content as never }],
  });
  server.registerPrompt('test_simple_prompt', { description: 'A prompt.' }, async () =>
    user(text('simple')),
  );
  server.registerPrompt('test_prompt_with_image', { description: 'A prompt.' }, async () =>
    user(image),
  );
  server.registerPrompt(
    'test_prompt_with_arguments',
    {
      description: 'A prompt.',
      argsSchema: z.object({
        arg1: completable(z.string(), () => ['paris', 'park']),
        arg2: z.string(),
      }),
    },
    async ({ arg1, arg2 }) => user(text(`${arg1} ${arg2}`)),
  );
  server.registerPrompt(
    'test_prompt_with_embedded_resource',
    { description: 'A prompt.', argsSchema: z.object({ resourceUri: z.string() }) },
    async ({ resourceUri }) => user(resource(resourceUri)),
  );
}

serveStdio(made);
