/** The tour of `npm start`: its worlds, its bank, and every command that it prints. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openStore } from 'assize/internal/stores';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtPackages } from '../../../tests/support/built.ts';
import { runtimeOver } from '../../../tests/support/ledger/runtime.ts';
import { runProcess } from '../../../tests/support/process/command.ts';
import {
  type ListeningServer,
  startServer,
} from '../../../tests/support/process/listening-server.ts';
import { till } from '../../../tests/support/server/till.ts';
import type { BankLine } from '../src/tour/bank.ts';

let folder: string;
let server: ListeningServer;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'assize-tour-'));
  server = await startServer(folder, ['--tour', '--port', '0'], END);
}, 120_000);
afterAll(async () => {
  await server?.end('SIGKILL');
  rmSync(folder, { recursive: true });
});

const MAIN = join(import.meta.dirname, '../src/main.ts');
const END = { last: 'last_event_id=-1' };
const at = (name: string): string => join(folder, name);
const bankLog = (): BankLine[] =>
  readFileSync(at('assize-tour.db.bank.jsonl'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as BankLine);
const payments = () => bankLog().flatMap((line) => (line.does === 'pays' ? [line] : []));

/** The printed commands, each with the remark above it. */
function commands(): Map<string, string> {
  return new Map(
    [...server.printed().matchAll(/^# (.*)\n(curl .*)$/gm)].map(([, does = '', command = '']) => [
      (/^\w+/.exec(does) as RegExpExecArray)[0],
      command,
    ]),
  );
}

/** Runs a printed command as it stands, and returns the documents that it prints. */
function run(does: string): any[] {
  const command = commands().get(does);
  if (command === undefined) throw new Error(`The tour prints no command for: ${does}`);
  const printed = execFileSync('sh', ['-c', command], { cwd: folder, encoding: 'utf8' });
  return printed
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

describe('the tour', () => {
  test('tells three worlds from the ledger and from the log of the bank', () => {
    const said = server.printed();
    expect(said).toMatch(
      /rejected +r2 acme-gold +4900\.00 +PAYEE_IS_KNOWN: .* The text of the receipt asked for it\./,
    );
    expect(said).toMatch(/escalated r3 carla +1240\.00 +A manager must decide\./);
    expect(said).toMatch(
      /committed r4 dan +96\.00 +The server was killed during the payment\. .* one payment B-3\./,
    );
    expect(said).toContain('3 payments, 157.30 in all, each once.');
    expect(said).toMatch(/^bills {7}The agent pays suppliers behind a rules file\./m);
    expect(said.split('\n').length).toBeLessThan(45);
  });

  test('its bank paid once for each key, and got the cut request twice', () => {
    expect(payments().map(({ receipt, to, cents }) => `${receipt} ${to} ${cents}`)).toEqual([
      'r1 ada 4280',
      'r2 ben 1850',
      'r4 dan 9600',
    ]);
    const cut = payments().at(-1)?.key;
    expect(bankLog().filter(({ key }) => key === cut)).toMatchObject([
      { does: 'pays' },
      { does: 'repeats' },
    ]);
  });

  test('no other user can read its tokens, its root key or its bank', () => {
    const names = readdirSync(folder).filter((name) =>
      /\.(agent|manager|auditor|root\.key|bank\.jsonl|db)$/.test(name),
    );
    expect(names).toHaveLength(6);
    for (const name of names)
      expect([name, (statSync(at(name)).mode & 0o777).toString(8)]).toEqual([name, '600']);
    const secrets = ['agent', 'manager', 'auditor'].map(
      (word) =>
        readFileSync(at(`assize-tour.db.${word}`), 'utf8')
          .trim()
          .split(' ')
          .at(-1) as string,
    );
    const said = server.printed() + readFileSync(at('assize-tour.db.server.jsonl'), 'utf8');
    for (const secret of secrets) expect(said).not.toContain(secret);
  });

  test('its simulation continues the receipts in memory, without the bank', async () => {
    const paid = bankLog().length;
    const [name = '', value = ''] = readFileSync(at('assize-tour.db.auditor'), 'utf8')
      .trim()
      .split(': ');
    const answer = await fetch(`${server.url}/v1/trajectories/expenses/simulations`, {
      method: 'POST',
      headers: { [name]: value, 'content-type': 'application/json' },
      // The entries before are memory, and the first receipt follows.
      body: JSON.stringify({ simulation: 'clerks', at_seq: 4 }),
    });
    const { variants } = (await answer.json()) as { readonly variants: readonly any[] };
    expect(
      variants.map((variant) => [
        variant.name,
        Object.keys(variant.rules),
        variant.samples[0].outcome,
      ]),
    ).toEqual([
      ['as it was', ['MANAGER_APPROVES', 'PAYEE_IS_KNOWN'], 'waits'],
      ['no orders from text', ['MANAGER_APPROVES'], 'waits'],
      ['stricter policy', ['MANAGER_APPROVES', 'PAYEE_IS_KNOWN', 'forty-euros-ask'], 'waits'],
      ['all approved', ['MANAGER_APPROVES', 'PAYEE_IS_KNOWN'], 'done'],
    ]);
    expect(variants[0].samples[0].parts).toBeUndefined();
    expect(variants[3].calls).toEqual({ 'bank.transfer': { record: 3, simulator: 1 } });
    expect(bankLog()).toHaveLength(paid);
  });

  test('its six commands do as printed', () => {
    expect([...commands().keys()]).toEqual([
      'list',
      'approve',
      'read',
      'propose',
      'verify',
      'follow',
    ]);
    expect(run('list')).toMatchObject([
      { approvals: [{ channel: 'manager', requester: 'agent:clerk' }] },
    ]);
    expect(run('approve')).toMatchObject([{ ruling: 'committed', calls: [{ phase: 'applied' }] }]);
    expect(run('list')).toEqual([{ approvals: [] }]);
    const [entry, checkpoint, proof] = run('read');
    expect(entry).toMatchObject({ trajectory_id: 'expenses', kind: 'pending_approval' });
    expect(checkpoint.size).toBeGreaterThan(0);
    expect(proof).toMatchObject({
      entry_id: entry.id,
      proof: expect.stringContaining('c2sp.org/tlog-proof@v1'),
    });
    const [first, again] = [run('propose'), run('propose')];
    expect(first).toMatchObject([{ ruling: 'committed', effects: 'settled' }]);
    expect(again[0].entry_id).toBe(first[0].entry_id);
    expect(
      payments()
        .map(({ receipt, cents }) => `${receipt} ${cents}`)
        .slice(3),
    ).toEqual(['r3 124000', 'r5 2300']);
    const [verified] = run('verify');
    expect(verified.valid).toBe(true);
    expect(
      verified.reports.map((one: { trajectory_id: string }) => one.trajectory_id).sort(),
    ).toEqual(['bills', 'expenses', 'udt']);
  });

  test('its event stream has every entry of the ledger', async () => {
    const command = commands().get('follow') as string;
    const entries = run('verify')[0].reports.reduce(
      (sum: number, one: { entries: number }) => sum + one.entries,
      0,
    );
    const shown = execFileSync('sh', ['-c', `timeout 4 ${command} || true`], {
      cwd: folder,
      encoding: 'utf8',
    });
    const ids = [...shown.matchAll(/^id: (\d+)\nevent: (?!ready)/gm)].map(([, id]) => Number(id));
    expect(ids).toEqual(Array.from({ length: entries }, (_, i) => i));
  });

  const signIn = (link: string) =>
    fetch(`${server.url}/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body: JSON.stringify({ code: new URL(link).hash.slice(1) }),
    });

  test('its sign-in link signs in once', async () => {
    const [, link = ''] = /^ {2}manager:grace +(\S+)$/m.exec(server.printed()) ?? [];
    expect((await signIn(link)).status).toBe(201);
    const again = await signIn(link);
    expect(again.status).toBe(401);
    expect(await again.text()).toContain(
      'The server printed a command that makes a new link: npx assize token sign-in NAME.',
    );
  });

  test('its command makes a new link while it runs, for its people only', async () => {
    const [, line = ''] = /^A new link: npx assize (.+)$/m.exec(server.printed()) ?? [];
    const words = line.split(' ');
    const { code, out, err } = await runProcess(folder, undefined, ...words);
    expect([code, err]).toEqual([0, '']);
    expect((await signIn(out.trim())).status).toBe(201);
    const other = words.map((word) => word.replace('manager:grace', 'manager:none'));
    expect(await runProcess(folder, undefined, ...other)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/no principal manager:none\. Name one of: .*manager:grace/),
    });
  });

  test('nine months ago it believed another account, and refused yesterday', async () => {
    const [name = '', value = ''] = readFileSync(at('assize-tour.db.auditor'), 'utf8')
      .trim()
      .split(': ');
    const headers = { [name]: value, 'content-type': 'application/json' };
    const believedOn = async (system: string) => {
      const answer = await fetch(`${server.url}/v1/trajectories/expenses/memory/payees/recall`, {
        ...{ method: 'POST', headers },
        body: JSON.stringify({ subject: 'ada', predicate: 'account', system }),
      });
      const { facts } = (await answer.json()) as { facts: { object: string }[] };
      return facts.map(({ object }) => object);
    };
    const day = (ago: number, hour: number, minute = 0): string => {
      const then = new Date();
      then.setDate(then.getDate() - ago);
      then.setHours(hour, minute, 0, 0);
      return then.toISOString();
    };
    expect(await believedOn(day(260, 12))).toEqual(['DE 17 0001']);
    expect(await believedOn(day(0, 0))).toEqual(['DE 42 0007']);
    const span = `since=${day(1, 14)}&until=${day(1, 14, 10)}&ruling=rejected`;
    const found = await fetch(`${server.url}/v1/entries?${span}`, { headers });
    const { entries } = (await found.json()) as { entries: object[] };
    expect(entries).toMatchObject([{ action: 'pay', rules: ['PAYEE_IS_KNOWN'] }]);
  });

  test('Ctrl-C ends it with 0, and the next start has the same worlds', async () => {
    const before = server.printed();
    expect(await server.end('SIGINT')).toBe(0);
    const verified = await runProcess(folder, 'sqlite:./assize-tour.db', 'verify', '--json');
    expect(JSON.parse(verified.out)).toMatchObject({ valid: true });
    server = await startServer(folder, ['--tour', '--port', '0'], END);
    const rulings = (text: string) =>
      [...text.matchAll(/^ +#\d+ .*$/gm)].map(([line]) => line.replace(/A manager .*/, ''));
    expect(rulings(server.printed()).slice(0, 5)).toEqual(rulings(before));
    expect(server.printed()).toMatch(/escalated r3 carla +1240\.00 +A manager decided: #\d+\./);
    expect([...commands().keys()]).toEqual(['list', 'read', 'propose', 'verify', 'follow']);
    expect(run('verify')).toMatchObject([{ valid: true }]);
    expect(payments()).toHaveLength(5);
  });

  test('--fresh starts over, and removes no other file', async () => {
    await server.end('SIGTERM');
    const other = 'assize-tour.dbx';
    execFileSync('sh', ['-c', `echo kept > ${other}`], { cwd: folder });
    server = await startServer(folder, ['--tour', '--fresh', '--port', '0'], END);
    expect(payments()).toHaveLength(3);
    expect(run('list')).toMatchObject([{ approvals: [{ channel: 'manager' }] }]);
    expect(existsSync(at(other))).toBe(true);
  });

  test('worlds of another version stop the start, with the way to new ones', async () => {
    const other = mkdtempSync(join(tmpdir(), 'assize-tour-'));
    try {
      const store = await openStore(`sqlite:${join(other, 'assize-tour.db')}`);
      await runtimeOver(store, [till]).create(till, { trajectoryId: 'expenses' });
      await store.close();
      const { code, err } = await runProcess(other, undefined, 'serve', '--tour', '--port', '0');
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/^assize: Another version .* npm start -- --fresh/),
      ]);
      expect(existsSync(join(other, 'assize-tour.db'))).toBe(true);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test('a start that is interrupted is continued by the next one', async () => {
    for (const seconds of [0.6, 1.2, 1.8, 2.4]) {
      await server.end('SIGTERM');
      const script = `exec "${process.execPath}" "${MAIN}" serve --tour --fresh --port 0`;
      spawnSync('timeout', ['-s', 'INT', `${seconds}`, 'sh', '-c', script], { cwd: folder });
      server = await startServer(folder, ['--tour', '--port', '0'], END);
      expect(payments().map(({ receipt }) => receipt)).toEqual(['r1', 'r2', 'r4']);
      expect(run('verify')).toMatchObject([{ valid: true }]);
    }
  });

  test('the built package has it too', async () => {
    await server.end('SIGTERM');
    const program = join(builtPackages(), 'cli/bin/assize.js');
    server = await startServer(folder, ['--tour', '--fresh', '--port', '0'], { ...END, program });
    expect(payments()).toHaveLength(3);
    expect(run('verify')).toMatchObject([{ valid: true }]);
  });

  test.each([
    ['--fresh'],
    ['--tour', '--config', 'x.json'],
    ['--tour', '--sign-in', 'manager:grace'],
  ])('refuses %s %s %s', async (...args) => {
    writeFileSync(join(folder, 'x.json'), '{}');
    const { code, err } = await runProcess(
      folder,
      undefined,
      'serve',
      ...args.filter((arg) => arg !== undefined),
    );
    expect([code, err]).toEqual([2, expect.stringContaining('--tour')]);
  });
});
