/** `assize serve`, `assize token` and `assize api`: a server, its tokens, and every operation. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { endOf, runCommand, startCommand } from '../../../tests/support/process/command.ts';
import { OPERATIONS } from '../src/index.ts';

const STORE = 'sqlite:./desk.db';
const CONFIG = `
export default {
  worlds: { main: { domain: 'budget' } },
  principals: {
    'agent:scout': { kinds: ['agent'], grants: [{ actions: ['spend'], scopes: ['role:spender:ada'] }] },
    'admin:ann': { kinds: ['admin', 'auditor'] },
  },
};
`;

let folder: string;
let server: ChildProcess;
let url: string;
let log = '';

const assize = (...args: string[]) => runCommand(folder, STORE, ...args);

/** The document of a command that ended with that code. */
async function json(code: number, ...args: string[]): Promise<any> {
  const { code: found, out, err } = await assize(...args, '--json');
  expect({ code: found, err }, out).toEqual({ code, err: '' });
  return JSON.parse(out);
}

/** A file with a new token of the principal. */
async function tokenFile(principal: string): Promise<string> {
  const { token } = await json(0, 'token', 'create', principal);
  const name = `${principal.replace(':', '-')}.token`;
  writeFileSync(join(folder, name), `${token}\n`, { mode: 0o600 });
  return name;
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-serve-'));
  writeFileSync(join(folder, 'assize.config.ts'), CONFIG);
  server = startCommand(folder, STORE, 'serve', '--port', '0', '--json');
  server.stderr?.on('data', (piece: Buffer) => {
    log += piece.toString();
  });
  const [text] = (await once(server.stdout as NonNullable<ChildProcess['stdout']>, 'data')) as [
    Buffer,
  ];
  url = JSON.parse(text.toString()).url;
});

afterAll(async () => {
  const ended = endOf(server);
  server.kill('SIGTERM');
  const { code } = await ended;
  rmSync(folder, { recursive: true, force: true });
  expect(code).toBe(0);
});

test('a token is created, printed once, listed without its secret, and revoked', async () => {
  const plain = await assize(
    'token',
    'create',
    'agent:scout',
    '--days',
    '2',
    '--note',
    'for the build',
  );
  expect(plain).toMatchObject({ code: 0, err: '' });
  expect(plain.out).toMatch(/^asz_[0-9a-f]{16}_[0-9a-f]{64}\n$/);
  const made = await json(0, 'token', 'create', 'admin:ann', '--kind', 'auditor');
  expect(made).toMatchObject({
    principal: 'admin:ann',
    kinds: ['auditor'],
    token: expect.stringMatching(/^asz_/),
  });
  const { tokens } = await json(0, 'token', 'list');
  expect(JSON.stringify(tokens)).not.toContain(made.token.slice(-64));
  expect(tokens.map(({ id }: { id: string }) => id)).toContain(made.id);
  expect((await assize('token', 'list')).out).toContain('for the build');
  const file = 'revoked.token';
  writeFileSync(join(folder, file), made.token, { mode: 0o600 });
  expect((await json(0, 'api', 'principals.me', '--url', url, '--token-file', file)).kinds).toEqual(
    ['auditor'],
  );
  expect(await json(0, 'token', 'revoke', made.id)).toEqual({ revoked: made.id });
  const refused = await json(1, 'api', 'principals.me', '--url', url, '--token-file', file);
  expect(refused).toMatchObject({ status: 401, code: 'unauthenticated' });
  expect(await assize('token', 'revoke', made.id)).toMatchObject({ code: 2, out: '' });
});

test('a token for another principal, kind or time is refused', async () => {
  for (const [args, says] of [
    [['token', 'create', 'agent:nobody'], /agent:nobody/],
    [['token', 'create', 'agent:scout', '--kind', 'admin'], /not of the kind admin/],
    [['token', 'create', 'agent:scout', '--days', '366'], /days/],
    [['token', 'create', 'agent:scout', '--days', '0'], /days/],
    [['token', 'revoke', '0'.repeat(16)], /no token/],
    [['token', 'sign-in', 'boss:nobody'], /boss:nobody/],
  ] as const) {
    const { code, out, err } = await assize(...args);
    expect({ code, out }, err).toEqual({ code: 2, out: '' });
    expect(err).toMatch(says);
  }
});

test('a refused sign-in link creates no root key', async () => {
  const empty = mkdtempSync(join(tmpdir(), 'assize-serve-'));
  onTestFinished(() => rmSync(empty, { recursive: true }));
  const refused = await runCommand(empty, STORE, 'token', 'sign-in', 'admin:ann', '--url', url);
  expect(refused.code).toBe(2);
  expect(refused.err).toMatch(/does not exist/);
  expect(readdirSync(empty)).toEqual([]);
});

test('a sign-in link has its code in the fragment, and works once', async () => {
  const { sign_in: link } = await json(0, 'token', 'sign-in', 'admin:ann');
  const { hash, pathname } = new URL(link);
  expect(pathname).toBe('/sign-in');
  const signIn = () =>
    fetch(`${url}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: url },
      body: JSON.stringify({ code: hash.slice(1) }),
    });
  expect((await signIn()).status).toBe(201);
  expect((await signIn()).status).toBe(401);
});

test('a sign-in link has the address that clients use', async () => {
  let files = 0;
  const signIn = (server: string, ...more: string[]) => {
    files += 1;
    const file = `link-${files}.config.mjs`;
    writeFileSync(join(folder, file), CONFIG.replace('worlds:', `server: ${server}, worlds:`));
    return assize('token', 'sign-in', 'admin:ann', '--config', file, ...more);
  };
  const linkOf = async (...args: [string, ...string[]]) =>
    (await signIn(...args)).out.split('#')[0];
  const tls = "{ certFile: 'cert.pem', keyFile: 'key.pem' }";
  expect(await linkOf('{}')).toBe('http://127.0.0.1:4517/sign-in');
  expect(await linkOf(`{ host: 'desk.example', tls: ${tls} }`)).toBe(
    'https://desk.example:4517/sign-in',
  );
  const proxied = "{ host: '10.0.0.5', behindProxy: true, publicUrl: 'https://desk.example' }";
  expect(await linkOf(proxied)).toBe('https://desk.example/sign-in');
  expect(await linkOf(proxied, '--url', 'https://test.example/')).toBe(
    'https://test.example/sign-in',
  );
  for (const [server, ...more] of [['{ port: 0 }'], ['{}', '--url', 'desk.example']] as const)
    expect(await signIn(server, ...more)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringContaining('--url'),
    });
});

test('each operation is a command with its path, its query and its body', async () => {
  const { out } = await assize('api', '--help');
  for (const { id } of OPERATIONS) expect(out).toContain(id);
  for (const { id, params, query, body, needsKey } of OPERATIONS) {
    const help = (await assize('api', id, '--help')).out;
    for (const name of [...Object.keys(params?.shape ?? {}), ...Object.keys(query?.shape ?? {})])
      expect(help, id).toContain(`--${name.replaceAll('_', '-')} <text>`);
    expect(help.includes('--body <json>'), id).toBe(body !== undefined);
    expect(help.includes('the same again for a'), id).toBe(needsKey === true);
  }
});

test('an agent proposes and reads its ruling; a refusal is a problem, exit 1', async () => {
  const file = await tokenFile('agent:scout');
  const admin = await tokenFile('admin:ann');
  const at = ['--url', url, '--token-file', file, '--trajectory', 'main'];
  const spend = (amount: number) =>
    JSON.stringify({
      action: 'spend',
      role: { name: 'spender', params: { agent: 'ada' } },
      args: { amount },
    });
  writeFileSync(join(folder, 'spend.json'), spend(10));
  const committed = await json(
    0,
    'api',
    'proposals.create',
    ...at,
    '--key',
    'k',
    '--body',
    '@spend.json',
  );
  expect(committed.ruling).toBe('committed');
  expect(
    await json(0, 'api', 'proposals.create', ...at, '--key', 'k', '--body', spend(10)),
  ).toEqual(committed);
  expect(await json(0, 'api', 'proposals.get', ...at, '--key', 'k')).toEqual(committed);
  const conflict = await json(
    1,
    'api',
    'proposals.create',
    ...at,
    '--key',
    'k',
    '--body',
    spend(11),
  );
  expect(conflict).toMatchObject({ status: 409, code: 'idempotency_conflict' });
  const bad = await json(
    1,
    'api',
    'proposals.create',
    ...at,
    '--key',
    'k2',
    '--body',
    '{"action":"spend"}',
  );
  expect(bad).toMatchObject({ status: 400, findings: expect.any(Array) });
  const typed = await assize(
    'api',
    'proposals.create',
    ...at,
    '--key',
    'k3',
    '--body',
    "{'action':'spend'}",
  );
  expect([typed.code, typed.err]).toEqual([
    2,
    expect.stringMatching(/--body .* not JSON at column 2: .* single quotes/),
  ]);
  expect(await json(1, 'api', 'log.export', '--url', url, '--token-file', file)).toMatchObject({
    code: 'forbidden',
  });
  const exported = await assize('api', 'log.export', '--url', url, '--token-file', admin);
  expect(
    exported.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line)).length,
  ).toBeGreaterThan(1);
  const there = ['--url', url, '--token-file', admin];
  await json(0, 'api', 'checkpoints.create', ...there);
  const zip = join(folder, 'b.zip');
  const asked = ['api', 'bundles.make', '--entry', committed.entry_id, '--out', zip];
  expect(await json(0, ...asked, ...there)).toEqual({ file: zip });
  expect(await json(0, 'bundle', '--verify', zip)).toMatchObject({
    valid: true,
    in_scope: [committed.entry_id],
  });
  const listed = await json(
    0,
    'api',
    'entries.list',
    '--url',
    url,
    '--token-file',
    admin,
    '--trajectory',
    'main',
    '--limit',
    '1',
  );
  expect(listed.entries).toHaveLength(1);
});

test('without a token, a server, JSON or a required option, exit 2', async () => {
  const file = await tokenFile('agent:scout');
  const other = createServer((_, response) => response.end('<html>')).listen(0, '127.0.0.1');
  await once(other, 'listening');
  const html = `http://127.0.0.1:${(other.address() as AddressInfo).port}`;
  for (const [args, says] of [
    [['api', 'principals.me', '--url', url], /token is missing/],
    [['api', 'principals.me', '--url', url, '--token-file', 'none.token'], /none\.token/],
    [
      ['api', 'principals.me', '--url', 'http://127.0.0.1:9', '--token-file', file],
      /does not answer/,
    ],
    [
      ['api', 'principals.me', '--url', 'nothing', '--token-file', file],
      /'nothing' is not the address of a server/,
    ],
    [['api', 'principals.me', '--url', html, '--token-file', file], /not JSON/],
    [['api', 'trajectories.get', '--url', url, '--token-file', file], /--trajectory/],
    [
      ['api', 'log.verify', '--url', url, '--token-file', file, '--body', '@none.json'],
      /none\.json/,
    ],
    [['api', 'no.operation'], /no\.operation|unknown/],
  ] as const) {
    const { code, err } = await assize(...args);
    expect(code, `${args.join(' ')}: ${err}`).toBe(2);
    expect(err).toMatch(says);
  }
  other.close();
});

test('no secret of the server is in the store, in another file or in its log', async () => {
  const key = readFileSync(join(folder, 'desk.db.root.key'), 'utf8').trim();
  const file = await tokenFile('admin:ann');
  const token = readFileSync(join(folder, file), 'utf8').trim();
  await json(0, 'api', 'principals.me', '--url', url, '--token-file', file);
  const { sign_in: link } = await json(0, 'token', 'sign-in', 'admin:ann');
  const secrets = [key, token.slice(-64), (link as string).split('#')[1] as string];
  expect(secrets.map((secret) => secret.length)).toEqual([64, 64, 64]);
  expect(statSync(join(folder, 'desk.db.root.key')).mode & 0o077).toBe(0);
  const others = readdirSync(folder).filter((name) => !/\.token$|\.root\.key$/.test(name));
  expect(others).toContain('desk.db');
  await expect.poll(() => log).toContain('"route":"principals.me"');
  const texts = [log, ...others.map((name) => readFileSync(join(folder, name), 'latin1'))];
  for (const secret of secrets) expect(texts.filter((text) => text.includes(secret))).toEqual([]);
});
