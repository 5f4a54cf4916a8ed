/** The command `cells` on SQLite files, where no server runs. */
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SystemWrits } from '@assize/command/operation';
import { credentialsOf } from '@assize/server';
import { findRootKey, GrantIssuer, resolveConfig, rootKeyOf } from 'assize/internal/config';
import type { Domain } from 'assize/internal/kernel';
import { HALT_ACTION } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import { Assize } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runCommand } from '../../../tests/support/process/command.ts';
import { till } from '../../../tests/support/server/till.ts';
import { ORDERS_PRINCIPAL, readCellsFile } from '../src/index.ts';

const STORE = 'cells:cells.yaml';
let folder: string;

const assize = (...args: readonly string[]) => runCommand(folder, STORE, ...args);

/** The text of a command that succeeds. */
async function out(...args: readonly string[]): Promise<string> {
  const ended = await assize(...args);
  expect(ended, args.join(' ')).toMatchObject({
    code: 0,
    err: expect.not.stringContaining('assize:'),
  });
  return ended.out;
}

/** The message of a command that is refused with that code. */
async function refusal(code: string, ...args: readonly string[]): Promise<string> {
  const { code: exit, out } = await assize(...args, '--json');
  const { error } = JSON.parse(out) as { error: { code: string; message: string } };
  expect({ exit, code: error.code }, error.message).toEqual({ exit: 2, code });
  return error.message;
}

const orders = async (): Promise<number> =>
  JSON.parse(await out('cells', 'status', '--json')).orders;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-cells-'));
  const cells = ['one', 'two'].map((name) => `  ${name}: { store: 'sqlite:./${name}.db' }`);
  writeFileSync(
    join(folder, 'cells.yaml'),
    ['root: sqlite:./root.db', 'cells:', ...cells, ''].join('\n'),
  );
  rootKeyOf(`cells:${join(folder, 'cells.yaml')}`);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a tenant is placed once, and its place is printed again', async () => {
  expect(await out('cells', 'place', 'acme', '--cell', 'one')).toBe('acme lives in one.\n');
  expect(await out('cells', 'place', 'acme', '--cell', 'one')).toBe('acme lives in one already.\n');
  expect(JSON.parse(await out('cells', 'place', 'acme', '--json'))).toEqual({
    ...{ tenant: 'acme', cell: 'one', placed: false },
  });
  expect(await refusal('wrong_state', 'cells', 'place', 'acme', '--cell', 'two')).toContain(
    'lives in one',
  );
  expect(await refusal('not_found', 'cells', 'place', 'beta', '--cell', 'tow')).toContain(
    'one, two',
  );
  expect(await refusal('usage', 'cells', 'place', 'beta:orders')).toContain(
    'before the colon: beta',
  );
});

test('a tenant that lives in the cell already needs no move', async () => {
  expect(await out('cells', 'move', 'acme', '--to', 'one')).toBe('acme lives in one already.\n');
  expect(JSON.parse(await out('cells', 'move', 'acme', '--to', 'one', '--json'))).toEqual({
    ...{ tenant: 'acme', cell: 'one', moved: false },
  });
});

test('a move to a cell whose server never ran names the cell', async () => {
  const why = await refusal('wrong_state', 'cells', 'move', 'acme', '--to', 'two');
  expect(why).toMatch(
    /^The cell one has no store, so acme cannot move\..* assize serve --store 'cells:FILE\?cell=one'$/,
  );
});

test('a machine without the root key of a root log makes none', async () => {
  const other = join(folder, 'other.yaml');
  writeFileSync(other, readFileSync(join(folder, 'cells.yaml')));
  for (const args of [
    ['cells', 'status'],
    ['cells', 'place', 'delta'],
    ['token', 'list'],
    ['serve', '--port', '0'],
  ]) {
    const store = args[0] === 'serve' ? 'cells:other.yaml?cell=one' : 'cells:other.yaml';
    const { code, err } = await runCommand(folder, store, ...args);
    expect({ code, err }, args.join(' ')).toEqual({
      code: 2,
      err: expect.stringContaining('Copy'),
    });
    expect(err).toMatch(
      /root key is not on this machine\. Copy .*other\.yaml\.root\.key from the machine/,
    );
  }
  expect(existsSync(`${other}.root.key`)).toBe(false);
});

test('a command on a root log that does not exist names the next step', async () => {
  writeFileSync(
    join(folder, 'new.yaml'),
    "root: sqlite:./new.db\ncells: { one: { store: 'sqlite:./one.db' } }\n",
  );
  const { code, err } = await runCommand(folder, 'cells:new.yaml', 'cells', 'status');
  expect(code).toBe(2);
  expect(err).toMatch(
    /The root log of .*new\.yaml does not exist yet\. .* assize cells place TENANT --cell NAME\.$/m,
  );
  expect(existsSync(join(folder, 'new.yaml.root.key'))).toBe(false);
});

test('an order for a mistyped tenant is refused before it is given', async () => {
  const before = await orders();
  const why = ['--reason', 'audit'];
  expect(await refusal('not_found', 'cells', 'halt', 'acmee', ...why)).toContain(
    'Did you mean acme?',
  );
  expect(await refusal('usage', 'cells', 'halt', 'acme:trip', ...why)).toContain(
    'before the colon: acme',
  );
  expect(await refusal('usage', 'cells', 'resume', 'acme:trip', ...why)).toContain(
    'before the colon: acme',
  );
  expect(await refusal('not_found', 'cells', 'move', 'acmee', '--to', 'two')).toContain(
    'Did you mean acme?',
  );
  expect(await refusal('not_found', 'cells', 'move', 'acme', '--to', 'tow')).toContain('one, two');
  expect(await orders()).toBe(before);
  expect(await out('cells', 'halt', 'later', ...why, '--force')).toContain('Ordered.');
  expect(await out('cells', 'halt', 'acme', ...why)).toContain('Ordered.');
  expect(await orders()).toBe(before + 2);
});

test('a status has the tenants, and the orders in force', async () => {
  for (const name of ['a', 'b']) await out('cells', 'place', name, '--cell', 'two');
  const text = await out('cells', 'status');
  for (const part of [
    /^acme +one$/m,
    /^a +two$/m,
    /^acme is halted: audit$/m,
    /^later is halted: audit$/m,
  ])
    expect(text).toMatch(part);
});

test('a long status ends with the number of the other tenants', async () => {
  const { RootLog } = await import('../src/index.ts');
  const path = join(folder, 'cells.yaml');
  const log = await RootLog.open({
    url: readCellsFile(path).root,
    root: findRootKey(`cells:${path}`)!,
  });
  const { tenants } = await log.read();
  for (let n = Object.keys(tenants).length; n < 23; n++)
    await log.order('place', { tenant: `t${n}`, cell: 'two' }, 'operator:test');
  await log.close();
  const text = await out('cells', 'status');
  expect(text.match(/^\S+ +(one|two)$/gm)).toHaveLength(20);
  expect(text).toContain('and 3 tenants more (--json has all)');
  expect(Object.keys(JSON.parse(await out('cells', 'status', '--json')).tenants)).toHaveLength(23);
});

test('a revocation says what it revokes, and refuses an unknown name', async () => {
  const path = join(folder, 'cells.yaml');
  const root = findRootKey(`cells:${path}`)!;
  const file = readCellsFile(path);
  const side = await openStore(file.root);
  const created = systemClock.now();
  await credentialsOf(side, root).tokens.create({
    ...{
      principal: 'agent:scout',
      kinds: ['agent'],
      created,
      expires: '2100-01-01T00:00:00.000000Z',
    },
  });
  await side.close();
  // A grant that was used in one cell. The other has no store yet.
  const cell = await openStore(file.cells[0]!.store);
  const grants = [{ trajectories: ['acme:trip'], actions: ['pay'] }];
  const { principals } = resolveConfig(
    { principals: { 'agent:scout': { kinds: ['agent'], grants } } },
    { folder, env: {} },
  );
  const runtime = new Assize({ store: cell, domains: [till], anchors: [root.publicKey] });
  await runtime.create(till as Domain, { trajectoryId: 'acme:trip' });
  const issuer = new GrantIssuer(root, cell, { principals, writSeconds: 60, waitMs: 0 });
  await issuer.lasting(
    { name: 'agent:scout', grants: principals.get('agent:scout')!.grants },
    'acme:trip',
    'pay',
  );
  await runtime.close();
  await cell.close();

  const why = ['--reason', 'leak'];
  expect(await refusal('not_found', 'cells', 'revoke', 'agent:scuot', ...why)).toMatch(
    /no token, and no used grant .*two cannot\). Did you mean agent:scout\? Pass --force/,
  );
  const text = await out('cells', 'revoke', 'agent:scout', ...why);
  for (const part of [
    'A revocation of agent:scout is for good, and ends in every cell:',
    '  1 token\n',
    '  one: the grants used in acme:trip',
    'Ordered.',
  ])
    expect(text).toContain(part);
  expect(text).toMatch(/two cannot be read now \(.*\): its servers revoke what they find/);
  expect(await out('cells', 'status')).toContain('agent:scout is revoked: leak');
  const before = await orders();
  const again = await assize('cells', 'revoke', 'agent:scout', ...why);
  expect(again).toMatchObject({
    code: 2,
    out: '',
    err: expect.stringContaining('agent:scout is revoked already: leak.'),
  });
  expect(await refusal('wrong_state', 'cells', 'revoke', 'agent:scout', ...why)).toContain(
    'is revoked already',
  );
  expect(await orders()).toBe(before);
  expect(await out('cells', 'revoke', 'agent:other', ...why, '--force')).toContain('Ordered.');
});

test('a command whose store is named reads no configuration', async () => {
  const config = join(folder, 'assize.config.ts');
  writeFileSync(config, 'throw new Error("not for this command");');
  try {
    expect(await out('cells', 'status')).toContain('one');
    expect((await runCommand(folder, undefined, 'cells', 'status', '--store', STORE)).code).toBe(0);
    // Without a store the configuration has to name it.
    expect((await runCommand(folder, undefined, 'cells', 'status')).err).toContain(
      'not for this command',
    );
    expect((await runCommand(folder, STORE, 'cells', 'status', '--config', config)).err).toContain(
      'not for this',
    );
  } finally {
    rmSync(config);
  }
});

test('a halt of the root log names its command in a cell too', async () => {
  const root = findRootKey(`cells:${join(folder, 'cells.yaml')}`)!;
  const store = await openStore(readCellsFile(join(folder, 'cells.yaml')).cells[0]!.store);
  const runtime = new Assize({ store, domains: [till], anchors: [root.publicKey] });
  const trajectory = await runtime.open('acme:trip');
  const now = systemClock.now();
  const writ = new SystemWrits(root, 60).forBuiltIn(
    ORDERS_PRINCIPAL,
    HALT_ACTION,
    'acme:trip',
    now,
  );
  // As a server carries the order out.
  const { ruling } = await trajectory.halt({
    reason: 'root log: audit',
    writ,
    principal: ORDERS_PRINCIPAL,
  });
  expect(ruling.ruling).toBe('committed');
  await runtime.close();
  await store.close();
  const domain = join(import.meta.dirname, '../../../tests/support/server/till.ts');
  const proposal = [
    '--role',
    'clerk',
    '--params',
    '{"desk":"a"}',
    '--args',
    '{"amount":1}',
    '--as',
    'agent:scout',
  ];
  const { err } = await runCommand(
    folder,
    `${STORE}?cell=one`,
    'propose',
    'acme:trip',
    'tip',
    ...proposal,
    '--domain',
    domain,
  );
  expect(err).toContain('acme:trip is halted: audit. Resume it with: assize cells resume acme');
});

test('the log of the root store names the place of the entries of a cell', async () => {
  expect(await out('log')).toMatch(
    /^cells .*\nThis is the root log\. .* cells:cells\.yaml\?cell=NAME$/m,
  );
  const { out: own } = await runCommand(folder, `${STORE}?cell=one`, 'log');
  expect(own).toContain('acme:trip');
  expect(own).not.toContain('root log');
  expect(await out('cells', 'audit', '--help')).toMatch(/^ {2}assize verify --store cells:FILE$/m);
});

test('a report and a blast radius are of one cell, or of the root log', async () => {
  const cell = (...args: readonly string[]) => runCommand(folder, `${STORE}?cell=one`, ...args);
  const { code, out: told } = await cell('report', 'soc2-cc7', '--json');
  const { valid, scope } = JSON.parse(told);
  expect([code, valid, scope.entries > 0]).toEqual([1, true, true]);
  const radius = await cell('blast', '--entry', 'acme:trip@1', '--json');
  expect(radius.code, radius.err).toBe(1);
  expect(JSON.parse(radius.out).entries[0]).toMatchObject({
    trajectory_id: 'acme:trip',
    is_start: true,
  });
  const start = ['--entry', 'acme:trip@1'];
  const { out: root } = await assize('report', 'soc2-cc7', '--json');
  expect(JSON.parse(root).scope.entries).toBe(
    JSON.parse(await out('log', '--json')).trajectories[0].entries,
  );
  expect((await assize('blast', ...start)).err).toContain('acme:trip');
});
