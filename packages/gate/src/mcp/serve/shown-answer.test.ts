import { expect, test } from 'vitest';
import {
  ledgerClient,
  pay,
  personWho,
  textOf,
} from '../../../../../tests/support/mcp/ledger-client.ts';
import { start } from '../../../../../tests/support/server/serving.ts';

test('texts of agents are shown with their invisible characters', async () => {
  const server = await start();
  const hidden = 'a\u202eb\u{e0041}c';
  await pay(server, 500, 'hidden', hidden);
  const { asked, person } = personWho({ action: 'decline' });
  const { client, call, close } = await ledgerClient(server, {
    as: 'boss:ada',
    decides: true,
    person,
  });
  const listed = await call('approvals_list');
  expect(JSON.stringify(listed)).toContain('a\\\\u{202e}b\\\\u{e0041}c');
  expect(JSON.stringify(listed)).not.toMatch(/[\u202e\u{e0041}]/u);
  const [{ id, digest }] = listed.structuredContent.approvals;
  await call('approvals_approve', { approval: id, digest });
  expect(asked[0]).toContain('a\\u{202e}b\\u{e0041}c');
  expect(asked[0]).not.toMatch(/[\u202e\u{e0041}]/u);
  const resources = JSON.stringify(await client.listResources());
  expect(resources).not.toMatch(/[\u202e\u{e0041}]/u);
  await close();
});

test('a long answer comes in parts that make the whole', async () => {
  const server = await start();
  const long = {
    trajectories: Array.from({ length: 9_000 }, (_, n) => ({
      note: `№ ${n} \u200b${'№'.repeat(n % 7)}`,
    })),
  };
  const { call, close } = await ledgerClient(server, {
    as: 'auditor:eve',
    wrap: (ask) => (path, init) =>
      path.startsWith('/v1/trajectories') ? Promise.resolve(Response.json(long)) : ask(path, init),
  });
  const first = await call('trajectories_list');
  const { answer, parts } = first.structuredContent;
  expect(parts).toBeGreaterThan(3);
  expect(textOf(first)).toContain(`{"answer":"${answer}","part":2}`);
  const texts: string[] = [];
  for (let part = 1; part <= parts; part++) {
    const { content } = await call('answer_part', { answer, part });
    expect(Buffer.byteLength(content[0].text)).toBeLessThanOrEqual(48 * 1024);
    texts.push(content[0].text);
  }
  const whole = JSON.parse(texts.join(''));
  expect(whole.trajectories).toHaveLength(9_000);
  expect(whole.trajectories[7]).toEqual({ note: '№ 7 \\u{200b}' });
  expect(texts.join('')).not.toContain('\ufffd');
  expect(textOf(await call('answer_part', { answer, part: parts + 1 }))).toContain(
    `from 1 to ${parts}`,
  );
  expect(textOf(await call('answer_part', { answer: 'assize://results/x', part: 1 }))).toContain(
    'no longer stored',
  );
  await close();
});

test('an endless answer is not read', async () => {
  const server = await start();
  let pieces = 0;
  const { call, close } = await ledgerClient(server, {
    as: 'auditor:eve',
    wrap: (ask) => (path, init) => {
      if (!path.startsWith('/v1/domains')) return ask(path, init);
      const piece = new Uint8Array(1024 * 1024).fill(32);
      return Promise.resolve(
        new Response(
          new ReadableStream({
            pull: (to) => {
              pieces++;
              to.enqueue(piece);
            },
          }),
        ),
      );
    },
  });
  expect(textOf(await call('domains_list'))).toContain('too large');
  await close();
  expect(pieces).toBeLessThan(25);
});

test('arguments that are names of other paths are refused', async () => {
  const server = await start();
  const paths: string[] = [];
  const { call, close } = await ledgerClient(server, {
    as: 'auditor:eve',
    wrap: (ask) => (path, init) => {
      paths.push(path);
      return ask(path, init);
    },
  });
  for (const trajectory of ['..', '.', '', null, {}, undefined])
    expect(textOf(await call('trajectories_get', { trajectory }))).toContain(
      'is missing, or is not a name',
    );
  expect(textOf(await call('trajectories_get', { trajectory: '../approvals' }))).toContain(
    'There is no trajectory',
  );
  expect(textOf(await call('trajectories_get', { trajectory: 'main', x: 1 }))).toContain(
    'There are: trajectory.',
  );
  expect(textOf(await call('entries_list', { trajectory: 'main', limit: 5_000 }))).toContain(
    '/query/limit',
  );
  await close();
  expect(paths.filter((path) => path.startsWith('/v1/trajectories'))).toEqual([
    '/v1/trajectories/..%2Fapprovals',
    '/v1/trajectories/main/entries?limit=5000',
  ]);
});

test('while the server is down, each call says how to start it', async () => {
  const server = await start();
  const down = { is: false };
  const { call, tools, close } = await ledgerClient(server, {
    as: 'auditor:eve',
    wrap: (ask) => (path, init) =>
      down.is ? Promise.reject(new TypeError('fetch failed')) : ask(path, init),
  });
  down.is = true;
  expect(await tools()).toContain('entries_list');
  const answer = await call('trajectories_list');
  expect(answer.isError).toBe(true);
  expect(textOf(answer)).toContain('Start it with `assize serve`');
  down.is = false;
  expect((await call('trajectories_list')).isError).toBeUndefined();
  await close();
});
