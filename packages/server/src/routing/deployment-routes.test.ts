import { type Cell, cellDeployment, type DirectoryState, RootWatch } from '@assize/cells/internal';
import { generateKeys } from 'assize/internal/canon';
import { expect, test } from 'vitest';
import { DeploymentRoutes } from './deployment-routes.ts';
import { ForwardMark } from './forward-mark.ts';
import type { Forwarder, Forwarding } from './forwarder.ts';

const TENANTS = {
  here: { cell: 'one' },
  away: { cell: 'two' },
  silent: { cell: 'three' },
  leaving: { cell: 'one', to: 'two' },
  coming: { cell: 'two', to: 'one' },
};

/** The routes of the cell `one`, and the addresses to which they sent a request. */
async function routes(answers: boolean = true) {
  const directory: DirectoryState = {
    orders: 0,
    cells: {},
    tenants: TENANTS,
    halted: {},
    revoked: {},
  };
  const cells = [
    { name: 'one', store: 'memory:', url: 'http://one.example' },
    { name: 'two', store: 'memory:', url: 'http://two.example' },
    { name: 'three', store: 'memory:' },
  ];
  const watch = new RootWatch({
    log: { head: async () => 'head', read: async () => directory },
    ...{
      file: { cells, silenceMs: 5_000 },
      cell: 'one',
      compare: async () => undefined,
      nowMs: () => 0,
    },
    applied: { read: async () => 0, record: async () => undefined },
    onFailure: (error) => {
      throw error;
    },
  });
  await watch.read();
  const sent: string[] = [];
  const send: Forwarder['send'] = async ({ url }, { mayRepeat }) => {
    sent.push(`${url} ${mayRepeat}`);
    return answers ? new Response('two') : undefined;
  };
  const deployment = cellDeployment({ watch, file: { cells }, log: {} } as never as Cell);
  const own = new DeploymentRoutes(
    deployment,
    { send } as Forwarder,
    new ForwardMark(generateKeys()),
  );
  const ask = async (
    trajectory: string,
    isForwarded = false,
    signal = new AbortController().signal,
  ) => {
    const forwarding = {
      request: new Request('http://one.example/v1'),
      requestId: 'id',
      body: new Uint8Array(),
    };
    return own
      .forwarded(trajectory, { ...forwarding, signal } as Forwarding, isForwarded)
      .then((response) => response?.text() ?? 'here')
      .catch((error: { code?: string; name: string }) => error.code ?? error.name);
  };
  return { ask, sent };
}

test('a request goes to the cell of its tenant, once', async () => {
  const { ask, sent } = await routes();
  for (const name of ['here', 'here:orders', 'new', '__proto__', 'leaving:a'])
    expect(await ask(name)).toBe('here');
  expect(sent).toEqual([]);
  for (const name of ['away', 'away:orders', 'coming:a']) expect(await ask(name)).toBe('two');
  expect(sent).toEqual(Array.from({ length: 3 }, () => 'http://two.example false'));
});

test('a request that another cell has forwarded goes no further', async () => {
  const { ask, sent } = await routes();
  expect(await ask('away:orders', true)).toBe('other_cell');
  expect(await ask('here:orders', true)).toBe('here');
  expect(sent).toEqual([]);
});

test('a cell without an address or an answer is named to the client', async () => {
  const { ask, sent } = await routes(false);
  expect(await ask('silent')).toBe('other_cell');
  expect(sent).toEqual([]);
  expect(await ask('away')).toBe('other_cell');
  expect(await ask('coming')).toBe('tenant_moves');
  expect(sent).toHaveLength(2);
});

test('a request ends with its client', async () => {
  const { ask } = await routes(false);
  const left = AbortSignal.abort(new RangeError('left'));
  expect(await ask('away', false, left)).toBe('RangeError');
});
