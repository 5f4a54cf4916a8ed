/**
 * Attacks 7 and 8 of docs/design/threats.md, and attack 5 over HTTP, on the only HTTP server: the
 * witness. The tests send bytes over a socket, because no client would send these requests.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { generateKeys } from '#canon';
import { leafHash, type SignerKey, signCheckpoint, signerKey } from '#merkle';
import { WitnessFile, witnessServer } from '#witness';

const folder = mkdtempSync(join(tmpdir(), 'assize-http-'));
afterAll(() => rmSync(folder, { recursive: true }));

const key = (name: string, use: 'note' | 'cosignature', seed: number): SignerKey =>
  signerKey(name, use, generateKeys(new Uint8Array(32).fill(seed)).privateKey);
const log = key('example.com/ledger', 'note', 1);
const signer = key('witness.example', 'cosignature', 2);

/** A correct request. The witness cosigns it. */
const RIGHT = `old 0\n\n${signCheckpoint({ size: 1, root: leafHash('first') }, log)}`;
const HOST = 'Host: witness.example:2112';

let files = 0;
let file: WitnessFile;
let server: Server;

beforeEach(async () => {
  file = new WitnessFile(join(folder, `${++files}.db`));
  const logs = [{ origin: log.name, keys: [log] }];
  server = witnessServer({ logs, signer, file, now: () => 1_800_000_000 });
  // A connection that should be closed and is not then hangs, and its test with it.
  server.keepAliveTimeout = 0;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});

// After every test nothing was cosigned, and the next correct request is answered.
afterEach(async () => {
  expect(file.notes()).toEqual([]);
  expect(await answersTo(...post([HOST, 'Connection: close']))).toEqual(['200']);
  expect(file.notes()).toHaveLength(1);
  server.close();
  await once(server, 'close');
  file.close();
});

type Bytes = string | Uint8Array;

/**
 * The status of every answer until the server closes the connection. The client never closes it.
 */
async function answersTo(...parts: readonly Bytes[]): Promise<string[]> {
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  let said = '';
  socket.setEncoding('utf8').on('data', (text: string) => (said += text));
  // It may close before it has read everything.
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part);
  await once(socket, 'close');
  return [...said.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => status!);
}

function post(lines: readonly string[], body: Bytes = RIGHT): Bytes[] {
  return [...head([...lines, `Content-Length: ${Buffer.byteLength(body)}`]), body];
}

function head(lines: readonly string[]): Bytes[] {
  return [`${['POST /add-checkpoint HTTP/1.1', ...lines].join('\r\n')}\r\n\r\n`];
}

describe('a body as long as in attack 5', () => {
  test('that says so: 413, and the connection is closed without reading it', async () => {
    expect(await answersTo(...head([HOST, `Content-Length: ${64 * 2 ** 20}`]))).toEqual(['413']);
  });

  test('without a length: 413 if it is too long, and the connection is closed', async () => {
    const chunk = `100000\r\n${'x'.repeat(2 ** 20)}\r\n`;
    expect(await answersTo(...head([HOST, 'Transfer-Encoding: chunked']), chunk, chunk)).toEqual([
      '413',
    ]);
  });
});

describe('attack 7: wrong charset, encoding, BOM, UTF-16: 415 or 400, not cosigned', () => {
  test.each([
    'Content-Type: application/json; charset=utf-16',
    'Content-Type: application/problem+json;charset="UTF-16LE"',
    'Content-Type: text/plain; charset=utf-8; charset=utf-7',
    'Content-Encoding: gzip',
  ])('415: %s', async (line) => {
    expect(await answersTo(...post([HOST, line]))).toEqual(['415']);
  });

  test.each<[string, Bytes]>([
    ['a byte order mark', `\ufeff${RIGHT}`],
    ['UTF-16', Buffer.from(RIGHT, 'utf16le')],
    ['UTF-16 with its mark', Buffer.from(`\ufeff${RIGHT}`, 'utf16le')],
    ['JSON', JSON.stringify({ old: 0, checkpoint: RIGHT })],
    ['nothing', ''],
  ])('400: %s', async (_what, body) => {
    const lines = [HOST, 'Content-Type: application/json', 'Connection: close'];
    expect(await answersTo(...post(lines, body))).toEqual(['400']);
  });
});

describe('attack 8: two lengths, two hosts, a bad host: 400, not cosigned, closed', () => {
  /** Would be cosigned, if it were taken for a request of its own. */
  const [smuggled] = [post([HOST]).join('')];

  test.each<[string, readonly string[]]>([
    [
      'a length beside chunks',
      ['Transfer-Encoding: chunked', `Content-Length: ${smuggled!.length + 5}`],
    ],
    [
      'the other way round',
      [`Content-Length: ${smuggled!.length + 5}`, 'Transfer-Encoding: chunked'],
    ],
    ['two lengths', ['Content-Length: 5', `Content-Length: ${smuggled!.length + 5}`]],
    ['an invalid length', ['Content-Length: 5, 5']],
    ['chunks that are not the last encoding', ['Transfer-Encoding: chunked, identity']],
    ['a space before the colon', ['Transfer-Encoding : chunked']],
  ])('%s', async (_what, lines) => {
    expect(await answersTo(...head([HOST, ...lines]), '0\r\n\r\n', smuggled!)).toEqual(['400']);
  });

  test.each<[string, readonly string[]]>([
    ['two hosts', [HOST, 'Host: other.example']],
    ['the same host twice', [HOST, HOST]],
    ['no host', []],
    ['an empty host', ['Host:']],
    ['two in one', ['Host: witness.example, other.example']],
    ['a user', ['Host: somebody@witness.example']],
    ['a path', ['Host: witness.example/../other']],
    ['a space', ['Host: witness example']],
    ['an invalid port', ['Host: witness.example:http']],
  ])('%s', async (_what, lines) => {
    expect(await answersTo(...post(lines), ...post([HOST]))).toEqual(['400']);
  });
});
