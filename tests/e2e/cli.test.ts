/** The command itself, in a folder of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openStore } from '#stores';
import { clinic } from '../support/clinic.ts';
import { type Ended, endOf, runCommand, runProcess, startCommand } from '../support/command.ts';
import { runtimeOver } from '../support/runtime.ts';

const root = join(import.meta.dirname, '../..');
const COMMANDS = [
  'demo',
  'domains',
  'adjudicate',
  'log',
  'show',
  'state',
  'verify',
  'backtest',
  'branch',
  'diff',
  'pending',
  'approve',
  'reject',
  'memory assert',
  'memory change',
  'memory correct',
  'memory retract',
  'memory recall',
  'memory history',
  'memory diff',
  'memory explain',
  'memory spaces',
  'memory import',
  'memory extract',
  'memory rebuild',
  'memory erase',
  'effects list',
  'effects recover',
  'effects resolve',
  'derived',
  'oracle',
  'erase',
  'writ key',
  'writ issue',
  'writ attenuate',
  'writ show',
  'writ revoke',
  'writ verify',
  'keys new',
  'keys show',
  'checkpoint',
  'prove',
  'audit',
  'fsck',
  'witness',
  'export',
  'import',
  'bench',
];

/** Those that open none. */
const STORELESS = ['faults', 'anomalies'];

/** A till: payments over 100 need the boss, more than 1,000 in all is refused. With a ledger that has one of each ruling. */
const TILL = `
import { defineDomain, escalate, pass, reject } from '${pathToFileURL(join(root, 'src/index.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
export const till = defineDomain({
  name: 'till',
  version: '1',
  state: z.object({ payments: z.array(z.object({ amount: z.number(), memo: z.string(), by: z.string().optional() })) }),
  initial: { payments: [] },
  processes: { paying: { writes: ['/payments'] } },
  roles: { clerk: { processes: ['paying'] } },
  actions: {
    pay: {
      process: 'paying',
      args: z.object({ amount: z.number(), memo: z.string() }),
      apply: (state, args) => { state.payments.push(args); },
    },
  },
  invariants: ({ invariant, each }) => [
    invariant('CAP', ['/payments'], ({ payments }) =>
      payments.reduce((sum, { amount }) => sum + amount, 0) <= 1000 ? pass : reject('more than 1000 in all')),
    each('LARGE', '/payments/*', {
      channel: 'boss',
      onApprove: (state, { counselor, keys: [i] }) => { state.payments[Number(i)].by = counselor; },
    }, ({ amount, by }) => (amount <= 100 || by !== undefined ? pass : escalate('over 100'))),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
});
`;
const MAKE_LEDGER = `
import { Assize, generateKeys, issueWrit, openStore } from '${pathToFileURL(join(root, 'src/index.ts'))}';
import { writeAnchors } from '${pathToFileURL(join(root, 'src/cli/anchors.ts'))}';
import { till } from './till.ts';
const store = await openStore('sqlite:./till.db');
const keys = generateKeys();
writeAnchors('sqlite:./till.db', [keys.publicKey]);
const writ = issueWrit({
  issuer: keys.publicKey, subject: 'agent:clerk', actions: ['pay'], scopes: ['role:clerk'], max_depth: 0, nonce: '1',
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z',
}, keys.privateKey);
const assize = new Assize({ store, domains: [till], anchors: [keys.publicKey] });
const trajectory = await assize.create(till, { trajectoryId: 'till-1', writs: [writ], note: 'monday' });
const pay = (amount, memo) => trajectory.propose({ action: 'pay', role: 'clerk', args: { amount, memo }, writ });
await pay(50, 'paper');
await pay(5000, 'a yacht');
await pay(20, 'x'.repeat(20000));
await pay(60, '\\u001b[31mred\\u202e\\u200b');
await pay(500, 'a desk');
await store.close();
`;

let made: string;
let folder: string;

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'assize-cli-made-'));
  writeFileSync(join(made, 'till.ts'), TILL);
  writeFileSync(join(made, 'make.ts'), MAKE_LEDGER);
  const child = spawn(process.execPath, ['make.ts'], { cwd: made, stdio: ['ignore', 'ignore', 'inherit'] });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

afterAll(() => {
  rmSync(made, { recursive: true, force: true });
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-cli-'));
});

afterEach(() => {
  chmodSync(folder, 0o755);
  rmSync(folder, { recursive: true, force: true });
});

const assize = (...args: string[]): Promise<Ended> => runCommand(folder, undefined, ...args);

/** As JSON, having ended with that code. */
async function json(code: number, ...args: string[]): Promise<any> {
  const { code: found, out, err } = await assize(...args, '--json');
  expect({ code: found, err }, out).toEqual({ code, err: '' });
  return JSON.parse(out);
}

/** One sentence on standard error, exit 2; with --json the same as a document. */
async function refused(args: readonly string[], saying: RegExp): Promise<void> {
  const [{ code, out, err }, again] = await Promise.all([assize(...args), assize(...args, '--json')]);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^assize: [^\n]+\n$/);
  expect(err).toMatch(saying);
  expect(again.code).toBe(2);
  const { error } = JSON.parse(again.out);
  expect(error).toEqual({ code: expect.stringMatching(/^[a-z_]+$/), message: expect.any(String) });
  expect(again.err.trimEnd()).toBe(err.trimEnd());
}

function file(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** The made ledger, in this test's folder. */
function till(): string[] {
  for (const name of ['till.db', 'till.db.anchors.json', 'till.ts']) copyFileSync(join(made, name), join(folder, name));
  return ['--store', 'sqlite:./till.db'];
}

function change(sql: string, ...values: (string | number)[]): void {
  const db = new DatabaseSync(join(folder, 'till.db'));
  expect(db.prepare(sql).run(...values).changes).toBe(1);
  db.close();
}

async function entries(...store: string[]): Promise<{ id: string; kind: string; seq: number }[]> {
  return (await json(0, 'log', 'till-1', ...store)).log;
}

describe('the command line', () => {
  test('every command explains itself, in lines of 80 columns', async () => {
    const all = [...COMMANDS, ...STORELESS];
    const helps = await Promise.all(all.map((command) => assize(...command.split(' '), '--help')));
    for (const [i, { code, out, err }] of helps.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const store = STORELESS.includes(all[i]!) ? [] : ['--store'];
      for (const part of ['--json', ...store, '-h, --help', 'Exit codes:']) expect(out).toContain(part);
      expect(out).not.toContain(String(Number.MAX_SAFE_INTEGER));
      // A number has one name.
      expect(out).not.toMatch(/<(number|count|num)>/);
      expect(
        out.split('\n').filter((line) => line.length > 80),
        all[i],
      ).toEqual([]);
    }
    expect(await assize('writ', 'key', '-h')).toEqual(helps[all.indexOf('writ key')]);
  });

  test('help says which options are required', async () => {
    const { out } = await assize('memory', 'retract', '--help');
    const required = [...out.matchAll(/^ {2}(--[a-z]+) (?:(?!\n {2}-)[\s\S])*?\(required\)$/gm)].map(
      ([, name]) => name,
    );
    expect(required).toEqual(['--subject', '--predicate', '--from', '--to', '--space']);
  });

  test('the help of adjudicate shows how runs and how advisories are brought', async () => {
    const { out } = await assize('adjudicate', '--help');
    expect(out).toMatch(/^ {2}assize adjudicate airline --data .* --runs /m);
    expect(out).toMatch(/^ {2}assize adjudicate disclosure --data /m);
  });

  test('lists every command, and its version', async () => {
    const help = await assize('--help');
    expect(help.code).toBe(0);
    for (const command of COMMANDS) expect(help.out).toMatch(new RegExp(`^  ${command.split(' ')[0]} `, 'm'));
    for (const line of help.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    expect(await assize('--version')).toEqual({ code: 0, out: `${version}\n`, err: '' });
  });

  test('nothing at all shows the help, as misuse', async () => {
    const { code, out, err } = await assize();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: assize');
  });

  test.each([
    [['adjudge'], /unknown command 'adjudge'/],
    [['log', '--jsn'], /unknown option '--jsn'/],
    [['log', '--limit', '0'], /whole number from 1/],
    [['log', '--from', '-1'], /whole number from 0/],
    [['show'], /missing required argument/],
    [['show', 'a', 'b'], /too many arguments/],
    [['branch', 'a', '0'], /--note/],
    [['reject', 'deadbeef', '--as', 'boss:ann'], /--reason/],
  ])('%j is refused', (args, saying) => refused(args, saying));

  test('a process of its own says what one says that has run others before', async () => {
    const store = till();
    const lines = [
      ['log', 'till-1'],
      ['show', 'till-1@4'],
      ['state', 'till-1', '--at', '9'],
      ['pending', '--json'],
      ['logs'],
    ];
    for (const line of lines) {
      await assize(...line, ...store);
      expect(await assize(...line, ...store)).toEqual(await runProcess(folder, undefined, ...line, ...store));
    }
  });

  test('the store can be named by the environment', async () => {
    till();
    const named = await runProcess(folder, 'sqlite:./till.db', 'log', '--json');
    expect(JSON.parse(named.out).total).toBe(1);
  });

  test('a reader that goes away ends it quietly', async () => {
    const child = startCommand(folder, undefined, 'domains', 'airline');
    child.stdout?.destroy();
    expect(await endOf(child)).toMatchObject({ code: 0, err: '' });
  });

  test('the bin of a clone runs it', async () => {
    const child = spawn(process.execPath, [join(root, 'bin/assize.js'), 'log'], { cwd: folder, stdio: 'pipe' });
    expect(await endOf(child)).toMatchObject({ code: 2, err: expect.stringContaining('There is no store at') });
  });

  test.each([
    ['keeps what was compiled with what its user keeps', 'caches', ['assize']],
    ['runs where nothing can be kept', 'a-file', []],
  ])('the bin %s', async (_, name, kept) => {
    file('a-file', '');
    mkdirSync(join(folder, 'caches'));
    const { NODE_COMPILE_CACHE: _shared, ...inherited } = process.env;
    const env = { ...inherited, XDG_CACHE_HOME: join(folder, name) };
    const child = spawn(process.execPath, [join(root, 'bin/assize.js'), '--version'], {
      cwd: folder,
      env,
      stdio: 'pipe',
    });
    expect(await endOf(child)).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(join(folder, 'caches'))).toEqual(kept);
  });
});

describe('demo', () => {
  test('has a store of its own, whichever one other commands work on', async () => {
    const earnest = 'sqlite:./earnest.db';
    const { code, out, err } = await runCommand(folder, earnest, 'demo');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Store sqlite:./assize-demo.db, trajectory david-1.');
    expect(readdirSync(folder).filter((name) => name.startsWith('earnest'))).toEqual([]);
  });

  test('leaves a ledger that the commands it names can read', async () => {
    const { code, out } = await assize('demo', '--store', 'sqlite:./demo.db');
    expect(code).toBe(0);
    const commands = [...out.matchAll(/npx assize (.*)$/gm)].map(([, command]) => (command as string).split(' '));
    expect(commands.length).toBeGreaterThan(3);
    const all = await Promise.all(commands.map((command) => assize(...command)));
    for (const each of all) expect(each).toMatchObject({ code: 0, err: '' });
  });
});

describe('domains', () => {
  test('are listed, shown whole, and one tool at a time', async () => {
    const list = await json(0, 'domains');
    const names = ['budget', 'udt', 'airline', 'retail', 'disclosure', 'moderation', 'verification'];
    expect(list.map(({ name }: { name: string }) => name)).toEqual(names);
    expect((await assize('domains')).out).toContain('CANCELLATION_GROUND');
    const budget = await json(0, 'domains', 'budget');
    expect(budget).toMatchObject({
      processes: [{ name: 'spend', writes: ['/spent/{agent}'] }],
      roles: [{ name: 'spender', params: ['agent'] }],
      actions: [{ name: 'spend', args: { properties: { amount: { type: 'integer' } } } }],
      invariants: [{ id: 'BUDGET_CAP', footprint: ['/cap', '/spent'] }],
    });
    expect((await assize('domains', 'budget')).out).toContain('/spent/{agent}');
    expect(await json(0, 'domains', 'budget', 'spend')).toEqual(budget.actions[0]);
  });

  test('of one’s own are listed beside the shipped ones', async () => {
    till();
    const list = await json(0, 'domains', '--domain', 'till.ts');
    expect(list.at(-1)).toMatchObject({ name: 'till', invariants: ['CAP', 'LARGE'] });
  });

  test('that are not there, and files that are none, are refused', async () => {
    await refused(
      ['domains', 'airlines'],
      /no domain airlines; there are budget, udt, airline, retail, disclosure, moderation, verification/,
    );
    await refused(['domains', 'budget', 'steal'], /budget has no tool steal; it has spend/);
    await refused(['domains', '--domain', 'nowhere.ts'], /no domain file .*nowhere\.ts/);
    await refused(['domains', '--domain', file('empty.ts', 'export const a = 1;')], /exports no domain/);
    await refused(['domains', '--domain', file('broken.ts', 'throw new Error("no");')], /can't be loaded: no/);
  });
});

describe('log, show and state', () => {
  test('log has a column for what trajectories come of where one of them says so', async () => {
    const store = till();
    expect((await assize('log', ...store)).out).toMatch(
      /^trajectory {2}entries {2}head {10}domain {2}begun\ntill-1 {12}6 {2}[0-9a-f]{12} {2}till@1 {2}monday\n$/,
    );
    const plain = await openStore(`sqlite:${join(folder, 'plain.db')}`);
    await runtimeOver(plain, [clinic]).create(clinic, { trajectoryId: 'notes' });
    await plain.close();
    expect((await assize('log', '--store', 'sqlite:./plain.db')).out).toMatch(
      /^trajectory {2}entries {2}head {10}domain\nnotes {13}1 {2}[0-9a-f]{12} {2}clinic@1\n$/,
    );
  });

  test('log tells of trajectories and entries', async () => {
    const store = till();
    expect(await json(0, 'log', ...store)).toMatchObject({
      total: 1,
      trajectories: [{ trajectory_id: 'till-1', entries: 6, domain: { name: 'till' }, note: 'monday' }],
    });
    const { log } = await json(0, 'log', 'till-1', ...store);
    expect(log.map(({ ruling }: { ruling: string }) => ruling)).toEqual([
      'begun',
      'committed',
      'rejected',
      'committed',
      'committed',
      'escalated',
    ]);
    expect(log[2]).toMatchObject({ action: 'pay', invariant_id: 'CAP', detail: 'more than 1000 in all' });
    const { out } = await assize('log', 'till-1', '--from', '2', '--limit', '1', ...store);
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    expect(out).toMatch(/2 .*pay.*rejected.*CAP.*more than 1000 in all/);
  });

  test('show tells all of an entry, and large values when asked', async () => {
    const store = till();
    const log = await entries(...store);
    const id = log[3]?.id as string;
    const shown = await json(0, 'show', id.slice(0, 8), ...store);
    expect(shown).toMatchObject({ id, seq: 3, payload: { action: { args: { bytes: expect.any(Number) } } } });
    expect(shown.blobs.map(({ pointer }: { pointer: string }) => pointer)).toEqual(['/action/args', '/delta/state']);
    expect(shown.blobs[0].value).toBeUndefined();
    const whole = await json(0, 'show', id, '--blobs', ...store);
    expect(whole.blobs[0].value).toEqual({ amount: 20, memo: 'x'.repeat(20_000) });
    const { out } = await assize('show', id, ...store);
    expect(out).toMatch(/\/action\/args is a blob of 20,0\d\d bytes/);
    expect((await assize('show', id, '--blobs', ...store)).out).toContain('x'.repeat(20_000));
  });

  test('state folds, at any entry, whole or in part', async () => {
    const store = till();
    expect(await json(0, 'state', 'till-1', '--at', '1', ...store)).toMatchObject({
      seq: 1,
      state: { payments: [{ amount: 50, memo: 'paper' }] },
    });
    const { out } = await assize('state', 'till-1', '--pointer', '/payments/0/amount', ...store);
    expect(out).toBe('50\n');
  });

  test('what a model wrote cannot move the cursor or hide', async () => {
    const store = till();
    const id = (await entries(...store))[4]?.id as string;
    for (const args of [
      ['show', id],
      ['state', 'till-1'],
      ['show', id, '--json'],
      ['state', 'till-1', '--json'],
    ]) {
      const { out } = await assize(...args, ...store);
      expect(out).toContain('\\u001b[31mred\\u202e\\u200b');
      expect(out).toMatch(/^[\n\x20-\x7e]*$/);
    }
    const { state } = await json(0, 'state', 'till-1', ...store);
    expect(state.payments[2].memo).toBe('\u001b[31mred\u202e\u200b');
  });

  test('what is not there is refused', async () => {
    const store = till();
    const id = (await entries(...store))[0]?.id as string;
    await refused(
      ['log', 'till-2', ...store],
      /no trajectory till-2 .*assize log lists them, and an id is given whole/,
    );
    await refused(['log', 'til', ...store], /no trajectory til in this store; an id is given whole: till-1/);
    await refused(['oracle', 'nokey', ...store], /64 hex digits: assize show ENTRY .*assize memory explain/);
    await refused(['show', id.slice(0, 7), ...store], /8 to 64 hex digits/);
    await refused(['show', id.startsWith('00000000') ? 'ffffffff' : '00000000', ...store], /no entry/);
    await refused(['state', 'till-1', '--at', '6', ...store], /no entry with seq 6; its last one is 5/);
    await refused(['state', 'till-1', '--pointer', '/payments/9', ...store], /nothing at \/payments\/9/);
    await refused(['state', 'till-1', '--pointer', 'payments', ...store], /pointer/i);
    await refused(['verify', 'till-1', 'till-2', ...store], /no trajectory till-2/);
  });
});

describe('verify', () => {
  test('finds a whole ledger valid', async () => {
    const store = till();
    expect(await json(0, 'verify', ...store)).toMatchObject({
      valid: true,
      trajectories: 1,
      entries: 6,
      reports: [{ trajectory_id: 'till-1', valid: true, open: 1 }],
    });
    const { code, out } = await assize('verify', 'till-1', ...store);
    expect(code).toBe(0);
    expect(out).toContain('1 of 1 trajectories are valid, 6 entries.');
  });

  test('a payload changed by hand: names trajectory, seq and what does not match', async () => {
    const store = till();
    change(`UPDATE entry SET payload = replace(payload, 'paper', 'pearl') WHERE seq = 1`);
    const { code, out } = await assize('verify', ...store);
    expect(code).toBe(1);
    expect(out).toMatch(/till-1 .*seq 1: the payload does not hash to the id \(tampered\)/);
    expect(await json(1, 'verify', ...store)).toMatchObject({
      valid: false,
      reports: [{ entries: 1, fault: { trajectory_id: 'till-1', seq: 1, code: 'tampered' } }],
    });
  });

  test('a changed ledger has no state, nothing pending and takes no decision; log and show still read it', async () => {
    const store = till();
    const log = await entries(...store);
    change(`UPDATE entry SET payload = '{"half":' WHERE seq = 3`);
    for (const args of [['state', 'till-1'], ['pending'], ['diff', 'till-1', 'till-1@1']]) {
      const { code, out, err } = await assize(...args, ...store);
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(/till-1 seq 3: the payload does not hash to the id/);
    }
    const approved = await assize('approve', log[5]?.id as string, '--as', 'boss:ann', '--domain', 'till.ts', ...store);
    expect(approved).toMatchObject({ code: 1, err: expect.stringContaining('does not verify') });
    expect((await assize('log', 'till-1', ...store)).out).toMatch(/3 .*unreadable/);
    expect(await json(1, 'show', log[3]?.id as string, ...store)).toMatchObject({
      payload: '{"half":',
      fault: { seq: 3, code: 'tampered' },
    });
  });

  test('a changed or missing large value is found', async () => {
    const store = till();
    change(`UPDATE blob SET text = replace(text, 'xxxx', 'xxxy') WHERE text LIKE '[%'`);
    expect(await json(1, 'verify', ...store)).toMatchObject({
      reports: [{ fault: { seq: 3, code: 'blob_tampered' } }],
    });
  });

  test('a row that is gone is found', async () => {
    const store = till();
    change('DELETE FROM entry WHERE seq = 2');
    expect(await json(1, 'verify', ...store)).toMatchObject({ reports: [{ fault: { seq: 3, code: 'broken_chain' } }] });
  });
});

describe('branch and diff', () => {
  test('a branch begins where it is told to, and the diff says what came after', async () => {
    const store = till();
    const ids = (await entries(...store)).map(({ id }) => id);
    const own = ['--domain', 'till.ts', ...store];
    const begun = await json(0, 'branch', 'till-1', '1', '--note', 'what if', '--id', 'tuesday', ...own);
    expect(begun).toMatchObject({ trajectory_id: 'tuesday', source: { trajectory_id: 'till-1', seq: 1 } });
    const { code, out } = await assize('branch', 'till-1', ids[3]?.slice(0, 10) as string, '--note', 'again', ...own);
    expect(code).toBe(0);
    expect(out).toMatch(/^t-[0-9a-f]+ begins with [0-9a-f]{12}, from till-1 seq 3\.\n$/);
    expect(await json(1, 'diff', 'tuesday', 'till-1@3', ...store)).toMatchObject({
      equal: false,
      parted: {
        after: { trajectory_id: 'till-1', seq: 1, entry_id: ids[1] },
        a: { trajectory_id: 'tuesday', seq: 0 },
        b: { trajectory_id: 'till-1', seq: 2 },
      },
      patch: [{ op: 'add', path: '/payments/1', value: { amount: 20 } }],
    });
    const text = await assize('diff', 'tuesday', 'till-1', ...store);
    expect(text.code).toBe(1);
    expect(text.out).toContain('The chains are one up to till-1 seq 1');
    expect(text.out).toMatch(/add +\/payments\/1 .*more characters\n/);
    expect(await json(0, 'diff', 'tuesday', 'till-1@1', ...store)).toMatchObject({ equal: true, patch: [] });
    expect((await assize('verify', ...store)).code).toBe(0);
  });

  test('what can’t be branched from is refused, and nothing is written', async () => {
    const store = till();
    const own = ['--note', 'n', '--domain', 'till.ts', ...store];
    await refused(['branch', 'till-1', '2', ...own], /is a rejection/);
    await refused(['branch', 'till-1', '9', ...own], /no entry with seq 9/);
    await refused(['branch', 'till-9', '0', ...own], /no trajectory till-9/);
    await refused(['branch', 'till-1', '0', '--id', 'till-1', ...own], /till-1 already/);
    await refused(
      ['branch', 'till-1', '0', '--note', 'n', ...store],
      /till@1 .*, and none of the \d+ given has that name/,
    );
    expect(await json(0, 'log', ...store)).toMatchObject({ total: 1 });
  });
});

describe('pending, approve and reject', () => {
  test('what waits is shown with all that it would do', async () => {
    const store = till();
    const [entry] = (await json(0, 'pending', ...store)).pending;
    expect(entry).toMatchObject({
      trajectory_id: 'till-1',
      seq: 5,
      action: { name: 'pay', args: { amount: 500 } },
      channel: 'boss',
      invariant_id: 'LARGE',
      digest: expect.stringMatching(/^[0-9a-f]{64}$/),
    });
    const { code, out } = await assize('pending', 'till-1', ...store);
    expect(code).toBe(0);
    expect(out).toMatch(/till-1 +5 .*pay +boss +LARGE: .*over 100/);
  });

  test('an approval commits it, once, in the name of the counselor', async () => {
    const store = till();
    const [{ id, digest }] = (await json(0, 'pending', ...store)).pending;
    const how = ['--as', 'boss:ann', '--reason', 'desks are fine', '--domain', 'till.ts', ...store];
    const done = await json(0, 'approve', id.slice(0, 8), '--digest', digest.slice(0, 8), ...how);
    expect(done).toMatchObject({ ruling: 'committed', resolves: id, trajectory_id: 'till-1', seq: 6 });
    const { payload } = await json(0, 'show', done.entry_id, ...store);
    expect(payload.counselor).toEqual({ principal: 'boss:ann', as: 'boss', method: 'cli', reason: 'desks are fine' });
    expect((await json(0, 'state', 'till-1', ...store)).state.payments[3].by).toBe('boss:ann');
    await refused(['approve', id, ...how], /Nothing is pending/);
    expect((await assize('pending', ...store)).out).toBe('Nothing waits for a person.\n');
    expect((await assize('verify', ...store)).code).toBe(0);
  });

  test('a rejection is recorded with its reason', async () => {
    const store = till();
    const [{ id }] = (await json(0, 'pending', ...store)).pending;
    const { code, out } = await assize(
      ...['reject', id, '--as', 'boss:ann', '--reason', 'too dear', '--domain', 'till.ts', ...store],
    );
    expect(code).toBe(0);
    expect(out).toMatch(/^rejected as [0-9a-f]{12}, till-1 seq 6: too dear\n$/);
    const log = await json(0, 'log', 'till-1', '--from', '6', ...store);
    expect(log.log[0]).toMatchObject({ reason: 'counselor_rejected', counselor: 'boss:ann', resolves: id });
  });

  test('who may not, another digest, another entry, no anchors: refused, and nothing is recorded', async () => {
    const store = till();
    const log = await entries(...store);
    const id = log[5]?.id as string;
    const own = ['--domain', 'till.ts', ...store];
    await refused(['approve', id, '--as', 'eve', ...own], /eve is no counselor/);
    await refused(['reject', id, '--as', 'agent:clerk', '--reason', 'r', ...own], /asked for this/);
    await refused(['approve', id, '--as', 'boss:ann', '--digest', 'deadbeef', ...own], /not what was shown/);
    await refused(['approve', log[1]?.id as string, '--as', 'boss:ann', ...own], /is a commit, nothing that waits/);
    await refused(
      ['approve', id, '--as', 'boss:ann', ...store],
      /^assize: The trajectory is of the domain till@1 \([0-9a-f]{12}\), and none .* has that name\. Give it .*--domain FILE/,
    );
    await refused(['approve', id, '--as', 'boss:ann', '--anchors', 'none.json', ...own], /none\.json/);
    const bad = file('bad.json', '["ff"]');
    await refused(['approve', id, '--as', 'boss:ann', '--anchors', bad, ...own], /list of public keys/);
    const other = file('other.json', `["${'3d'.repeat(31)}01"]`);
    await refused(
      ['approve', id, '--as', 'boss:ann', '--anchors', other, ...own],
      /is not in .*other\.json; .*--anchors/,
    );
    rmSync(join(folder, 'till.db.anchors.json'));
    await refused(['approve', id, '--as', 'boss:ann', ...own], /No root public keys/);
    expect(await entries(...store)).toHaveLength(6);
  });
});

describe('adjudicate', () => {
  const call = (name: string, args: unknown) => ({ name, arguments: args });
  const run = (calls: unknown[], more: object = {}) =>
    JSON.stringify({ task_id: 0, trial: 0, reward: 1, model: 'm', calls, messages: [], ...more });
  const gone = call('cancel_reservation', { reservation_id: 'NONE00' });

  function data(): string[] {
    mkdirSync(join(folder, 'data'), { recursive: true });
    for (const name of ['users', 'flights', 'reservations']) file(`data/${name}.json`, '{}');
    return ['adjudicate', 'airline', '--data', 'data', '--store', 'sqlite:./a.db'];
  }

  test('an unknown tool and wrong arguments inside a run are rejections on record', async () => {
    const calls = [call('get_user_details', { user_id: 'x' }), call('steal', {}), call('cancel_reservation', {}), gone];
    const messages = [
      { role: 'assistant', content: null, call: 0 },
      { role: 'tool', content: 'Error: user not found', call: 0 },
    ];
    const line = run(calls, { messages });
    const report = await json(0, ...data(), '--runs', file('runs.jsonl', `${line}\n`));
    expect(report).toMatchObject({
      runs: 1,
      proposals: 3,
      committed: 0,
      rejected: { unknown_tool: 1, type_mismatch: 1 },
      escalated: 0,
      tool_errors: 1,
      entries: 5,
      verified: true,
    });
    expect(report.results[0].calls).toEqual([
      { index: 1, name: 'steal', ruling: 'rejected', reason: 'unknown_tool', message: expect.any(String) },
      {
        index: 2,
        name: 'cancel_reservation',
        ruling: 'rejected',
        reason: 'type_mismatch',
        message: expect.any(String),
      },
      {
        index: 3,
        name: 'cancel_reservation',
        ruling: 'tool_error',
        reason: 'precondition_failed',
        message: 'reservation not found',
      },
    ]);
    const store = ['--store', 'sqlite:./a.db'];
    const [base, branched] = (await json(0, 'log', ...store)).trajectories;
    expect(branched).toMatchObject({ trajectory_id: report.results[0].trajectory_id, source: base.trajectory_id });
    const { log } = await json(0, 'log', branched.trajectory_id, ...store);
    const { payload } = await json(0, 'show', log[1].id, ...store);
    const seen = { name: 'get_user_details', value: { arguments: { user_id: 'x' }, output: 'Error: user not found' } };
    expect(payload.intent.observations).toEqual([seen]);
    expect((await json(0, 'show', log[2].id, ...store)).payload.intent.observations).toEqual([]);
  });

  test('the same database is one base, however often it is adjudicated', async () => {
    const args = [...data(), '--runs', file('runs.jsonl', `${run([gone])}\n${run([gone])}`)];
    expect((await assize(...args)).code).toBe(0);
    expect(await json(0, ...args)).toMatchObject({ runs: 2, entries: 9, verified: true });
    expect(await json(0, ...args, '--no-invariants')).toMatchObject({ entries: 14, verified: true });
    expect(JSON.parse(readFileSync(join(folder, 'a.db.anchors.json'), 'utf8'))).toHaveLength(3);
    const store = ['--store', 'sqlite:./a.db'];
    expect((await assize('pending', ...store)).out).toContain('Nothing waits');
    const bases = (await json(0, 'log', ...store)).trajectories.filter(({ source }: { source: string }) => !source);
    expect(bases).toHaveLength(2);
    for (const { trajectory_id } of bases) {
      expect((await assize('branch', trajectory_id, '0', '--note', 'look', ...store)).code).toBe(0);
    }
  });

  test('records that are not as expected are a negative finding', async () => {
    const args = [...data(), '--runs', file('runs.jsonl', run([gone]))];
    const expected = (changed: object) => file('expected.jsonl', JSON.stringify({ task_id: 0, trial: 0, changed }));
    expect(await json(0, ...args, '--expected', expected({}))).toMatchObject({ identical: 1 });
    const wanted = expected({ users: { constructor: { a: 1 } } });
    expect((await json(1, ...args, '--expected', wanted)).results[0].differences).toEqual([
      { collection: 'users', id: 'constructor', expected: { a: 1 }, actual: null },
    ]);
    const { code, out } = await assize(...args, '--expected', wanted);
    expect(code).toBe(1);
    expect(out).toContain('0 of 1 runs changed just the expected records');
    expect(out).toContain('task 0, trial 0: /users/constructor');
  });

  test('Ctrl-C stops between two proposals and leaves a ledger that verifies', async () => {
    const lines = Array.from({ length: 20_000 }, (_, trial) => run([gone], { trial })).join('\n');
    const child = startCommand(folder, undefined, ...data(), '--runs', file('runs.jsonl', lines));
    const over = endOf(child);
    while (child.exitCode === null && !existsSync(join(folder, 'a.db.anchors.json'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    expect(await over).toMatchObject({
      code: 130,
      out: '',
      err: expect.stringMatching(/^assize: Stopped by SIGINT; what was committed until then stays\.$/m),
    });
    expect(readdirSync(folder).filter((name) => name.endsWith('-wal'))).toEqual([]);
    expect((await json(0, 'verify', '--store', 'sqlite:./a.db')).valid).toBe(true);
  });

  describe('bad input is refused before the store is there', () => {
    const good = run([gone]);
    const nobodyIsRoot = process.getuid?.() !== 0;

    /** What is wrong, what it is made of (given the arguments of a good job), what is said. */
    const table: [string, (args: string[]) => string[], RegExp][] = [
      ['no runs', (args) => args, /Name recorded runs with --runs/],
      ['runs and tasks', (args) => [...args, '--runs', file('r', good), '--tasks', 'r'], /cannot be used with/],
      [
        'a missing file',
        (args) => [...args, '--runs', 'none.jsonl'],
        /none\.jsonl can't be read: there is no such file/,
      ],
      ['a folder', (args) => [...args, '--runs', 'data'], /data can't be read: it is a folder/],
      ['an empty file', (args) => [...args, '--runs', file('r', '')], /has no runs/],
      [
        'a line that is not JSON',
        (args) => [...args, '--runs', file('r', `${good}\n{"task_id":\n`)],
        /r, line 2 is not JSON/,
      ],
      ['an empty line', (args) => [...args, '--runs', file('r', `${good}\n\n${good}`)], /r, line 2 is not JSON/],
      ['a name twice', (args) => [...args, '--runs', file('r', '{"a":1,"a":2}')], /line 1 .*twice/],
      [
        'bytes that are no text',
        (args) => [...args, '--runs', file('r', new Uint8Array([0x22, 0xff, 0x22]))],
        /line 1 .*UTF-8/,
      ],
      [
        'a number that is not exact',
        (args) => [...args, '--runs', file('r', run([], { task_id: 2 ** 53 }))],
        /line 1 .*2\^53/,
      ],
      [
        'a task_id that is no number',
        (args) => [...args, '--runs', file('r', `${good}\n${run([], { task_id: '7' })}`)],
        /r, line 2, \/task_id: .*expected number/,
      ],
      [
        'a call without a name',
        (args) => [...args, '--runs', file('r', run([{ arguments: {} }]))],
        /line 1, \/calls\/0\/name: /,
      ],
      [
        'arguments that are no object',
        (args) => [...args, '--runs', file('r', run([call('steal', 'all')]))],
        /line 1, \/calls\/0\/arguments: .*expected object/,
      ],
      [
        'an answer to no call',
        (args) => [...args, '--runs', file('r', run([], { messages: [{ role: 'tool', content: '', call: 0 }] }))],
        /line 1, \/messages\/0\/call: there is no call 0/,
      ],
      [
        'an unknown domain',
        ([a, , ...rest]) => [a as string, 'airlines', ...rest, '--runs', file('r', good)],
        /no domain airlines; this command takes airline, retail, disclosure/,
      ],
      [
        'a domain without runs',
        ([a, , ...rest]) => [a as string, 'budget', ...rest, '--runs', file('r', good)],
        /no recorded runs for the domain budget/,
      ],
      [
        'a word on what escalates where nothing does',
        (args) => [...args, '--runs', file('r', good), '--no-invariants', '--escalations', 'reject'],
        /adjudicate airline --no-invariants does not take --escalations; it takes .*--no-invariants\./,
      ],
      [
        'a word on what escalates where nobody is asked',
        ([a, , ...rest]) => [a as string, 'retail', ...rest, '--runs', file('r', good), '--escalations', 'approve'],
        /adjudicate retail does not take --escalations; it takes --data, --limit, --runs, --tasks, --expected/,
      ],
      [
        'an unknown way',
        (args) => [...args, '--runs', file('r', good), '--escalations', 'ask'],
        /Allowed choices are reject, approve/,
      ],
      [
        'an unknown store',
        (args) => [...args, '--runs', file('r', good), '--store', 'mysql://me:secret@host/db'],
        /No store goes by a URL like this one \('mysql:'\)/,
      ],
      [
        'a folder that is not there',
        (args) => [...args, '--runs', file('r', good), '--store', 'sqlite:./no/a.db'],
        /folder .*no is not there/,
      ],
      [
        'a missing table',
        (args) => {
          rmSync(join(folder, 'data/flights.json'));
          return [...args, '--runs', file('r', good)];
        },
        /flights\.json can't be read/,
      ],
      [
        'a table that is not JSON',
        (args) => [...args, '--runs', file('r', good), '--data', dirname(file('data/users.json', '{"a":\n}'))],
        /users\.json is not JSON at line 2/,
      ],
      [
        'a record of wrong types',
        (args) => [...args, '--runs', file('r', good), '--data', dirname(file('data/users.json', '{"ann":{"dob":7}}'))],
        /users\.json, \/ann\//,
      ],
      [
        'anchors that are none',
        (args) => {
          file('b.db.anchors.json', '{}');
          return [...args, '--runs', file('r', good), '--store', 'sqlite:./b.db'];
        },
        /b\.db\.anchors\.json must be a JSON list/,
      ],
      [
        'expectations for other runs',
        (args) => [...args, '--runs', file('r', good), '--expected', file('e', '{"task_id":1,"trial":0,"changed":{}}')],
        /e does not say what to expect of task 0, trial 0/,
      ],
      [
        'expectations of wrong types',
        (args) => [...args, '--runs', file('r', good), '--expected', file('e', '{"task_id":0,"trial":0,"changed":[]}')],
        /e, line 1, \/changed: /,
      ],
      [
        'tasks of wrong types',
        (args) => [...args, '--tasks', file('t', '[{"task_id":0,"actions":[{"name":"a"}]}]')],
        /t, \/0\/actions\/0\/arguments: /,
      ],
    ];

    test.each(table)('%s', async (_, make, saying) => {
      await refused(make(data()), saying);
      expect(readdirSync(folder).filter((name) => /\.db/.test(name) && name !== 'b.db.anchors.json')).toEqual([]);
    });

    test.runIf(nobodyIsRoot)('a file that may not be read', async () => {
      const args = [...data(), '--runs', file('r', good)];
      chmodSync(join(folder, 'r'), 0o000);
      await refused(args, /may not be read/);
    });

    test('a read-only folder', async () => {
      const args = [...data(), '--runs', file('r', good)];
      // Nothing is read-only for root, except what the kernel shows as files.
      if (nobodyIsRoot) chmodSync(folder, 0o555);
      const store = nobodyIsRoot ? [] : ['--store', 'sqlite:/proc/a.db'];
      await refused([...args, ...store], /can't be written/);
      expect(readdirSync(folder).sort()).toEqual(['data', 'r']);
    });

    test.each([
      ['is no database', (path: string) => writeFileSync(path, 'a letter')],
      ['is empty', (path: string) => writeFileSync(path, '')],
      ['is another program’s', (path: string) => new DatabaseSync(path).exec('CREATE TABLE t (a)')],
    ])('a store file that %s is left as it is', async (_, make) => {
      const args = [...data(), '--runs', file('r', good)];
      make(join(folder, 'a.db'));
      const before = readFileSync(join(folder, 'a.db'));
      await refused(args, /is no Assize store|is an empty file/);
      await refused(['log', '--store', 'sqlite:./a.db'], /is no Assize store|is an empty file/);
      expect(readFileSync(join(folder, 'a.db'))).toEqual(before);
      expect(readdirSync(folder).sort()).toEqual(['a.db', 'data', 'r']);
    });

    test('a store of a newer version is left as it is', async () => {
      const store = till();
      const db = new DatabaseSync(join(folder, 'till.db'));
      db.exec('PRAGMA user_version = 99');
      db.close();
      const args = [...data(), '--runs', file('r', good), ...store];
      for (const command of [args, ['log', ...store], ['verify', ...store], ['pending', ...store]]) {
        await refused(command, /has schema 99 and this version of Assize knows \d+/);
      }
    });
  });
});

describe('files that are not there', () => {
  test.each<[string, string[], RegExp]>([
    ['to import', ['import', 'nofile'], /nofile can't be read: there is no such file\.$/m],
    ['to import, and a folder', ['import', '.'], /can't be read: it is a folder/],
    [
      'with a key',
      ['checkpoint', '--key', 'nofile'],
      /private key of the log can't be read: there is no such file \(nofile\); assize keys new/,
    ],
    [
      'with the public key',
      ['prove', 'deadbeef', '--log-key', 'no.vkey'],
      /no such file \(no\.vkey\); the operator of the log/,
    ],
    ['by default', ['prove', 'deadbeef'], /there is no such file \(\.\/till\.db\.vkey\)/],
    [
      'to export into',
      ['export', '--out', 'none/x'],
      /none\/x can't be written: there is no such folder; name another place/,
    ],
    [
      'to make keys in',
      ['keys', 'new', 'example.com/x', '--out', 'none/x'],
      /can't be written: there is no such folder/,
    ],
  ])('%s are named, with what to do', async (_, args, saying) => {
    const store = args[0] === 'keys' ? [] : till();
    await refused([...args, ...store], saying);
    const { err } = await assize(...args, ...store);
    expect(err).not.toMatch(/ENOENT|EISDIR/);
  });

  test('a proof that can’t be written is told so', async () => {
    const store = till();
    await json(0, 'keys', 'new', 'example.com/till', ...store);
    await json(0, 'checkpoint', ...store);
    const [first] = await entries(...store);
    await refused(
      ['prove', first!.id, '--out', 'none/x', ...store],
      /none\/x can't be written: there is no such folder/,
    );
  });

  test('what is there is not exported over', async () => {
    const store = till();
    file('there.jsonl', 'mine');
    await refused(
      ['export', '--out', 'there.jsonl', ...store],
      /there\.jsonl can't be written: there is a file in its way/,
    );
    expect(readFileSync(join(folder, 'there.jsonl'), 'utf8')).toBe('mine');
  });

  test.each(['{"not":"an export"}\n', 'garbage', ''])('an import of %j leaves no store behind', async (text) => {
    file('garbage.jsonl', text);
    await refused(['import', 'garbage.jsonl', '--store', 'sqlite:./new.db'], /line 1|trailer/i);
    expect(readdirSync(folder)).toEqual(['garbage.jsonl']);
  });

  test('an empty name of a store is told with the variable that may have it', async () => {
    const { code, out, err } = await runCommand(folder, '', 'log');
    expect([code, out, err]).toEqual([2, '', expect.stringMatching(/empty name: .*--store.*ASSIZE_STORE/)]);
  });
});

describe('no store', () => {
  test.each([
    ['log'],
    ['show', 'deadbeef'],
    ['state', 't'],
    ['verify'],
    ['branch', 't', '0', '--note', 'n'],
    ['diff', 'a', 'b'],
    ['pending'],
    ['approve', 'deadbeef', '--as', 'md:x', '--anchors', 'keys.json'],
    ['reject', 'deadbeef', '--as', 'md:x', '--reason', 'r'],
  ])('%s says so and makes none', async (...args) => {
    file('keys.json', `["${'3d'.repeat(31)}01"]`);
    await refused(args, /There is no store at .*assize\.db/);
    expect(readdirSync(folder)).toEqual(['keys.json']);
  });

  test('a file of anchors that is not there is said to be that', async () => {
    const store = till();
    const id = (await entries(...store)).at(-1)?.id as string;
    await refused(
      ['approve', id, '--as', 'boss:x', '--domain', 'till.ts', '--anchors', 'none.json', ...store],
      /The anchors can't be read: there is no such file \(none\.json\)/,
    );
  });
});

describe('bench', () => {
  test('passes on what it is asked, and what comes of it', async () => {
    const { code, err } = await assize('bench', '--only', 'nothing', '--json');
    expect(code).toBe(2);
    expect(err).toContain('nothing');
  });
});
