/** Waits, entity tags, cursors, interrupts and halts, as clients of the API see them. */
import { setTimeout as pause } from 'node:timers/promises';
import { declareTool } from 'assize/internal/effects';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { callOperation, pay, succeed } from '../../../../tests/support/server/calling.ts';
import { headOf, sendRaw } from '../../../../tests/support/server/raw-http.ts';
import { problemFaults } from '../../../../tests/support/server/refusals.ts';
import { type Answered, start, type TestServer } from '../../../../tests/support/server/serving.ts';

const MAIN = { trajectory: 'main' };

async function waiting(
  server: TestServer,
  desk: string,
  key: string,
): Promise<{ id: string; digest: string }> {
  const { approval_id: id } = await succeed(server, 'proposals.create', pay(desk, 200, key));
  const { approval } = await succeed(server, 'approvals.get', {
    as: 'boss:ada',
    path: { approval: id },
  });
  return { id, digest: approval.digest };
}

function faults({ status, text, body, headers }: Answered, wanted: number, code: string): string[] {
  return problemFaults(
    { status, text, body, type: headers.get('content-type') ?? '' },
    wanted,
    code,
  );
}

test('Prefer: wait answers with the decision, for a proposal and an approval', async () => {
  const server = await start();
  const headers = { prefer: 'respond-async, wait=60' };
  const proposal = succeed(server, 'proposals.create', pay('a', 200, 'k', { headers }));
  const listed = async () =>
    (await succeed(server, 'approvals.list', { as: 'boss:ada' })).approvals;
  await expect.poll(listed).toHaveLength(1);
  const [{ id, digest }] = await listed();
  const watched = succeed(server, 'approvals.get', {
    as: 'agent:scout',
    path: { approval: id },
    headers,
  });
  await succeed(server, 'approvals.approve', { path: { approval: id }, body: { digest } });
  expect((await proposal).ruling).toBe('committed');
  expect(await watched).toMatchObject({ status: 'resolved', ruling: { ruling: 'committed' } });
});

test('Prefer: wait ends with the pending ruling after its time', async () => {
  const server = await start();
  const begun = performance.now();
  const answer = await callOperation(
    server,
    'proposals.create',
    pay('a', 200, 'k', { headers: { prefer: 'wait=1' } }),
  );
  expect(answer).toMatchObject({ status: 202, body: { ruling: 'escalated' } });
  expect(answer.headers.get('location')).toBe(`/v1/approvals/${answer.body.approval_id}`);
  expect(performance.now() - begun).toBeGreaterThan(900);
});

test('a frozen proposal that waits is ruled when the freeze ends', async () => {
  const server = await start();
  const { id } = await waiting(server, 'a', 'first');
  const frozen = succeed(
    server,
    'proposals.create',
    pay('a', 5, 'second', { headers: { prefer: 'wait=60' } }),
  );
  await pause(50);
  await succeed(server, 'approvals.reject', { path: { approval: id }, body: { reason: 'no' } });
  expect((await frozen).ruling).toBe('committed');
});

test('a stop ends waits, answers what is in progress, then closes', async () => {
  const [asked, paid] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const slow = declareTool({
    ...{ name: 'bank.pay', input: z.object({ cents: z.number() }), writes: ['bank:**'] },
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
    execute: async () => {
      asked.resolve();
      await paid.promise;
    },
  });
  const server = await start({ config: { tools: [slow] } });
  const body = {
    action: 'wire',
    role: { name: 'clerk', params: { desk: 'a' } },
    args: { cents: 5 },
  };
  const wired = callOperation(server, 'proposals.create', { path: MAIN, key: 'w', body });
  await asked.promise;
  const headers = { prefer: 'wait=60' };
  const waits = callOperation(server, 'proposals.create', pay('b', 200, 'k', { headers }));
  await expect.poll(async () => (await succeed(server, 'approvals.list')).approvals.length).toBe(1);
  const stopped = server.stop();
  expect(faults(await waits, 503, 'stopping')).toEqual([]);
  // The call is in progress, so the listener takes new connections.
  const ready = await server.ask('GET', '/readyz', { headers: { connection: 'close' } });
  expect(faults(ready, 503, 'stopping')).toEqual([]);
  const late = await callOperation(server, 'proposals.create', pay('c', 5, 'late'));
  expect(faults(late, 503, 'stopping')).toEqual([]);
  expect(late.headers.get('retry-after')).toBe('1');
  paid.resolve();
  expect(await wired).toMatchObject({ status: 200, body: { ruling: 'committed' } });
  await stopped;
  await expect(server.ask('GET', '/readyz')).rejects.toThrow();
});

test('a stop answers a waiting request with stopping, and the proposal stays', async () => {
  const server = await start();
  const headers = { prefer: 'wait=60' };
  const answer = callOperation(server, 'proposals.create', pay('a', 200, 'k', { headers }));
  await expect.poll(async () => (await succeed(server, 'approvals.list')).approvals.length).toBe(1);
  await server.stop();
  expect(faults(await answer, 503, 'stopping')).toEqual([]);
  const next = await start({ store: server.store });
  expect(await succeed(next, 'proposals.create', pay('a', 200, 'k'))).toMatchObject({
    ruling: 'escalated',
  });
  expect((await succeed(next, 'approvals.list')).approvals).toHaveLength(1);
});

test('the log and the metrics name the route of each request', async () => {
  const server = await start();
  await succeed(server, 'principals.me');
  for (const path of ['/sign-in', '/readyz', '/v1/none']) await server.ask('GET', path);
  const metrics = (
    await server.ask('GET', '/metrics', { token: await server.tokenFor('auditor:eve') })
  ).text;
  await server.stop();
  const routes = server.lines
    .map((text) => JSON.parse(text))
    .flatMap(({ event, route }) => (event === 'request' ? route : []));
  expect(routes).toEqual(['principals.me', '/sign-in', '/readyz', 'other', '/metrics']);
  for (const route of routes.slice(0, 4)) expect(metrics).toContain(`"${route}"`);
});

test('an entity tag that the client has is answered with 304', async () => {
  const server = await start();
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  for (const [id, calling] of [
    ['trajectories.get', { path: MAIN }],
    ['trajectories.state', { path: MAIN }],
    ['entries.list', { as: 'boss:ada', path: MAIN }],
    ['entries.get', { as: 'boss:ada', path: { entry: 'main@1' } }],
    ['domains.get', { path: { domain: 'till' } }],
  ] as const) {
    const tag = (await callOperation(server, id, calling)).headers.get('etag') ?? '';
    expect(tag, id).toMatch(/^"[0-9a-z-]+"$/);
    for (const header of [tag, `W/${tag}`, `"other", ${tag}`, '*']) {
      const answer = await callOperation(server, id, {
        ...calling,
        headers: { 'if-none-match': header },
      });
      expect(
        { status: answer.status, text: answer.text, tag: answer.headers.get('etag') },
        id,
      ).toEqual({
        status: 304,
        text: '',
        tag,
      });
    }
    const other = await callOperation(server, id, {
      ...calling,
      headers: { 'if-none-match': '"other"' },
    });
    expect(other.status, id).toBe(200);
  }
  const path = { as: 'boss:ada', path: MAIN } as const;
  const before =
    (await callOperation(server, 'trajectories.state', path)).headers.get('etag') ?? '';
  await succeed(server, 'proposals.create', pay('a', 1, 'k2'));
  const after = await callOperation(server, 'trajectories.state', {
    ...path,
    headers: { 'if-none-match': before },
  });
  expect(after.status).toBe(200);
});

test('an erased, approved or halted value changes its entity tag', async () => {
  const server = await start();
  const { id } = await waiting(server, 'a', 'k');
  const tagOf = async (operation: string, path: Record<string, string>) =>
    (await callOperation(server, operation, { as: 'boss:ada', path })).headers.get('etag');
  const before = [
    await tagOf('approvals.get', { approval: id }),
    await tagOf('trajectories.get', MAIN),
  ];
  await succeed(server, 'approvals.reject', { path: { approval: id }, body: { reason: 'no' } });
  const after = [
    await tagOf('approvals.get', { approval: id }),
    await tagOf('trajectories.get', MAIN),
  ];
  expect(after[0]).not.toBe(before[0]);
  expect(after[1]).not.toBe(before[1]);
});

/** Calls `change` between the pages. */
async function walked(
  server: TestServer,
  id: string,
  list: string,
  calling: { path?: Record<string, string>; query?: Record<string, string> },
  change: () => Promise<unknown>,
  cursorName = 'cursor',
): Promise<any[]> {
  const found: any[] = [];
  for (let cursor: string | undefined; ; ) {
    const query = {
      ...calling.query,
      limit: '2',
      ...(cursor !== undefined && { [cursorName]: cursor }),
    };
    const page = await succeed(server, id, { as: 'boss:ada', ...calling, query });
    expect(page[list].length).toBeLessThanOrEqual(2);
    found.push(...page[list]);
    if (page.next === undefined) return found;
    cursor = page.next;
    await change();
  }
}

test('a walk over the pages of entries is the whole list, under appends', async () => {
  const server = await start();
  for (let n = 0; n < 5; n++) await succeed(server, 'proposals.create', pay('a', 1, `k${n}`));
  let appended = 0;
  const change = async () => {
    if (appended < 3) await succeed(server, 'proposals.create', pay('a', 1, `more${appended++}`));
  };
  const seen = await walked(server, 'entries.list', 'entries', { path: MAIN }, change, 'from');
  expect(seen.map(({ seq }) => seq)).toEqual(Array.from({ length: 6 + appended }, (_, seq) => seq));
});

test('a walk over the pages of approvals misses none, under decisions', async () => {
  const server = await start();
  const made: { id: string; digest: string }[] = [];
  for (const desk of ['a', 'b', 'c', 'd', 'e', 'f', 'g'])
    made.push(await waiting(server, desk, desk));
  // Each time the last approval of the page before is decided, and a new one is made.
  let at = 1;
  const change = async () => {
    const decided = made[at];
    at += 2;
    if (decided === undefined) return;
    const { id, digest } = decided;
    await succeed(server, 'approvals.approve', { path: { approval: id }, body: { digest } });
    await waiting(server, `new-${at}`, `new-${at}`);
  };
  const seen = await walked(server, 'approvals.list', 'approvals', {}, change);
  const ids = seen.map(({ id }) => id);
  expect(ids.slice(0, 7)).toEqual(made.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  const bad = await callOperation(server, 'approvals.list', { query: { cursor: 'x' } });
  expect(faults(bad, 400, 'invalid_request')).toEqual([]);
});

test('a walk over the pages of trajectories misses none, under new ones', async () => {
  const server = await start();
  let n = 0;
  const change = async () => {
    n += 1;
    if (n < 4)
      await succeed(server, 'trajectories.create', {
        body: { domain: 'till', trajectory_id: `z${n}` },
      });
  };
  const seen = await walked(server, 'trajectories.list', 'trajectories', {}, change);
  expect(seen.map(({ trajectory_id }) => trajectory_id)).toEqual([
    'cash',
    'main',
    'other',
    'spare',
    'z1',
    'z2',
  ]);
});

test('a walk over the pages of effects is the whole list, newest first', async () => {
  const server = await start();
  const role = (desk: string) => ({ name: 'clerk', params: { desk } });
  for (let n = 1; n <= 5; n++) {
    const body = { action: 'wire', role: role(`${n}`), args: { cents: n } };
    await succeed(server, 'proposals.create', { ...pay('a', 1, `k${n}`), body });
  }
  const seen = await walked(
    server,
    'effects.list',
    'transactions',
    { query: { all: 'true' } },
    async () => undefined,
  );
  const epochs = seen.map(({ epoch }) => epoch);
  expect(epochs).toEqual([...epochs].sort((a, b) => b - a));
  expect(new Set(epochs).size).toBe(5);
});

test('a client of AG-UI gets an escalation as an interrupt', async () => {
  const server = await start({ config: { approvals: { timeoutMs: 60_000 } } });
  const headers = { accept: 'application/vnd.ag-ui+json, application/json;q=0.5' };
  const answer = await callOperation(server, 'proposals.create', pay('a', 200, 'k', { headers }));
  expect(answer).toMatchObject({ status: 202, body: { outcome: { type: 'interrupt' } } });
  expect(answer.headers.get('content-type')).toBe('application/vnd.ag-ui+json');
  const [interrupt] = answer.body.outcome.interrupts;
  const { approval } = await succeed(server, 'approvals.get', {
    as: 'boss:ada',
    path: { approval: interrupt.id },
  });
  expect(interrupt).toMatchObject({
    reason: 'approval_required',
    message: '/desks/a: more than 100',
    expiresAt: expect.stringMatching(/Z$/),
    responseSchema: { required: ['decision'] },
    metadata: { trajectory_id: 'main', channel: 'boss', invariant_id: 'LARGE' },
  });
  expect(approval.id).toBe(interrupt.id);
  const committed = await callOperation(server, 'proposals.create', pay('b', 1, 'k2', { headers }));
  expect(committed.body.ruling).toBe('committed');
  expect(committed.headers.get('content-type')).toBe('application/json');
});

test('a halted trajectory rules on nothing until it is resumed', async () => {
  const server = await start();
  const { id, digest } = await waiting(server, 'a', 'k');
  await succeed(server, 'trajectories.halt', { path: MAIN, body: { reason: 'an audit' } });
  const before = await server.contents();
  const proposed = await callOperation(server, 'proposals.create', pay('b', 1, 'k2'));
  expect(faults(proposed, 409, 'halted')).toEqual([]);
  const approved = await callOperation(server, 'approvals.approve', {
    path: { approval: id },
    body: { digest },
  });
  expect(faults(approved, 409, 'halted')).toEqual([]);
  const said = { verb: 'assert', subject: 'ada', predicate: 'phone', object: '1' };
  const stated = await callOperation(server, 'memory.state', {
    path: { ...MAIN, space: 'front' },
    key: 'm',
    body: said,
  });
  expect(faults(stated, 409, 'halted')).toEqual([]);
  expect(await server.contents()).toEqual(before);
  await succeed(server, 'trajectories.resume', { path: MAIN, body: { reason: 'done' } });
  expect((await succeed(server, 'proposals.create', pay('b', 1, 'k2'))).ruling).toBe('committed');
  const again = await callOperation(server, 'trajectories.resume', {
    path: MAIN,
    body: { reason: 'done' },
  });
  expect(faults(again, 409, 'already_done')).toEqual([]);
});

test('an override without a reason is refused, at the reason', async () => {
  const server = await start();
  const { id, digest } = await waiting(server, 'a', 'k');
  const before = await server.contents();
  const approved = (more: object) =>
    callOperation(server, 'approvals.approve', {
      path: { approval: id },
      body: { digest, args: { amount: 2_000 }, ...more },
    });
  for (const more of [{ override: true }, { override: true, reason: ' \n' }]) {
    const refused = await approved(more);
    expect(faults(refused, 400, 'invalid_request')).toEqual([]);
    expect(
      refused.body.findings.map(({ pointer }: { readonly pointer: string }) => pointer),
    ).toEqual(['/body/reason']);
    expect(await server.contents()).toEqual(before);
  }
  expect(faults(await approved({ override: false }), 409, 'override_needed')).toEqual([]);
  expect((await approved({ override: true, reason: 'paid by hand' })).body.ruling).toBe(
    'committed',
  );
  for (const text of ['OverRide', 'large'])
    expect(
      (await succeed(server, 'entries.list', { path: MAIN, query: { text, ruling: 'committed' } }))
        .entries,
    ).toEqual([
      expect.objectContaining({
        overrides: [{ principal: 'boss:ada', violations: [expect.anything()] }],
      }),
    ]);
});

test('conflicts have their codes, and append nothing', async () => {
  const server = await start();
  await succeed(server, 'proposals.create', pay('a', 1, 'k'));
  const { id, digest } = await waiting(server, 'b', 'k2');
  const before = await server.contents();
  const refused = async (
    id: string,
    calling: Parameters<typeof callOperation>[2],
    status: number,
    code: string,
    detail = '',
  ) => {
    const answer = await callOperation(server, id, calling);
    expect(faults(answer, status, code), `${id} ${code}`).toEqual([]);
    expect(answer.body.detail).toContain(detail);
  };
  await refused('proposals.create', pay('a', 2, 'k'), 409, 'idempotency_conflict');
  await refused(
    'trajectories.create',
    { body: { domain: 'till', trajectory_id: 'main' } },
    409,
    'exists',
  );
  await refused('trajectories.create', { body: { domain: 'none' } }, 404, 'not_found');
  await refused(
    'trajectories.create',
    { body: { domain: 'till', initial: { desks: 1 } } },
    400,
    'invalid_state',
  );
  await refused(
    'approvals.approve',
    { path: { approval: id }, body: { digest: '0'.repeat(64) } },
    409,
    'digest_mismatch',
  );
  await refused('approvals.get', { path: { approval: '0'.repeat(64) } }, 404, 'not_found');
  await refused(
    'trajectories.state',
    { path: MAIN, query: { pointer: 'desks' } },
    400,
    'bad_input',
  );
  await refused(
    'trajectories.state',
    { path: MAIN, query: { pointer: '/desks/__proto__' } },
    404,
    'not_found',
  );
  await refused('trajectories.state', { path: MAIN, query: { at: 'other@0' } }, 404, 'not_found');
  const slice = { role: 'clerk', params: '{"desk":1}' };
  await refused('trajectories.slice', { path: MAIN, query: slice }, 400, 'invalid_request');
  const front = { ...MAIN, space: 'front' };
  for (const cursor of ['x', 'x.', 'YQ.YQ.YQ'])
    await refused('memory.keys', { path: front, query: { cursor } }, 400, 'invalid_request');
  await refused(
    'trajectories.slice',
    { path: MAIN, query: { role: 'constructor' } },
    404,
    'not_found',
  );
  await refused('log.export', { query: { size: '100000' } }, 404, 'not_found');
  await refused('backtests.run', { body: { trajectories: ['main'] } }, 400, 'invalid_request');
  const both = { trajectories: ['main'], rules_file: 'id: a', domain_hash: 'x' };
  await refused('backtests.run', { body: both }, 400, 'invalid_request');
  await refused(
    'backtests.run',
    { body: { trajectories: ['main'], rules: { no: 1 } } },
    400,
    'bad_input',
    'The rule table',
  );
  const wide = { subject: 'agent:scout/sub', actions: ['**'], seconds: 60 };
  await refused('writs.attenuate', { path: MAIN, body: wide }, 400, 'not_attenuated');
  const branch = { at: 'main@1', trajectory_id: 'ma in', note: 'x' };
  await refused('branches.create', { path: MAIN, body: branch }, 400, 'bad_argument');
  await refused(
    'branches.create',
    { path: MAIN, body: { ...branch, trajectory_id: 'a\r\nset-cookie: b' } },
    400,
    'bad_argument',
  );
  expect(await server.contents()).toEqual(before);
  expect(digest).toMatch(/^[0-9a-f]{64}$/);
});

test('names with any character are refused or not found, and never a fault', async () => {
  const server = await start();
  const names = [
    '\u0000',
    'a\u0000b',
    '\r\n',
    'é',
    '世界',
    '\u2028',
    '../../../../tests/e2e',
    '.',
    '%',
    '/',
    '\\',
    '😀',
    ' ',
    'a'.repeat(512),
  ];
  for (const name of names) {
    for (const [id, calling] of [
      ['trajectories.get', { path: { trajectory: name } }],
      ['entries.list', { path: { trajectory: name } }],
      ['entries.get', { path: { entry: `${name}@0` } }],
      ['proposals.get', { path: { trajectory: 'main', key: name } }],
      ['memory.recall', { path: { trajectory: 'main', space: name }, body: {} }],
      ['branches.list', { path: { trajectory: name } }],
      ['log.verify', { body: { trajectories: [name] } }],
      ['branches.create', { path: MAIN, body: { at: 'main@0', trajectory_id: name, note: 'x' } }],
      ['trajectories.slice', { path: MAIN, query: { role: name } }],
      ['proposals.create', pay(name, 1, `k${name.length}`)],
    ] as const) {
      const answer = await callOperation(server, id, { ...calling } as never);
      expect(answer.status, `${id} ${JSON.stringify(name)} ${answer.text}`).toBeLessThan(500);
      if (answer.headers.get('content-type') === 'application/problem+json')
        expect(
          faults(answer, answer.status, answer.body.code),
          `${id} ${JSON.stringify(name)}`,
        ).toEqual([]);
    }
  }
  expect(server.lines.filter((line) => line.includes('"level":"error"'))).toEqual([]);
  expect(await succeed(server, 'log.verify', { body: {} })).toMatchObject({ valid: true });
});

test('a probe by another host name gets the health, and nothing else', async () => {
  const server = await start();
  const lines = ['Host: 10.1.2.3:4517', 'Connection: close'];
  const statusOf = async (path: string) =>
    (await sendRaw(server.port, headOf('GET', path, lines), '\r\n'))[0]?.status;
  expect([
    await statusOf('/healthz'),
    await statusOf('/readyz'),
    await statusOf('/openapi.json'),
  ]).toEqual([200, 200, 421]);
});

test('an existing world of an unknown domain, and a used port, stop the start', async () => {
  const server = await start();
  const worlds = { main: { domain: 'tilll' } };
  await expect(start({ store: server.service.store, config: { worlds } })).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('tilll is not: the nearest is till'),
  });
  await expect(start({ server: { port: server.port } })).rejects.toMatchObject({
    code: 'bad_config',
    message: expect.stringContaining('Stop that program, or choose'),
  });
});
