import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { cases } from '../../../../../tests/support/cases.ts';
import { clientOf, served } from '../../../../../tests/support/mcp/served-gateway.ts';
import { Gateway } from '../gateway.ts';
import { MarkedLines, withMarks, withNumbers } from './exact-numbers.ts';
import { upstreamOf } from './spec.ts';

const through = (json: string): string => JSON.stringify(withNumbers(JSON.parse(withMarks(json))));

test('a text that JSON.stringify made comes back, with integers of any size', () => {
  const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map((value) => `${value}`);
  const odd = fc.constantFrom(
    '\\',
    '"',
    '\\"',
    '1915883588174806058',
    ':1915883588174806058,',
    '\n',
    'é',
  );
  const text = fc
    .array(fc.oneof(odd, fc.string()), { maxLength: 4 })
    .map((parts) => JSON.stringify(parts.join('')));
  const { value } = fc.letrec<{ value: string }>((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      integer,
      text,
      fc.constantFrom('true', 'null', '0.5', '1e-7'),
      fc.array(tie('value'), { maxLength: 3 }).map((all) => `[${all.join()}]`),
      fc
        .uniqueArray(fc.tuple(text, tie('value')), { maxLength: 3, selector: ([name]) => name })
        .filter((all) => all.every(([name]) => !/^"(\d|__proto__)/.test(name)))
        .map((all) => `{${all.map(([name, member]) => `${name}:${member}`).join()}}`),
    ),
  }));
  fc.assert(
    fc.property(value, (json) => {
      expect(through(json)).toBe(json);
    }),
    { numRuns: cases(2_000) },
  );
  expect(through('[1e400,-1e400]')).toBe('[1e400,-1e400]');
});

test('lines are whole, however the bytes are cut, and other lines stay', () => {
  const text = 'id: 1915883588174806058\r\ndata: {"a":1915883588174806058,"b":"é"}\n\ndata: 7';
  for (const size of [1, 2, 7, 1_000]) {
    const lines = new MarkedLines('data:');
    const bytes = Buffer.from(text);
    const out: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += size)
      out.push(lines.take(bytes.subarray(at, at + size)));
    const marked = Buffer.concat([...out, lines.rest()]).toString('utf8');
    expect(marked.replace(/"[0-9a-f-]{36}:(\d+)"/g, '$1')).toBe(text);
    expect(marked.startsWith('id: 1915883588174806058\r\ndata: {"a":"')).toBe(true);
  }
});

const RESULTS: Readonly<Record<string, string>> = {
  'tools/list': '{"tools":[{"name":"post","inputSchema":{"type":"object"}}]}',
  'tools/call':
    '{"content":[],"structuredContent":{"id":1915883588174806058},"_meta":{"a/b":[-9007199254740993]}}',
};
const answerTo = `
  const RESULTS = ${JSON.stringify(RESULTS)};
  const answerTo = (text) => {
    const { id, method, params } = JSON.parse(text);
    if (id === undefined) return '';
    const init = () => JSON.stringify({ protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'own', version: '1' } });
    const result = method === 'initialize' ? init() : RESULTS[method];
    return '{"jsonrpc":"2.0","id":' + JSON.stringify(id) + (result ? ',"result":' + result : ',"error":{"code":-32601,"message":"no"}') + '}';
  };`;

function overHttp(type: string): Promise<string> {
  const answer = new Function(`${answerTo}; return answerTo`)() as (text: string) => string;
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString('utf8');
    const text = request.method === 'POST' ? answer(body) : '';
    response.writeHead(text === '' ? (request.method === 'POST' ? 202 : 405) : 200, {
      'content-type': type,
    });
    response.end(
      type === 'application/json' || text === '' ? text : `event: message\ndata: ${text}\n\n`,
    );
  });
  onTestFinished(() => void server.close());
  return new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () =>
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`),
    ),
  );
}

const SCRIPT = `${answerTo}
  require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
    const text = answerTo(line);
    if (text) process.stdout.write(text + '\\n');
  });`;

test.each<[over: string, spec: () => Promise<Parameters<typeof upstreamOf>[0]>]>([
  ['pipes', async () => ({ command: process.execPath, args: ['-e', SCRIPT] })],
  ['HTTP', async () => ({ url: await overHttp('application/json') })],
  ['a stream of events', async () => ({ url: await overHttp('text/event-stream') })],
])('a result over %s keeps the digits of its integers', async (_, spec) => {
  const place = await served(
    'id: notes\ntrust: [notes]\nrules:\n  - { id: all, allow: notes/* }\n',
  );
  const onWarning = (): void => undefined;
  const upstream = upstreamOf(await spec(), { version: '0', onWarning });
  const { client, close } = await clientOf(
    new Gateway({ upstream, onWarning, desk: place.desk() }),
  );
  const result = await client.callTool({ name: 'post', arguments: {} });
  expect(JSON.stringify(result)).toContain('"structuredContent":{"id":1915883588174806058}');
  expect(JSON.stringify(result)).toContain('"a/b":[-9007199254740993]');
  await close();
  const [call] = Object.values<any>((await place.state()).calls);
  expect(call).toMatchObject({ outcome: 'done' });
  expect(JSON.stringify(call)).not.toContain('19158835881748060');
});
