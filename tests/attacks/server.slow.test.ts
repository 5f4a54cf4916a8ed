/**
 * Attacks 31 to 49 of docs/design/threats.md, on a running server. Attack 41 is in
 * server.long.test.ts.
 */

import { MemoryStore } from '@assize/testing/memory';
import { expect, test } from 'vitest';
import { hashText, keyedHash } from '#canon';
import type { PrincipalConfig } from '#config';
import { credentialsOf } from '#server';
import { type Calling, callOperation, pay, succeed } from '../support/server/calling.ts';
import { headOf, sendRaw } from '../support/server/raw-http.ts';
import { problemFaults } from '../support/server/refusals.ts';
import {
  type Answered,
  PRINCIPALS,
  ROOT,
  start,
  type TestServer,
} from '../support/server/serving.ts';

const MAIN = { trajectory: 'main' };
const ME = '/v1/me';

async function expectRefused(
  answer: Promise<Answered> | Answered,
  status: number,
  code: string,
): Promise<void> {
  const { headers, ...rest } = await answer;
  expect(
    problemFaults({ ...rest, type: headers.get('content-type') ?? '' }, status, code),
    rest.text,
  ).toEqual([]);
}

async function waiting(server: TestServer, desk: string, more: Partial<Calling> = {}) {
  const { approval_id: id } = await succeed(server, 'proposals.create', pay(desk, 200, desk, more));
  const { approval } = await succeed(server, 'approvals.get', {
    as: 'boss:ada',
    path: { approval: id },
  });
  return { id, digest: approval.digest as string, approval };
}

test('attack 31: a guessed token: 401 with one text, whatever is wrong', async () => {
  const server = await start();
  const right = server.tokens['agent:scout'];
  const guesses = [
    ...[
      `${right.slice(0, -1)}${right.endsWith('0') ? '1' : '0'}`,
      right.slice(0, -1),
      `${right}0`,
      right.toUpperCase(),
    ],
    ...[
      right.replace('asz_', 'asz_0'),
      `asz_${'0'.repeat(16)}_${'0'.repeat(64)}`,
      'asz_',
      'asz__',
      `${right} ${right}`,
    ],
  ];
  const said = new Set<string>();
  for (const token of guesses) {
    const answer = await server.ask('GET', ME, { token });
    await expectRefused(answer, 401, 'unauthenticated');
    expect(answer.headers.get('www-authenticate')).toBe('Bearer');
    if (/^asz_/.test(token) && !token.includes(' ')) said.add(answer.body.detail);
  }
  expect(said.size).toBe(1);
  expect((await server.ask('GET', ME, { token: right })).status).toBe(200);
});

test('attack 32: a token that a database writer adds or widens: 401', async () => {
  const store = new MemoryStore();
  const server = await start({ store });
  const token = server.tokens['agent:scout'];
  const key = token.split('_')[1] as string;
  const row = (await store.sideGet('token', key)) as { version: number; body: string };
  const { mac, value } = JSON.parse(row.body);
  const forged = { ...value, kinds: ['admin', 'agent'], principal: 'admin:ann' };
  const bodies = [
    ...[
      { mac, value: forged },
      { value: forged },
      { mac: '', value: forged },
      { mac: [mac], value: forged },
    ],
    { mac: keyedHash(new Uint8Array(32), JSON.stringify(['token', key, forged])), value: forged },
    ...[forged, [], null, { mac, value: null }],
  ];
  let version = row.version;
  for (const body of bodies.map((one) => JSON.stringify(one))) {
    expect(await store.sidePut([{ kind: 'token', key, expected: version, body }])).toBe(true);
    version = ((await store.sideGet('token', key)) as { version: number }).version;
    await expectRefused(server.ask('GET', ME, { token }), 401, 'unauthenticated');
  }
  // A true row under the id of another token, or of another kind, is not that row.
  await store.sidePut([{ kind: 'token', key: 'f'.repeat(16), expected: null, body: row.body }]);
  await expectRefused(
    server.ask('GET', ME, { token: token.replace(key, 'f'.repeat(16)) }),
    401,
    'unauthenticated',
  );
  expect(
    (await succeed(server, 'tokens.list')).tokens.map(({ id }: { id: string }) => id),
  ).not.toContain(key);
});

test('attack 33: a revoked token: 401 immediately; its old row put back counts', async () => {
  const store = new MemoryStore();
  const server = await start({ store });
  const token = server.tokens['agent:scout'];
  const key = token.split('_')[1] as string;
  const { body } = (await store.sideGet('token', key)) as { body: string };
  await succeed(server, 'tokens.revoke', { path: { token: key } });
  await expectRefused(server.ask('GET', ME, { token }), 401, 'unauthenticated');
  // The limit: a writer of the database can put an earlier row back until the token expires.
  await store.sidePut([{ kind: 'token', key, expected: null, body }]);
  expect((await server.ask('GET', ME, { token })).status).toBe(200);
});

test('attack 34: a fixed session: a sign-in starts another, once a code', async () => {
  const server = await start();
  const link = new URL(await server.signInLink('boss:ada'));
  const fixed = `assize-session=${'a'.repeat(64)}`;
  const headers = { origin: server.url, cookie: fixed };
  const signIn = (code: string) => server.ask('POST', '/v1/session', { body: { code }, headers });
  const answer = await signIn(link.hash.slice(1));
  expect(answer).toMatchObject({ status: 201, body: { name: 'boss:ada' } });
  const cookie = answer.headers.get('set-cookie') as string;
  expect(cookie).toMatch(/^assize-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax$/);
  expect(cookie).not.toContain('a'.repeat(64));
  await expectRefused(
    server.ask('GET', ME, { headers: { cookie: fixed } }),
    401,
    'unauthenticated',
  );
  await expectRefused(signIn(link.hash.slice(1)), 401, 'sign_in_failed');
  await expectRefused(signIn('0'.repeat(64)), 401, 'sign_in_failed');
  const own = cookie.split(';')[0] as string;
  expect((await server.ask('GET', ME, { headers: { cookie: own } })).body.name).toBe('boss:ada');
  await server.ask('DELETE', '/v1/session', { headers: { cookie: own, origin: server.url } });
  await expectRefused(server.ask('GET', ME, { headers: { cookie: own } }), 401, 'unauthenticated');
});

test('a sign-in at a provider that ends in another browser is refused', async () => {
  const store = new MemoryStore();
  const oidc = { issuer: 'http://127.0.0.1:9', clientId: 'assize', principal: () => undefined };
  const server = await start({ store, server: { oidc } });
  const { sessions } = credentialsOf(store, ROOT);
  const now = server.service.clock.now();
  const state = await sessions.beginSignIn(
    { verifier: 'v', nonce: 'n', browser: hashText('b') },
    now,
  );
  const path = `/sign-in/callback?code=stolen&state=${state}`;
  for (const cookie of [
    '',
    'assize-sign-in=',
    `assize-sign-in=${'0'.repeat(64)}`,
    `other=${state}`,
  ])
    await expectRefused(server.ask('GET', path, { headers: { cookie } }), 401, 'sign_in_failed');
  await expectRefused(server.ask('GET', '/sign-in/callback?code=stolen'), 401, 'sign_in_failed');
  // None of them used the sign-in of the right browser up.
  expect(await sessions.endSignIn(state, 'b', now)).toMatchObject({ verifier: 'v' });
});

test('attack 35: a page of another site with the cookie: 403, no change', async () => {
  const server = await start();
  const { id, digest } = await waiting(server, 'a');
  const cookie = await server.cookieFor('boss:ada');
  const path = `/v1/approvals/${id}/approve`;
  const raw = JSON.stringify({ digest });
  const before = await server.contents();
  const sites = [
    'https://evil.example',
    'null',
    server.url.replace('http:', 'https:'),
    `${server.url}.evil.example`,
  ];
  for (const origin of sites)
    for (const type of [
      'application/json',
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data',
    ])
      await expectRefused(
        server.ask('POST', path, { raw, headers: { cookie, origin, 'content-type': type } }),
        403,
        'bad_origin',
      );
  await expectRefused(server.ask('POST', path, { raw, headers: { cookie } }), 403, 'bad_origin');
  // The page of the server itself sends JSON only, so a form of it changes nothing either.
  const own = { cookie, origin: server.url, 'content-type': 'text/plain' };
  await expectRefused(
    server.ask('POST', path, { raw, headers: own }),
    415,
    'unsupported_media_type',
  );
  const code = new URL(await server.signInLink('boss:ada')).hash.slice(1);
  const foreign = { origin: 'https://evil.example' };
  await expectRefused(
    server.ask('POST', '/v1/session', { body: { code }, headers: foreign }),
    403,
    'bad_origin',
  );
  await expectRefused(
    server.ask('DELETE', '/v1/session', { headers: { cookie, ...foreign } }),
    403,
    'bad_origin',
  );
  expect((before as any).heads).toEqual(((await server.contents()) as any).heads);
  const right = { cookie, origin: server.url };
  expect((await server.ask('POST', path, { raw, headers: right })).body.ruling).toBe('committed');
});

test('attack 36: a framed page, a sniffed type, a cached answer: forbidden', async () => {
  const server = await start();
  for (const path of ['/', '/sign-in', '/openapi.json', ME, '/v1/none', '/healthz']) {
    const { headers } = await server.ask('GET', path, { token: server.tokens['admin:ann'] });
    expect(headers.get('content-security-policy'), path).toMatch(
      /default-src 'none'.*frame-ancestors 'none'/,
    );
    expect(headers.get('x-content-type-options'), path).toBe('nosniff');
    expect(headers.get('cache-control'), path).toBe('no-store');
    expect(headers.get('referrer-policy'), path).toBe('no-referrer');
    expect(headers.get('access-control-allow-origin'), path).toBeNull();
    expect(headers.get('x-powered-by'), path).toBeNull();
  }
});

test('attack 37: another host name, also with a token (rebinding): 421', async () => {
  const server = await start();
  const names = [
    'evil.example',
    `evil.example:${server.port}`,
    '127.0.0.1',
    `127.0.0.1:${server.port}.evil.example`,
    '',
  ];
  for (const host of names) {
    const lines = [
      `Host: ${host}`,
      `Authorization: Bearer ${server.tokens['admin:ann']}`,
      'Connection: close',
    ];
    const [answer] = await sendRaw(server.port, headOf('GET', '/v1/tokens', lines), '\r\n');
    expect([400, 421], host).toContain(answer?.status);
    expect(answer?.text).not.toContain('admin:ann');
  }
  const none = await sendRaw(server.port, headOf('GET', '/healthz', ['Connection: close']), '\r\n');
  expect(none[0]?.status).toBe(400);
  const absolute = headOf('GET', 'http://evil.example/v1/me', [
    `Host: 127.0.0.1:${server.port}`,
    'Connection: close',
  ]);
  const [answer] = await sendRaw(server.port, absolute, '\r\n');
  expect([400, 401, 421]).toContain(answer?.status);
});

test('attack 38: two lengths, or a length and chunks: 400, and closed', async () => {
  const server = await start();
  const host = `Host: 127.0.0.1:${server.port}`;
  const token = `Authorization: Bearer ${server.tokens['admin:ann']}`;
  const hidden = headOf('POST', '/v1/trajectories', [
    host,
    token,
    'Content-Type: application/json',
    'Content-Length: 17',
  ]);
  const smuggled = `${hidden}\r\n{"domain":"till"}`;
  const before = await server.contents();
  for (const lines of [
    ['Content-Length: 5', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding: chunked', 'Content-Length: 5'],
    ['Content-Length: 0', 'Content-Length: 5'],
    ['Transfer-Encoding: xchunked'],
    ['Transfer-Encoding : chunked'],
    ['Content-Length: +5'],
    ['Content-Length: 5\n'],
  ]) {
    const answers = await sendRaw(
      server.port,
      headOf('POST', '/v1/verify', [host, token, ...lines]),
      '\r\n0\r\n\r\n',
      smuggled,
    );
    expect(
      answers.map(({ status }) => status),
      lines.join(),
    ).toEqual([400]);
  }
  expect(await server.contents()).toEqual(before);
  expect((await server.ask('GET', '/healthz')).status).toBe(200);
});

test('attack 39: a line break in a name: no new header and no new log line', async () => {
  const server = await start();
  const evil = 'x\r\nset-cookie: stolen=1\r\n\r\n{"level":"info","event":"forged"}\u2028';
  const token = server.tokens['admin:ann'];
  const body = { at: 'main@0', trajectory_id: evil, note: evil };
  const answers = [
    await callOperation(server, 'branches.create', { path: MAIN, body }),
    await callOperation(server, 'trajectories.get', { token, path: { trajectory: evil } }),
    await callOperation(server, 'tokens.create', { body: { principal: evil, days: 1 } }),
    await callOperation(server, 'proposals.create', pay(evil, 1, 'k')),
    await callOperation(server, 'writs.attenuate', {
      path: MAIN,
      body: {
        subject: `agent:scout/${evil}`,
        actions: ['pay'],
        scopes: ['role:clerk:s'],
        seconds: 60,
      },
    }),
    await server.ask('GET', '/v1/me?a=%0d%0aset-cookie:%20stolen=1', { token }),
  ];
  for (const { headers } of answers) expect(headers.get('set-cookie')).toBeNull();
  await expect.poll(() => server.lines.join()).toContain('"route":"writs.attenuate"');
  for (const line of server.lines) expect(JSON.parse(line).event).not.toBe('forged');
});

test('attack 40: 10^5 nested lists, 10^6 names, a long line: 400 or 413', async () => {
  const server = await start();
  const token = server.tokens['admin:ann'];
  const before = await server.contents();
  for (const [raw, status, code] of [
    [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, 400, 'too_complex'],
    [`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, 400, 'too_complex'],
    [
      `{${Array.from({ length: 90_000 }, (_, n) => `"${n}":0`).join()},"x":${'1'.repeat(9)}e999}`,
      400,
      'bad_input',
    ],
    [`"${'x'.repeat(2_000_000)}"`, 413, 'too_large'],
  ] as const)
    await expectRefused(server.ask('POST', '/v1/verify', { token, raw }), status, code);
  const target = headOf('GET', `/${'a'.repeat(20_000)}`, [
    `Host: 127.0.0.1:${server.port}`,
    'Connection: close',
  ]);
  expect([414, 431]).toContain((await sendRaw(server.port, target, '\r\n'))[0]?.status);
  // A body without an announced length is counted while it arrives.
  const chunked = headOf('POST', '/v1/verify', [
    ...[
      `Host: 127.0.0.1:${server.port}`,
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
    ],
    ...['Transfer-Encoding: chunked', 'Connection: close'],
  ]);
  const chunk = `${(65_536).toString(16)}\r\n${'1'.repeat(65_536)}\r\n`;
  const [answer] = await sendRaw(
    server.port,
    chunked,
    '\r\n',
    ...Array.from({ length: 32 }, () => chunk),
    '0\r\n\r\n',
  );
  expect(answer?.status).toBe(413);
  expect(await server.contents()).toEqual(before);
});

/** An agent that may also decide, in a world where its kind of counselor is the boss. */
const DOUBLE: PrincipalConfig = {
  kinds: ['agent', 'counselor'],
  grants: PRINCIPALS['agent:scout'].grants,
};

test('attack 42: an agent approves its own proposal, by any route: 403', async () => {
  const principals = { ...PRINCIPALS, 'boss:cat': DOUBLE, 'boss:dan': DOUBLE };
  const server = await start({ principals });
  const own = (server.tokens as Record<string, string>)['boss:cat'] as string;
  const { id, digest } = await waiting(server, 'a', { token: own });
  const refused = async (
    token: string,
    approval: string,
    shown: string,
    status = 403,
    code = 'unauthorised_counselor',
  ) => {
    const before = await server.contents();
    const decision = { token, path: { approval } };
    await expectRefused(
      callOperation(server, 'approvals.approve', { ...decision, body: { digest: shown } }),
      status,
      code,
    );
    await expectRefused(
      callOperation(server, 'approvals.reject', { ...decision, body: { reason: 'x' } }),
      status,
      code,
    );
    const many = { decision: 'approve', reason: 'x', items: [{ id: approval, digest: shown }] };
    const decided = await callOperation(server, 'approvals.decide', { token, body: many });
    if (status === 403 && decided.status === 200)
      expect(decided.body.results[0].problem.code).toBe(code);
    else expect(decided.status).toBe(status);
    expect(await server.contents()).toEqual(before);
  };
  // With its token, with a second token, and with a session of its own.
  await refused(own, id, digest);
  await refused(await server.tokenFor('boss:cat'), id, digest);
  const cookie = { cookie: await server.cookieFor('boss:cat'), origin: server.url };
  const asked = server.ask('POST', `/v1/approvals/${id}/approve`, {
    body: { digest },
    headers: cookie,
  });
  await expectRefused(asked, 403, 'unauthorised_counselor');
  // An agent alone is not a counselor, whatever its name.
  await refused(server.tokens['agent:scout'], id, digest, 403, 'forbidden');
  // Through a sub-agent: the sub-agent decides, or the agent decides for the sub-agent.
  const part = {
    subject: 'boss:cat/eva',
    actions: ['pay'],
    scopes: ['role:clerk:**'],
    seconds: 600,
  };
  const { token: sub } = await succeed(server, 'writs.attenuate', {
    token: own,
    path: MAIN,
    body: part,
  });
  await refused(sub, id, digest, 403, 'forbidden');
  const by = await waiting(server, 'sub', { token: sub });
  expect(by.approval).toMatchObject({
    requester: 'boss:cat/eva',
    deciders: ['boss:ada', 'boss:bob', 'boss:dan'],
  });
  await refused(own, by.id, by.digest);
  // A look-alike of its name may not be made.
  const alike = { ...part, subject: 'boss:c\u0430t/eva' };
  const made = await callOperation(server, 'writs.attenuate', {
    token: own,
    path: MAIN,
    body: alike,
  });
  expect(made.status, made.text).toBeGreaterThanOrEqual(400);
  // Another counselor may decide, also one that is an agent too.
  const other = (server.tokens as Record<string, string>)['boss:dan'] as string;
  const approved = { token: other, path: { approval: by.id }, body: { digest: by.digest } };
  expect((await succeed(server, 'approvals.approve', approved)).ruling).toBe('committed');
});

test('attack 43: an agent reads what is another’s: 403 or 404, no names', async () => {
  const server = await start();
  const token = server.tokens['agent:other'];
  const { id } = await waiting(server, 'secret-desk');
  const { entry_id: entry } = await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const said = { verb: 'assert', subject: 'secret-person', predicate: 'phone', object: '1' };
  await succeed(server, 'memory.state', {
    path: { ...MAIN, space: 'front' },
    key: 'm',
    body: said,
  });
  const lines = server.lines.length;
  const tries: [string, Calling, number][] = [
    ['trajectories.get', { path: MAIN }, 404],
    ['trajectories.state', { path: MAIN }, 403],
    ['trajectories.slice', { path: MAIN, query: { role: 'clerk', params: '{"desk":"a"}' } }, 404],
    [
      'trajectories.slice',
      { path: { trajectory: 'other' }, query: { role: 'clerk', params: '{"desk":"a"}' } },
      403,
    ],
    [
      'trajectories.slice',
      {
        path: { trajectory: 'other' },
        query: { role: 'clerk', params: '{"desk":"away"}', at: entry },
      },
      404,
    ],
    ['entries.list', { path: MAIN }, 403],
    ['entries.get', { path: { entry } }, 403],
    ['entries.proof', { path: { entry } }, 403],
    ['approvals.get', { path: { approval: id } }, 404],
    ['proposals.get', { path: { ...MAIN, key: 'k' } }, 404],
    ['proposals.get', { path: { trajectory: 'other', key: 'k' } }, 404],
    ['memory.recall', { path: { ...MAIN, space: 'front' }, body: {} }, 404],
    ['memory.recall', { path: { trajectory: 'other', space: 'front' }, body: {} }, 403],
    ['memory.history', { path: { ...MAIN, space: 'front' } }, 403],
    ['memory.keys', { path: { ...MAIN, space: 'front' } }, 403],
    ['log.export', {}, 403],
    ['writs.list', { path: MAIN }, 403],
    ['effects.list', {}, 403],
    ['tokens.list', {}, 403],
  ];
  for (const [operation, calling, status] of tries) {
    const answer = await callOperation(server, operation, { ...calling, token });
    expect(answer.status, `${operation} ${answer.text}`).toBe(status);
    expect(answer.text).not.toMatch(/secret-(desk|person)/);
    if (operation === 'approvals.get') expect(answer.body.evidence).toEqual({ id });
  }
  expect((await succeed(server, 'approvals.list', { token })).approvals).toEqual([]);
  expect((await succeed(server, 'trajectories.list', { token })).trajectories).toHaveLength(1);
  await expectRefused(server.ask('GET', '/v1/events', { token }), 403, 'forbidden');
  await expectRefused(server.ask('GET', '/metrics', { token }), 403, 'forbidden');
  expect(server.lines.slice(lines).join('')).not.toMatch(/secret-/);
});

test('attack 44: a token for a part of a grant widens itself: refused', async () => {
  const server = await start();
  const part = {
    subject: 'agent:scout/sub',
    actions: ['pay'],
    scopes: ['role:clerk:s'],
    seconds: 600,
  };
  const { token, writ } = await succeed(server, 'writs.attenuate', { path: MAIN, body: part });
  expect((await succeed(server, 'proposals.create', pay('s', 1, 's', { token }))).ruling).toBe(
    'committed',
  );
  const rejected = { ruling: 'rejected', reason: 'invalid_authority' };
  expect(await succeed(server, 'proposals.create', pay('a', 1, 'a', { token }))).toMatchObject(
    rejected,
  );
  const wire = {
    action: 'wire',
    role: { name: 'clerk', params: { desk: 's' } },
    args: { cents: 1 },
  };
  expect(
    await succeed(server, 'proposals.create', { ...pay('s', 1, 'w', { token }), body: wire }),
  ).toMatchObject(rejected);
  for (const trajectory of ['spare', 'other', 'cash']) {
    const there = { token, path: { trajectory } };
    await expectRefused(
      callOperation(server, 'proposals.create', pay('s', 1, 'x', there)),
      404,
      'not_found',
    );
    await expectRefused(callOperation(server, 'trajectories.get', there), 404, 'not_found');
  }
  expect((await succeed(server, 'trajectories.list', { token })).trajectories).toHaveLength(1);
  const recall = { token, path: { ...MAIN, space: 'front' }, body: {} };
  await expectRefused(callOperation(server, 'memory.recall', recall), 403, 'forbidden');
  const again = { token, path: MAIN, body: { ...part, subject: 'agent:scout/third' } };
  await expectRefused(callOperation(server, 'writs.attenuate', again), 403, 'forbidden');
  const child = {
    task: 'x',
    child_trajectory_id: 'child',
    subject: 'agent:scout/third',
    actions: ['pay'],
  };
  await expectRefused(
    callOperation(server, 'delegations.create', { token, path: MAIN, body: child }),
    403,
    'forbidden',
  );
  const presented = { ...(pay('s', 1, 'p', { token }).body as object), writ: { writ, chain: [] } };
  await expectRefused(
    callOperation(server, 'proposals.create', { ...pay('s', 1, 'p', { token }), body: presented }),
    403,
    'forbidden',
  );
  await expectRefused(
    callOperation(server, 'tokens.create', { token, body: { principal: 'agent:scout', days: 1 } }),
    403,
    'forbidden',
  );
  // The holder of the grant cannot make a token for a principal of the configuration either.
  const taken = { path: MAIN, body: { ...part, subject: 'admin:ann' } };
  await expectRefused(callOperation(server, 'writs.attenuate', taken), 403, 'forbidden');
});

const BUDGETED = {
  ...PRINCIPALS,
  'agent:scout': {
    kinds: ['agent'],
    grants: [
      {
        trajectories: ['main'],
        actions: ['tip'],
        scopes: ['role:clerk:**'],
        budget: { cents: 100 },
        maxDepth: 1,
      },
    ],
  },
} satisfies Record<string, PrincipalConfig>;

const tip = (desk: string, amount: number, key: string, more: Partial<Calling> = {}): Calling => ({
  ...pay(desk, amount, key, more),
  body: { action: 'tip', role: { name: 'clerk', params: { desk } }, args: { amount } },
});

test('attack 45: many short writs, two servers, sub-agents: one budget', async () => {
  const store = new MemoryStore();
  let offset = 0;
  const clock = {
    now: () => new Date(Date.now() - 3_600_000 + offset).toISOString().replace('Z', '000Z'),
  };
  const starting = { store, principals: BUDGETED, clock, server: { writSeconds: 60 } };
  const servers = [await start(starting), await start(starting)];
  const rulings: string[] = [];
  const part = {
    subject: 'agent:scout/sub',
    actions: ['tip'],
    budget: { cents: 100 },
    seconds: 80_000,
  };
  const { token: sub } = await succeed(servers[0] as TestServer, 'writs.attenuate', {
    path: MAIN,
    body: part,
  });
  for (let n = 0; n < 12; n++) {
    offset += 120_000;
    const server = servers[n % 2] as TestServer;
    const answers = await Promise.all([
      callOperation(server, 'proposals.create', tip(`d${n}`, 7, `k${n}`)),
      callOperation(server, 'proposals.create', tip(`s${n}`, 7, `s${n}`, { token: sub })),
    ]);
    for (const { body, text } of answers) rulings.push(body?.ruling ?? text);
  }
  expect(rulings.filter((one) => one === 'committed')).toHaveLength(14);
  expect(rulings.filter((one) => one === 'rejected')).toHaveLength(10);
  const { writs } = await succeed(servers[0] as TestServer, 'writs.list', { path: MAIN });
  expect(writs.length).toBeGreaterThan(5);
});

test('attack 46: a revoked agent proposes with a new short writ: rejected', async () => {
  let offset = 0;
  const clock = {
    now: () => new Date(Date.now() - 3_600_000 + offset).toISOString().replace('Z', '000Z'),
  };
  const server = await start({ clock, server: { writSeconds: 60 } });
  const part = {
    subject: 'agent:scout/sub',
    actions: ['pay'],
    scopes: ['role:clerk:**'],
    seconds: 80_000,
  };
  const { token: sub } = await succeed(server, 'writs.attenuate', { path: MAIN, body: part });
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  await succeed(server, 'writs.revoke', {
    path: { ...MAIN, writ: 'agent:scout' },
    body: { reason: 'left' },
  });
  for (let n = 0; n < 3; n++) {
    offset += 600_000;
    for (const more of [{}, { token: sub }, { token: await server.tokenFor('agent:scout') }]) {
      const ruling = await succeed(
        server,
        'proposals.create',
        pay('a', 1, `k${n}-${Object.keys(more)}-${Math.random()}`, more),
      );
      expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
    }
    const slice = {
      as: 'agent:scout',
      path: MAIN,
      query: { role: 'clerk', params: '{"desk":"a"}' },
    } as const;
    await expectRefused(callOperation(server, 'trajectories.slice', slice), 403, 'forbidden');
  }
});

test('attack 47: an approval for another, twice, late or changed: refused', async () => {
  const server = await start();
  const one = await waiting(server, 'one');
  const two = await waiting(server, 'two');
  const approve = (id: string, digest: string) =>
    callOperation(server, 'approvals.approve', { path: { approval: id }, body: { digest } });
  await expectRefused(approve(one.id, two.digest), 409, 'digest_mismatch');
  await expectRefused(approve(two.id, one.digest), 409, 'digest_mismatch');
  const racing = await Promise.all(Array.from({ length: 10 }, () => approve(one.id, one.digest)));
  expect(racing.filter(({ status }) => status === 200)).toHaveLength(1);
  for (const answer of racing.filter(({ status }) => status !== 200))
    await expectRefused(answer, 409, 'not_pending');
  await expectRefused(approve(one.id, one.digest), 409, 'not_pending');
  await expectRefused(
    callOperation(server, 'approvals.reject', {
      path: { approval: one.id },
      body: { reason: 'x' },
    }),
    409,
    'not_pending',
  );
  // An entry that is not a pending proposal has no approval.
  const { entry_id: entry } = await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  await expectRefused(approve(entry, one.digest), 404, 'not_found');
  const brief = await start({ config: { approvals: { timeoutMs: 300 } } });
  const late = await waiting(brief, 'late');
  const decision = { path: { approval: late.id }, body: { digest: late.digest } };
  // The server records the expiry by itself.
  const got = () => succeed(brief, 'approvals.get', { as: 'boss:ada', path: decision.path });
  await expect
    .poll(got, { timeout: 10_000 })
    .toMatchObject({ status: 'resolved', ruling: { ruling: 'rejected', reason: 'expired' } });
  await expectRefused(callOperation(brief, 'approvals.approve', decision), 409, 'not_pending');
  expect((await succeed(brief, 'trajectories.state', { path: MAIN })).state).toEqual({ desks: {} });
});

test('attack 48: a secret in a log, problem, metric, document or export', async () => {
  const secrets = ['webhook-secret-of-24-characters', 'client-secret-of-the-provider'];
  const server = await start({
    config: {
      notices: {
        webhooks: [
          { url: 'http://127.0.0.1:9/hook', secret: secrets[0] as string, allowPrivate: true },
        ],
      },
    },
    server: {
      oidc: {
        issuer: 'http://127.0.0.1:9',
        clientId: 'assize',
        clientSecret: secrets[1] as string,
        principal: () => undefined,
      },
    },
  });
  const cookie = await server.cookieFor('boss:ada');
  const code = new URL(await server.signInLink('boss:ada')).hash.slice(1);
  const { token: made } = await succeed(server, 'tokens.create', {
    body: { principal: 'agent:scout', days: 1 },
  });
  const part = {
    subject: 'agent:scout/sub',
    actions: ['pay'],
    scopes: ['role:clerk:s'],
    seconds: 600,
  };
  const { token: sub } = await succeed(server, 'writs.attenuate', { path: MAIN, body: part });
  const hidden = [
    ...secrets,
    ROOT.privateKey,
    cookie.split('=')[1] as string,
    code,
    made,
    sub,
    ...Object.values(server.tokens),
  ];
  const ends = hidden.map((one) => one.split('_').at(-1) as string);
  await waiting(server, 'a');
  await server.ask('GET', '/v1/me', { headers: { cookie } });
  await server.ask('GET', `/v1/me?token=${made}`, { token: made });
  await server.ask('GET', `/v1/trajectories/${sub}`, { token: 'Bearer' });
  await server.ask('POST', '/v1/verify', {
    token: server.tokens['admin:ann'],
    body: { [made]: made },
  });
  await server.ask('GET', '/sign-in/oidc');
  await server.ask('GET', `/sign-in/callback?code=${code}&state=x`);
  await server.ask('POST', '/v1/session', {
    body: { code: 'x', extra: code },
    headers: { origin: server.url },
  });
  await server.ask('POST', '/v1/session', { body: { code }, headers: { origin: server.url } });
  const admin = server.tokens['admin:ann'];
  const texts: [string, string][] = [['log', server.lines.join('')]];
  for (const path of [
    '/metrics',
    '/openapi.json',
    '/v1/export',
    '/v1/tokens',
    '/',
    '/sign-in',
    '/sign-in/oidc',
    '/v1/effects',
  ])
    texts.push([path, (await server.ask('GET', path, { token: admin })).text]);
  texts.push(['writs', (await callOperation(server, 'writs.list', { path: MAIN })).text]);
  for (const [place, text] of texts)
    for (const [n, end] of ends.entries())
      expect(text.includes(end), `secret ${n} is in ${place}`).toBe(false);
  await server.stop();
  for (const end of ends) expect(server.lines.join('')).not.toContain(end);
});

test('attack 49: the sign-in code reaches no server log: it is a fragment', async () => {
  const server = await start();
  const link = new URL(await server.signInLink('boss:ada'));
  expect([link.pathname, link.search]).toEqual(['/sign-in', '']);
  expect(link.hash).toMatch(/^#[0-9a-f]{64}$/);
  const { text, headers } = await server.ask('GET', '/sign-in');
  expect(text).toContain("history.replaceState(null, '', location.pathname)");
  expect(text.indexOf('replaceState')).toBeLessThan(text.indexOf('fetch('));
  expect(text).not.toMatch(/https?:\/\//);
  const [, nonce] = /<script nonce="([^"]+)">/.exec(text) ?? [];
  expect(headers.get('content-security-policy')).toContain(`script-src 'nonce-${nonce}'`);
  const again = await server.ask('GET', '/sign-in');
  expect(again.text).not.toContain(nonce);
  await expect(server.signInLink('boss:nobody')).rejects.toMatchObject({
    code: 'not_found',
    message: expect.stringContaining('The configuration has no principal boss:nobody.'),
  });
});
