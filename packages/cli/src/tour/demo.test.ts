import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateKeys } from 'assize/internal/canon';
import { Assize, verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { budget } from '../domains/budget/index.ts';
import { Bank } from './bank.ts';
import { runDemo } from './demo.ts';
import type { DemoReport } from './demo-text.ts';

let folder: string;
let url: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'assize-demo-'));
  url = `sqlite:${join(folder, 'demo.db')}`;
});
afterEach(() => {
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true });
});

const { signal: interruption } = new AbortController();

async function told(store: string, json = false): Promise<{ report: DemoReport; lines: string[] }> {
  const lines: string[] = [];
  const report = await runDemo({ store, json, out: (line) => lines.push(line), interruption });
  return { report, lines };
}

describe('the story', () => {
  test('follows the example of the paper, including the doctor', async () => {
    const { report } = await told('memory:');
    expect(report.ok).toBe(true);
    expect(report.steps.map(({ seq }) => seq)).toEqual(Array.from({ length: 20 }, (_, i) => i + 1));
    const decided = report.steps.filter(({ ruling }) => ruling !== 'committed');
    expect(
      decided.map(({ at, role, args, invariant_id }) => [
        at.slice(0, 10),
        role,
        (args as { readonly tier?: string }).tier,
        invariant_id,
      ]),
    ).toEqual([
      ['2026-03-26', 'Clinical', undefined, 'RELAPSE_RESPONSE_IS_HUMAN'],
      ['2026-03-26', 'Billing', '90+', 'CLAIM_TIER_CURRENT'],
      ['2026-03-26', 'Billing', '0-30', 'DEFINITIVE_WINDOW'],
      ['2026-03-29', 'Billing', '0-30', 'DEFINITIVE_WINDOW'],
    ]);
    expect(report.steps.find(({ resolves }) => resolves !== undefined)).toMatchObject({
      principal: 'md:okafor',
      role: 'md',
      ruling: 'committed',
      resolves: 9,
    });
    expect(report.steps.at(-1)).toMatchObject({ action: 'submit_claim', ruling: 'committed' });
  });

  test('is printed for humans, each ruling with its number and its reason', async () => {
    const { report, lines } = await told('memory:');
    const { payments, verification } = report;
    for (const { seq, ruling, principal, detail } of [...report.steps, ...payments.steps]) {
      const at = lines.findIndex(
        (line) => line.includes(`#${seq} ${ruling}`) && line.includes(principal),
      );
      expect(at, `#${seq}`).toBeGreaterThan(0);
      if (detail !== undefined) expect(lines[at + 1]).toContain(detail);
    }
    const [both] = lines.filter((line) => line.startsWith('verified: '));
    expect(both).toContain(
      `${verification.entries} entries of david-1 and ${payments.verification.entries} entries`,
    );
    for (const { head } of [verification, payments.verification])
      expect(lines.join('\n')).toContain(head);
    expect(lines.join('\n')).not.toContain('\u001b');
  });

  test('is one JSON document when asked for', async () => {
    const { report, lines } = await told('memory:', true);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toEqual(JSON.parse(JSON.stringify(report)));
  });

  test('runs by its own clock', async () => {
    const { report } = await told(url);
    const store = await openStore(url);
    const rows = await store.entries(report.trajectory_id);
    await store.close();
    expect(rows.map(({ payload }) => JSON.parse(payload).at.slice(0, 10))).toEqual([
      '2025-12-01',
      ...report.steps.map(({ at }) => at.slice(0, 10)),
    ]);
  });

  test('ends with a copy that was changed, and does not verify', async () => {
    const { report } = await told('memory:');
    expect(report.verification).toMatchObject({ valid: true, entries: 21, open: 0 });
    expect(report.changed_copy).toMatchObject({ valid: false, fault: { seq: 13 } });
  });
});

describe('the payments', () => {
  test('are those that rules and manager allow, each made once', async () => {
    const { payments } = (await told('memory:')).report;
    const [first, again, over, asked, approved] = payments.steps;
    const made = (cents: number, receipt: string) => ({
      tool: 'bank.transfer',
      input: { to: 'lab', receipt, cents },
    });
    expect(first).toMatchObject({
      ...{ ruling: 'committed', requests: 1 },
      calls: [{ ...made(11_443, 'c1'), phase: 'applied', answer: { payment: 'B-1' } }],
    });
    expect(again).toMatchObject({
      entry_id: first!.entry_id,
      repeats: 1,
      requests: 0,
    });
    expect(over).toMatchObject({
      ...{ ruling: 'rejected', invariant_id: 'RECEIPT_IS_PAID_ONCE', calls: [], requests: 0 },
    });
    expect(asked).toMatchObject({ ruling: 'escalated', requests: 0 });
    expect(asked!.calls).toEqual([{ ...made(61_692, 'c2'), id: expect.any(String) }]);
    expect(approved).toMatchObject({
      ...{ principal: 'manager:reyes', resolves: asked!.seq, requests: 1 },
      calls: [{ ...made(61_692, 'c2'), phase: 'applied', answer: { payment: 'B-2' } }],
    });
    expect(payments).toMatchObject({
      totals: {
        bank: { requests: 2, payments: 2, cents: 73_135 },
        ledger: { calls: 2, cents: 73_135 },
        equal: true,
      },
      verification: { valid: true, entries: 7, open: 0 },
    });
  });

  test('the demo tells of payments in a few lines, with calls and requests', async () => {
    const { lines } = await told('memory:');
    const act = lines.slice(lines.findIndex((line) => line.startsWith('2026-03-31')));
    const printed = act.slice(0, act.indexOf(''));
    expect(printed.length).toBeLessThanOrEqual(16);
    expect(printed.filter((line) => line.endsWith('The bank got 1 request.'))).toHaveLength(2);
    expect(printed.filter((line) => line.endsWith('The bank got no request.'))).toHaveLength(3);
    expect(printed).toContain(
      '     bank.transfer cents=61692 receipt=c2 to=lab: waits. The bank got no request.',
    );
    expect(printed.at(-1)).toMatch(
      /^The bank made 2 payments, 73135 cents .* 2 calls, 73135 cents .*: the same/,
    );
  });

  const { pay } = Bank.prototype;

  test.each<[string, Bank['pay']]>([
    [
      'pays another amount',
      function (this: Bank, key, asked) {
        return pay.call(this, key, { ...asked, cents: asked.cents + 1 });
      },
    ],
    [
      'pays for another receipt',
      function (this: Bank, key, asked) {
        return pay.call(this, key, { ...asked, receipt: 'c3' });
      },
    ],
    [
      'pays under another key',
      function (this: Bank, key, asked) {
        return pay.call(this, `${key}0`, asked);
      },
    ],
    [
      'pays twice',
      function (this: Bank, key, asked) {
        pay.call(this, `${key}0`, asked);
        return pay.call(this, key, asked);
      },
    ],
    [
      'gets two requests',
      function (this: Bank, key, asked) {
        pay.call(this, key, asked);
        return pay.call(this, key, asked);
      },
    ],
  ])('differ from the ledger if the bank %s', async (_, otherwise) => {
    vi.spyOn(Bank.prototype, 'pay').mockImplementation(otherwise);
    const { report, lines } = await told('memory:');
    expect(report).toMatchObject({
      ok: false,
      payments: { totals: { equal: false }, verification: { valid: true } },
    });
    expect(
      lines.some((line) => line.startsWith('The bank made') && line.endsWith(': they differ.')),
    ).toBe(true);
  });
});

describe('its store', () => {
  test('holds the trajectory and the entry that the commands name', async () => {
    const { report, lines } = await told(url);
    expect(lines).toEqual(expect.arrayContaining(report.commands.map((command) => `  ${command}`)));
    const store = await openStore(url);
    const [log, show, , paid] = report.commands.map((command) => command.split(' ')[3] as string);
    expect(await store.head(log as string)).toMatchObject({ id: report.verification.head });
    expect(await store.find(show as string)).toMatchObject([{ seq: 13, kind: 'rejection' }]);
    expect(await store.head(paid as string)).toMatchObject({
      id: report.payments.verification.head,
    });
    expect(await verifyStore(store)).toMatchObject([
      { valid: true, entries: 21 },
      { valid: true, entries: 7 },
    ]);
    await store.close();
  });

  test('gets further trajectories from a further run; the key of the first stays', async () => {
    const first = await told(url);
    const second = await told(url);
    const names = [first, second].flatMap(({ report }) => [
      report.trajectory_id,
      report.payments.trajectory_id,
    ]);
    expect(names).toEqual(['david-1', 'payments-1', 'david-2', 'payments-2']);
    expect([first, second].map(({ report }) => report.ok)).toEqual([true, true]);
    const store = await openStore(url);
    expect((await verifyStore(store)).map(({ valid }) => valid)).toEqual([true, true, true, true]);
    await store.close();
    expect(JSON.parse(readFileSync(join(folder, 'demo.db.anchors.json'), 'utf8'))).toEqual([
      first.report.anchor,
      second.report.anchor,
    ]);
  });

  test('gets the payment of a killed demo first, and does not count it', async () => {
    const story = join(import.meta.dirname, 'demo.ts');
    const killed = `
      const { Bank } = await import(${JSON.stringify(join(import.meta.dirname, 'bank.ts'))});
      const { runDemo } = await import(${JSON.stringify(story)});
      Bank.prototype.pay = () => process.kill(process.pid, 'SIGKILL');
      const { signal: interruption } = new AbortController();
      await runDemo({ store: ${JSON.stringify(url)}, json: true, out: () => undefined, interruption });
    `;
    const { signal } = spawnSync(process.execPath, ['--input-type=module', '-e', killed]);
    expect(signal).toBe('SIGKILL');
    const { report } = await told(url);
    expect(report).toMatchObject({
      ...{ ok: true, trajectory_id: 'david-2' },
      payments: { totals: { bank: { requests: 2 }, equal: true } },
    });
    const store = await openStore(url);
    expect(await verifyStore(store)).toMatchObject([
      { entries: 21 },
      { entries: 3, valid: true },
      {},
      { entries: 7 },
    ]);
    await store.close();
  });

  test('is not changed while another runtime runs its effects', async () => {
    const store = await openStore(url);
    // A runtime with an active transaction does not hand them over either.
    const lease = await store.leaseEffects!();
    const stopped = new Error('stopped');
    const stop = new AbortController();
    setTimeout(() => stop.abort(stopped), 100);
    const lines: string[] = [];
    const running = runDemo({
      store: url,
      json: false,
      out: (line) => lines.push(line),
      interruption: stop.signal,
    });
    await expect(running).rejects.toBe(stopped);
    expect([lines, await store.trajectories()]).toEqual([[], []]);
    await lease.release();
    await store.close();
    expect((await told(url)).report.ok).toBe(true);
  });

  test('is quoted in the commands where a shell would split it', async () => {
    const { report } = await told(`sqlite:${join(folder, "david's demo.db")}`);
    expect(report.commands[0]).toContain(`--store 'sqlite:${folder}/david'\\''s demo.db'`);
  });

  test('is not named when it is gone', async () => {
    const { report, lines } = await told('memory:');
    expect(report.commands).toEqual([]);
    expect(lines.join('\n')).not.toContain('npx');
  });
});

describe('unusable input is refused before any output', () => {
  test('the demo refuses a file that is not a store', async () => {
    writeFileSync(join(folder, 'demo.db'), 'a letter to David');
    const lines: string[] = [];
    await expect(
      runDemo({ store: url, json: false, out: (line) => lines.push(line), interruption }),
    ).rejects.toMatchObject({
      name: 'StoreError',
    });
    expect(lines).toEqual([]);
    expect(readdirSync(folder)).toEqual(['demo.db']);
  });

  test('invalid anchors', async () => {
    writeFileSync(join(folder, 'demo.db.anchors.json'), '{}');
    await expect(told(url)).rejects.toMatchObject({ code: 'bad_input' });
    expect(readdirSync(folder)).toEqual(['demo.db.anchors.json']);
  });

  test('a store with a trajectory that is not the demo’s', async () => {
    const store = await openStore(url);
    const { publicKey } = generateKeys();
    await new Assize({ store, domains: [budget], anchors: [publicKey] }).create(budget, {
      trajectoryId: 'earnest',
    });
    await store.close();
    const before = readFileSync(join(folder, 'demo.db'));
    await expect(told(url)).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('earnest'),
    });
    expect(readFileSync(join(folder, 'demo.db')).equals(before)).toBe(true);
    expect(readdirSync(folder).filter((name) => name.includes('anchors'))).toEqual([]);
  });

  test('a store of an unknown kind', async () => {
    await expect(told('mysql://root:secret@host/db')).rejects.toMatchObject({
      code: 'store_unknown',
    });
  });
});
