/** Points in time on the command line, deep verification, and the guide to both. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import { type Ended, endOf, runCommand } from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');
const main = join(root, 'packages/cli/src/main.ts');

/** A till: payments over 100 need the boss, more than a cap in all is refused. */
const TILL = (version: string, cap: number): string => `
import { defineDomain, escalate, pass, reject } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { z } from '${pathToFileURL(join(root, 'node_modules/zod/index.js'))}';
export const till = defineDomain({
  name: 'till',
  version: '${version}',
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
      payments.reduce((sum, { amount }) => sum + amount, 0) <= ${cap} ? pass : reject('more than ${cap} in all')),
    each('LARGE', '/payments/*', {
      channel: 'boss',
      onApprove: (state, { counselor, keys: [i] }) => { state.payments[Number(i)].by = counselor; },
    }, ({ amount, by }) => (amount <= 100 || by !== undefined ? pass : escalate('over 100'))),
  ],
  counselors: { boss: (principal) => principal.startsWith('boss:') },
});
`;
/** Ten minutes pass between two payments; two of them are made in the same second. */
const MAKE_LEDGER = `
import { Assize, generateKeys, issueWrit, openStore } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { writeAnchors } from '${pathToFileURL(join(root, 'packages/command/src/store/anchors.ts'))}';
import { till } from './till.ts';
const store = await openStore('sqlite:./till.db');
const keys = generateKeys();
writeAnchors('sqlite:./till.db', [keys.publicKey]);
const writ = issueWrit({
  issuer: keys.publicKey, subject: 'agent:clerk', actions: ['pay'], scopes: ['role:clerk'], max_depth: 0, nonce: '1',
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z',
}, keys.privateKey);
let at = '2026-03-23T09:00:00.000000Z';
const assize = new Assize({ store, domains: [till], anchors: [keys.publicKey], ports: { clock: { now: () => at } } });
const begun = await assize.create(till, { trajectoryId: 'till-1', writs: [writ], note: 'monday' });
const pay = (trajectory, amount, memo) => trajectory.propose({ action: 'pay', role: 'clerk', args: { amount, memo }, writ });
at = '2026-03-23T09:10:00.000000Z';
await pay(begun, 50, 'paper');
await pay(begun, 60, 'ink');
at = '2026-03-23T09:20:00.000000Z';
await pay(begun, 5000, 'a yacht');
at = '2026-03-23T09:30:00.000000Z';
const desk = await pay(begun, 500, 'a desk');
at = '2026-03-23T09:40:00.000000Z';
const paid = await begun.approvals.approve(desk.pending, { principal: 'boss:ann', method: 'test' });
const branch = await assize.branch('till-1', paid.entry.id, { trajectoryId: 'till-2', writs: [writ], note: 'what if' });
at = '2026-03-23T09:50:00.000000Z';
await pay(branch, 70, 'a lamp');
const again = await assize.branch('till-2', branch.head, { trajectoryId: 'till-3', writs: [writ], note: 'and then' });
await pay(again, 80, 'a chair');
await pay(begun, 90, 'x'.repeat(20000));
await assize.create(till, { trajectoryId: 'other' });
await store.close();
`;

let made: string;
let folder: string;

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'assize-points-made-'));
  writeFileSync(join(made, 'till.ts'), TILL('1', 1000));
  writeFileSync(join(made, 'make.ts'), MAKE_LEDGER);
  const child = spawn(process.execPath, ['make.ts'], {
    cwd: made,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  expect(await once(child, 'exit')).toEqual([0, null]);
});

afterAll(() => {
  rmSync(made, { recursive: true, force: true });
});

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-points-'));
  for (const name of ['till.db', 'till.db.anchors.json', 'till.ts'])
    copyFileSync(join(made, name), join(folder, name));
});

afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const STORE = 'sqlite:./till.db';

/** Where a machine is slow, it is said how far the work is. */
function withoutProgress(text: string): string {
  return text.replace(/^[a-z ]+ entries[a-z ]*: \d.*\n/gm, '');
}

async function assize(...args: string[]): Promise<Ended> {
  const { err, ...ended } = await runCommand(folder, STORE, ...args);
  return { ...ended, err: withoutProgress(err) };
}

async function json(code: number, ...args: string[]): Promise<any> {
  const { code: found, out, err } = await assize(...args, '--json');
  expect({ code: found, err }, out).toEqual({ code, err: '' });
  return JSON.parse(out);
}

/** One sentence on standard error, exit 2, and nothing else. */
async function refused(args: readonly string[], saying: RegExp): Promise<void> {
  const { code, out, err } = await assize(...args);
  expect({ code, out }).toEqual({ code: 2, out: '' });
  expect(err).toMatch(/^assize: [^\n]+\n$/);
  expect(err).toMatch(saying);
}

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text);
  return name;
}

async function idOf(trajectory: string, seq: number): Promise<string> {
  return (await json(0, 'log', trajectory)).log[seq].id;
}

describe('a point', () => {
  test('is a seq, an id, an id prefix or an instant, all with the same state', async () => {
    const id = await idOf('till-1', 2);
    const at = {
      trajectory_id: 'till-1',
      seq: 2,
      entry_id: id,
      pointer: '/payments/1/memo',
      state: 'ink',
    };
    const part = ['--pointer', '/payments/1/memo'];
    const names = [
      ['till-1', '--at', '2'],
      ['till-1', '--at', id],
      ['till-1', '--at', id.slice(0, 8).toUpperCase()],
      // The last of those that are of that time.
      ['till-1', '--at', '2026-03-23T09:10:00.000000Z'],
      ['till-1', '--at', '2026-03-23T11:19:59.999999+02:00'],
      ['till-1@2'],
      [`till-1@${id.slice(0, 12)}`],
      ['till-1@2026-03-23T09:19Z'],
      [id],
      [id.slice(0, 10)],
    ];
    for (const one of await Promise.all(names.map((name) => json(0, 'state', ...name, ...part))))
      expect(one).toEqual(at);
  });

  test.each([
    ['2026-03-23T09:00:00Z', 0],
    ['2026-03-23T09:09:59.999999Z', 0],
    ['2026-03-23T09:10:00Z', 2],
    ['2026-03-23T09:30:00Z', 4],
    ['2026-03-23T09:45:00Z', 5],
    ['2026-03-23T09:50:00Z', 6],
    ['2999-01-01T00:00:00Z', 6],
    ['2026-03-23T09:30:00.000Z', 4],
    ['2026-03-24', 6],
  ])('%s is after entry %i', async (instant, seq) => {
    expect(await json(0, 'state', `till-1@${instant}`)).toMatchObject({ seq });
  });

  test('that does not exist is refused, with the forms to write', async () => {
    const [inTill, inBranch] = [await idOf('till-1', 1), await idOf('till-2', 0)];
    const none = inTill.startsWith('00000000') ? 'ffffffff' : '00000000';
    await refused(['state', 'till-1@7'], /till-1 has no entry with seq 7\. Pass a seq from 0 to 6/);
    await refused(['state', 'till-9@1'], /no trajectory till-9/);
    await refused(['state', 'till-9'], /no trajectory till-9/);
    await refused(['state', 'till-1@'], /'' is not a place in till-1\. Pass a seq/);
    await refused(['state', 'till-1@first'], /'first' is not a place in till-1\. Pass a seq/);
    await refused(['state', 'till-1', '--at', '1.5'], /'1\.5' is not a place/);
    await refused(['state', `till-1@${none}`], /no entry/);
    await refused(['state', none], /no entry/);
    await refused(['state', `till-1@${inBranch}`], /belongs to till-2, not to till-1/);
    await refused(
      ['state', 'till-1@2026-03-23T08:59:59Z'],
      /till-1 starts at 2026-03-23T09:00:00\.000000Z, after/,
    );
    await refused(['state', 'till-1@2026-03-32'], /The instant is not valid: there is no such day/);
    await refused(['state', 'till-1@2026-03'], /The instant is not valid: write it as/);
    await refused(['state', 'till-1@2026-02-30T00:00:00Z'], /no such day/);
    await refused(['state', 'till-1@1', '--at', '2'], /no trajectory till-1@1/);
    await refused(['diff', 'till-1@1', 'till-1@99'], /no entry with seq 99/);
    await refused(['show', 'till-1@99'], /no entry with seq 99/);
    await refused(['branch', 'till-1@99', '--note', 'n'], /no entry with seq 99/);
  });

  test('that is searched by time is not misled by a changed entry', async () => {
    const db = openUnguarded(join(folder, 'till.db'));
    const sql = `UPDATE entry SET payload = replace(payload, 'T09:30', 'T09:39') WHERE seq = 4`;
    expect(db.prepare(sql).run().changes).toBe(1);
    db.close();
    const { code, out, err } = await assize('state', 'till-1@2026-03-23T09:35:00Z');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/till-1 seq 4: the payload does not hash to the id/);
  });

  test('can be shown, and branched from', async () => {
    expect(await json(0, 'show', 'till-1@3')).toMatchObject({
      seq: 3,
      payload: { reason: 'invariant_rejected' },
    });
    expect(await json(0, 'show', 'till-1@2026-03-23T09:35:00Z')).toMatchObject({
      seq: 4,
      kind: 'pending_approval',
    });
    const how = ['--note', 'n', '--domain', 'till.ts'];
    const begun = await json(0, 'branch', 'till-1@2026-03-23T09:15:00Z', '--id', 'b', ...how);
    expect(begun).toMatchObject({
      trajectory_id: 'b',
      source: { trajectory_id: 'till-1', seq: 2 },
    });
    expect(await json(0, 'branch', 'till-1', ...how)).toMatchObject({ source: { seq: 6 } });
    await refused(['branch', 'till-1@3', ...how], /is a rejection/);
  });
});

describe('diff', () => {
  test('of two points of a trajectory: the states, and the entries between them', async () => {
    const found = await json(1, 'diff', 'till-1@1', 'till-1@5');
    expect(found).toMatchObject({
      from: { trajectory_id: 'till-1', seq: 1 },
      to: { trajectory_id: 'till-1', seq: 5 },
      equal: false,
      after: { trajectory_id: 'till-1', seq: 1 },
      patch: [
        { op: 'add', path: '/payments/1', value: { amount: 60, memo: 'ink' } },
        { op: 'add', path: '/payments/2', value: { amount: 500, by: 'boss:ann', memo: 'a desk' } },
      ],
    });
    expect(found.entries.from).toEqual([]);
    expect(
      found.entries.to.map(
        ({ seq, ruling }: { seq: number; ruling: string }) => `${seq} ${ruling}`,
      ),
    ).toEqual(['2 committed', '3 rejected', '4 escalated', '5 committed']);
    expect(found.entries.to[1]).toMatchObject({ trajectory_id: 'till-1', invariant_id: 'CAP' });
    const { code, out } = await assize('diff', 'till-1@5', 'till-1@1');
    expect(code).toBe(1);
    expect(out).toMatch(/^till-1 seq 5 diverges from seq 2:$/m);
    expect(out).toMatch(/^till-1 seq 1 has no later entry\.$/m);
    expect(out).toMatch(
      /^till-1@3 +2026-03-23T09:20:00Z +pay +rejected +CAP: more than 1000 in all$/m,
    );
    expect(out).toMatch(/^change +path +before +after$/m);
    expect(out).toMatch(/^remove +\/payments\/1 +\{"amount":60,"memo":"ink"\}$/m);
  });

  test('of a nested branch and its far source: each side’s entries, on its path', async () => {
    const found = await json(1, 'diff', 'till-1', 'till-3');
    expect(found.after).toMatchObject({ trajectory_id: 'till-1', seq: 5 });
    const places = (entries: { trajectory_id: string; seq: number }[]) =>
      entries.map(({ trajectory_id, seq }) => `${trajectory_id}@${seq}`);
    expect(places(found.entries.from)).toEqual(['till-1@6']);
    expect(places(found.entries.to)).toEqual(['till-2@0', 'till-2@1', 'till-3@0', 'till-3@1']);
    const { out } = await assize('diff', 'till-1', 'till-3');
    expect(out).toMatch(/^till-3 seq 1 diverges from seq 0 of till-2:$/m);
    expect(out).toMatch(
      /^replace +\/payments\/3\/memo +"x{59} … 19942 more characters +"a lamp"$/m,
    );
    expect(await json(1, 'diff', 'till-2@0', 'till-3@0')).toMatchObject({
      entries: { from: [], to: [{ seq: 1 }, {}] },
    });
  });

  test('of equal states says so, also where rulings lie between them', async () => {
    expect(await json(0, 'diff', 'till-1@2', 'till-1@3')).toMatchObject({
      equal: true,
      patch: [],
      entries: { from: [], to: [{}] },
    });
    expect(await json(0, 'diff', 'till-1@3', 'till-1@3')).toMatchObject({
      entries: { from: [], to: [] },
    });
    const { code, out } = await assize('diff', 'till-1@2026-03-23T09:12:00Z', 'till-1@4');
    expect({ code, out: out.split('\n').at(-2) }).toEqual({
      code: 0,
      out: 'The states are equal.',
    });
  });

  test('of trajectories that have nothing in common lists no entries', async () => {
    expect(await json(1, 'diff', 'other', 'till-1')).toMatchObject({
      after: null,
      entries: null,
    });
    expect((await assize('diff', 'other', 'till-1')).out).toMatch(
      /^The chains have no entry in common/,
    );
  });

  test('of long ways shows their beginning, and as JSON all of it', async () => {
    const more = `
import { Assize, generateKeys, issueWrit, openStore } from '${pathToFileURL(join(root, 'packages/assize/src/public/index.ts'))}';
import { till } from './till.ts';
const store = await openStore('sqlite:./long.db');
const { publicKey, privateKey } = generateKeys();
const writ = issueWrit({ issuer: publicKey, subject: 'a', actions: ['pay'], scopes: ['role:clerk'], max_depth: 0, nonce: '1',
  not_before: '2020-01-01T00:00:00.000000Z', expires: '2100-01-01T00:00:00.000000Z' }, privateKey);
const t = await new Assize({ store, domains: [till], anchors: [publicKey] }).create(till, { trajectoryId: 't', writs: [writ] });
for (let i = 0; i < 30; i++) await t.propose({ action: 'pay', role: 'clerk', args: { amount: 1, memo: 'm' }, writ });
await store.close();
`;
    execFileSync(process.execPath, [file('more.ts', more)], { cwd: folder });
    const at = ['t@5', 't', '--store', 'sqlite:./long.db'];
    const { out } = await assize('diff', ...at);
    expect(out.match(/^t@\d+ /gm)).toHaveLength(20);
    expect(out).toMatch(/^and 5 more; assize log lists them$/m);
    expect((await json(1, 'diff', ...at)).entries.to).toHaveLength(25);
  });
});

describe('verify --deep', () => {
  const own = ['--deep', '--domain', 'till.ts'];

  test('runs the domains again, for the whole store or for named trajectories', async () => {
    const all = await json(0, 'verify', ...own);
    expect(all).toMatchObject({ valid: true, trajectories: 4, entries: 12 });
    expect(
      all.deep.map((report: any) => [
        report.trajectory_id,
        report.same,
        report.preserved,
        report.entries,
      ]),
    ).toEqual([
      ['till-1', true, true, 7],
      ['till-2', true, true, 2],
      ['till-3', true, true, 2],
      ['other', true, true, 1],
    ]);
    // With its sources, although the command does not name them: six entries, a branch entry and a
    // payment, and its own two.
    const one = await json(0, 'verify', 'till-3', ...own);
    expect(one.deep).toMatchObject([{ trajectory_id: 'till-3', entries: 10 }]);
    const { code, out } = await assize('verify', ...own);
    expect(code).toBe(0);
    expect(out).toMatch(/^till-1 +till@1 +7 +the same$/m);
    expect(out).toMatch(
      /^4 of 4 trajectories have the same result when their domain runs again\.$/m,
    );
    expect(await json(0, 'verify')).not.toHaveProperty('deep');
  });

  test('names every entry that comes out otherwise, on a line', async () => {
    // The declaration is the same, and so is the hash; the result of a rule is not.
    file('till.ts', TILL('1', 100));
    const { code, out } = await assize('verify', 'till-1', ...own);
    expect(code).toBe(1);
    expect(out).toMatch(/^1 of 1 trajectories are valid, 7 entries\.$/m);
    expect(out).toMatch(/^till-1 +till@1 +7 +4 differences, 1 broken invariant$/m);
    const rejected = 'rejected \\(CAP\\), more than 100 in all';
    expect(out).toMatch(
      new RegExp(
        `^till-1 seq 2 \\([0-9a-f]{12}\\): ruling: recorded committed; now ${rejected}$`,
        'm',
      ),
    );
    expect(out).toMatch(
      new RegExp(
        `^till-1 seq 4 .* recorded escalated \\(LARGE\\), .*over 100; now ${rejected}$`,
        'm',
      ),
    );
    expect(out).toMatch(
      /^till-1 seq 2 \([0-9a-f]{12}\): CAP no longer passes: more than 100 in all$/m,
    );
    expect(out).toMatch(/^0 of 1 trajectories have the same result/m);
    const { valid, deep } = await json(1, 'verify', 'till-3', ...own);
    expect({ valid, same: deep[0].same }).toEqual({ valid: true, same: false });
    // A difference of the source is one of the branch, under the source's name.
    expect(deep[0].differences[0]).toMatchObject({
      trajectory_id: 'till-1',
      seq: 2,
      what: 'ruling',
    });
    expect((await assize('verify', 'till-3', ...own)).out).toMatch(/^till-3, from till-1 seq 2 /m);
  });

  test('needs the domain, and accepts another one only on request', async () => {
    await refused(['verify', '--deep'], /has the domain till@1 .*--domain FILE/);
    file('till.ts', TILL('2', 100));
    await refused(
      ['verify', ...own],
      /has the domain till@1 .*The given domain is till@2 .*--changed-domain/,
    );
    await refused(['verify', '--domain', 'till.ts'], /need --deep/);
    await refused(['verify', '--changed-domain'], /need --deep/);
    await refused(['verify', '--deep', '--domain', 'none.ts'], /The domain file .* does not exist/);
    const changed = await json(1, 'verify', 'till-1', ...own, '--changed-domain');
    expect(changed.deep[0]).toMatchObject({
      same: false,
      domain: { version: '2' },
      recorded_domain: { version: '1' },
    });
    expect((await assize('verify', 'till-1', ...own, '--changed-domain')).out).toMatch(
      /^till-1 +till@2 \([0-9a-f]{12}\) for 1 \([0-9a-f]{12}\) +7 /m,
    );
    const as = file('later.ts', TILL('2', 1000));
    await json(0, 'verify', '--deep', '--domain', as, '--changed-domain');
  });

  test('runs nothing of a trajectory that does not verify', async () => {
    const db = openUnguarded(join(folder, 'till.db'));
    db.prepare(
      `UPDATE entry SET payload = replace(payload, 'a lamp', 'a tram') WHERE seq = 1`,
    ).run();
    db.close();
    const { valid, reports, deep } = await json(1, 'verify', ...own);
    expect(valid).toBe(false);
    expect(reports.map((report: any) => report.valid)).toEqual([true, false, false, true]);
    expect(deep.map((report: any) => [report.trajectory_id, report.same])).toEqual([
      ['till-1', true],
      ['other', true],
    ]);
  });

  test('changes nothing', async () => {
    const before = readFileSync(join(folder, 'till.db'));
    await json(0, 'verify', ...own);
    expect(readFileSync(join(folder, 'till.db'))).toEqual(before);
  });

  test('replays the demo equally by its domains, with both approvals', async () => {
    expect((await assize('demo', '--store', 'sqlite:./demo.db')).code).toBe(0);
    const { deep } = await json(0, 'verify', '--deep', '--store', 'sqlite:./demo.db');
    expect(deep).toMatchObject([
      { same: true, preserved: true, entries: 21, compared: 21, taken_as_recorded: {} },
      { same: true, preserved: true, entries: 7, compared: 5, taken_as_recorded: {} },
    ]);
  });
});

describe.skipIf(process.platform !== 'linux' || !existsSync('/usr/bin/script'))(
  'on a terminal (by script(1))',
  () => {
    function typed(...args: string[]): Promise<Ended> {
      const command = [process.execPath, main, ...args].map((arg) => `'${arg}'`).join(' ');
      const env = { ...process.env, ASSIZE_STORE: STORE, NO_COLOR: '1' };
      return endOf(spawn('/usr/bin/script', ['-qec', command, '/dev/null'], { cwd: folder, env }));
    }

    test('a long state is outlined with a hint; a part, short states, JSON whole', async () => {
      const long = await typed('state', 'till-1');
      expect(long.code).toBe(0);
      expect(long.out).toMatch(/^part +value\s*$/m);
      expect(long.out).toMatch(/^\/payments +a list of 4\s*$/m);
      expect(long.out).toContain('--pointer /payments shows a part');
      expect(long.out).not.toContain('xxx');
      expect((await typed('state', 'till-1', '--json')).out).toContain('x'.repeat(20_000));
      expect((await typed('state', 'till-1', '--pointer', '/payments/2')).out).toContain(
        '"memo": "a desk"',
      );
      expect((await typed('state', 'till-1@5')).out).toContain('"memo": "a desk"');
      expect((await assize('state', 'till-1')).out).toContain('x'.repeat(20_000));
    });
  },
);
