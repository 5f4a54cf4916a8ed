import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { budget } from '@assize/cli/internal/domains/budget';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { declareTool } from '#effects';
import { call, defineDomain } from '#kernel';
import { openStore } from '#stores';
import { type CreateAssizeOptions, createAssize } from './create-assize.ts';
import { rootKeyFile, rootKeyOf } from './root-key.ts';

const env = {};
const entry = pathToFileURL(join(import.meta.dirname, '../public/index.ts')).href;

const orders: string[] = [];
const order = declareTool({
  name: 'shop.order',
  input: z.strictObject({ what: z.string() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['shop:orders'],
  execute: ({ what }) => void orders.push(what),
});

const shop = defineDomain({
  name: 'shop',
  version: '1',
  unjudgedCalls: 'allow',
  state: z.object({ ordered: z.array(z.string()) }),
  initial: { ordered: [] },
  processes: { ordering: { writes: ['/ordered'] } },
  roles: { clerk: { processes: ['ordering'] } },
  actions: {
    order: {
      process: 'ordering',
      args: z.object({ what: z.string() }),
      apply: (state, { what }) => void state.ordered.push(what),
      calls: (_state, { what }) => [call(order, { what })],
    },
  },
  invariants: [],
  counselors: { boss: () => true },
});

let folder: string;
let store: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-world-'));
  store = `sqlite:${folder}/shop.db`;
  orders.length = 0;
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const said = () => vi.spyOn(process.stderr, 'write').mockReturnValue(true);
const open = (more: Partial<CreateAssizeOptions<typeof shop>> = {}) =>
  createAssize({ store, domain: shop, tools: [order], env, ...more });
const proposal = {
  action: 'order',
  role: 'clerk',
  args: { what: 'tea' },
  idempotencyKey: 'tea',
} as const;

test('a second run opens the same world, and repeats no call', async () => {
  const write = said();
  const first = await open();
  expect(await first.propose(proposal)).toMatchObject({ ruling: 'committed', effects: 'settled' });
  await first.close();
  expect(orders).toEqual(['tea']);
  const second = await open();
  expect(second.trajectory.id).toBe('shop');
  expect(second.trajectory.state()).toEqual({ ordered: ['tea'] });
  expect(second.writ).toEqual(first.writ);
  expect(await second.propose(proposal)).toMatchObject({ ruling: 'committed' });
  await second.close();
  expect(orders).toEqual(['tea']);
  expect(write.mock.calls.filter(([text]) => String(text).includes('root key'))).toHaveLength(1);
});

test('the root key is the anchor that commands read', async () => {
  said();
  await (await open()).close();
  const { publicKey } = rootKeyOf(store, env);
  expect(JSON.parse(readFileSync(`${folder}/shop.db.anchors.json`, 'utf8'))).toEqual([publicKey]);
  expect(readdirSync(folder).filter((name) => name.includes('draft'))).toEqual([]);
});

test('an end between the store and the world leaves nothing to repair', async () => {
  said();
  rootKeyOf(store, env);
  await (await openStore(store)).close();
  const world = await open();
  expect(world.trajectory.length).toBe(1);
  await world.close();
});

test('a world of another version is refused, and the store is closed', async () => {
  said();
  await (await open()).close();
  const next = defineDomain({ ...shop.declared, version: '2' } as never) as typeof shop;
  await expect(open({ domain: next })).rejects.toMatchObject({ code: 'domain_mismatch' });
  await (await open()).close();
});

test('two worlds with names are two trajectories of one store', async () => {
  said();
  const one = await open({ name: 'one', initial: { ordered: ['cup'] }, tools: [] });
  const two = await open({ name: 'two', agent: 'agent:ada', tools: [] });
  expect(one.trajectory.state()).toEqual({ ordered: ['cup'] });
  expect(two.writ).toMatchObject({ subject: 'agent:ada', trajectory: 'two' });
  expect(two.writFor('agent:bob')).toMatchObject({ subject: 'agent:bob', trajectory: 'two' });
  await Promise.all([one.close(), two.close()]);
});

test('the writ grants every action, and no erasure, halt or revocation', async () => {
  const world = await createAssize({ store: 'memory:', domain: budget, env });
  expect(world.writ.actions).toEqual([...Object.keys(budget.actions), 'assize.believe'].sort());
  const { ruling } = await world.trajectory.halt({ writ: world.writ, reason: 'no' });
  expect(ruling).toMatchObject({ ruling: 'rejected', reason: 'invalid_authority' });
  await world.close();
});

test('a world ends with its block', async () => {
  let inside: Awaited<ReturnType<typeof open>>;
  {
    await using world = await createAssize({ store: 'memory:', domain: shop, env });
    inside = world as never;
  }
  await expect(inside.trajectory.propose({ ...proposal, writ: inside.writ })).rejects.toThrow();
});

test('PostgreSQL without a key is refused before a connection', async () => {
  await expect(open({ store: 'postgres://localhost:1/none' })).rejects.toMatchObject({
    code: 'root_key_missing',
  });
});

test('an option that does not exist, and a store that does not, are refused', async () => {
  await expect(open({ agnet: 'x' } as never)).rejects.toMatchObject({ code: 'bad_argument' });
  for (const unknown of ['mysql://x', 'shop.db'])
    await expect(open({ store: unknown })).rejects.toMatchObject({ code: 'store_unknown' });
  expect(existsSync(rootKeyFile(store) as string)).toBe(false);
});

test('4 processes that start concurrently have one world', async () => {
  const program = `
    import { createAssize } from '${entry}';
    import { budget } from '${pathToFileURL(join(import.meta.dirname, '../../../cli/src/domains/budget/index.ts')).href}';
    const world = await createAssize({ store: ${JSON.stringify(store)}, domain: budget, env: {} });
    const [first] = await world.store.entries('budget', { from: 0, limit: 1 });
    process.stdout.write(JSON.stringify([first.id, world.writ.signature]));
    await world.close();`;
  const run = promisify(execFile);
  const answers = await Promise.all(
    Array.from({ length: 4 }, () =>
      run(process.execPath, ['--input-type=module-typescript', '-e', program]),
    ),
  );
  expect(new Set(answers.map(({ stdout }) => stdout)).size).toBe(1);
  expect(answers.filter(({ stderr }) => stderr.includes('created the root key'))).toHaveLength(1);
});
