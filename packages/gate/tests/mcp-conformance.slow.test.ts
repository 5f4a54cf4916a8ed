/** The conformance runner of MCP against `/mcp/NAME`, before a server made for it. */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ADA, served } from '../../../tests/support/mcp/served-gateway.ts';

const RUNNER = join(
  import.meta.dirname,
  '../../peers/node_modules/@modelcontextprotocol/conformance/dist/index.js',
);
const FIXTURE = join(import.meta.dirname, './support/mcp/conformance-server.ts');

const RULES = `
id: notes
trust: [notes]
default: allow
tools:
  notes/resources.read: { class: read }
  notes/prompts.get: { class: read }
`;

const STATELESS =
  'a client of 2025 has no session over HTTP, so no request or notification reaches it between its own';

/** Scenarios that do not apply, with the reason. */
const NOT_OURS: Readonly<Record<string, string>> = {
  'tools-call-sampling': STATELESS,
  'tools-call-elicitation': STATELESS,
  'elicitation-sep1034-defaults': STATELESS,
  'elicitation-sep1330-enums': STATELESS,
  'resources-subscribe': STATELESS,
  'resources-unsubscribe': STATELESS,
};

const absent = existsSync(RUNNER) ? '' : ' (absent without npm ci --prefix peers)';

test.skipIf(absent !== '')(
  `the conformance runner${absent}`,
  async () => {
    const place = await served(RULES, {
      mcp: { servers: { notes: { command: process.execPath, args: [FIXTURE] } } },
    });
    const url = await withToken(place.server.url, place.tokens[ADA] as string);
    const failed = await failedOf(`${url}/mcp/notes`);
    expect(failed).toEqual(Object.keys(NOT_OURS).sort());
  },
  120_000,
);

/** The runner cannot send a token, so this adds one to each request. */
async function withToken(target: string, token: string): Promise<string> {
  const { host } = new URL(target);
  let own = '';
  const pass = (from: IncomingMessage, to: ServerResponse): void => {
    const headers = {
      ...from.headers,
      authorization: `Bearer ${token}`,
      ...(from.headers.host === own && { host }),
    };
    const sent = request(
      new URL(from.url ?? '/', target),
      { method: from.method, headers },
      (answer) => {
        to.writeHead(answer.statusCode ?? 500, answer.headers);
        answer.pipe(to);
      },
    );
    sent.on('error', () => to.destroy());
    to.on('close', () => sent.destroy());
    from.pipe(sent);
  };
  const server = createServer(pass);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  own = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return `http://${own}`;
}

/** The scenarios that failed a check. */
async function failedOf(url: string): Promise<readonly string[]> {
  const folder = mkdtempSync(join(tmpdir(), 'assize-conformance-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const runner = spawn(process.execPath, [RUNNER, 'server', '--url', url, '-o', folder], {
    cwd: folder,
  });
  let said = '';
  for (const stream of [runner.stdout, runner.stderr])
    stream.on('data', (chunk) => (said += String(chunk)));
  await new Promise((resolve) => runner.once('close', resolve));
  const lines = [...said.matchAll(/^([✓✗]) ([a-z0-9-]+):/gm)];
  expect(lines.length).toBeGreaterThan(25);
  return lines
    .filter(([, mark]) => mark === '✗')
    .map(([, , name]) => name as string)
    .sort();
}
