/** `assize effects`: how operators inspect and resolve the effects of tools. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DidNothing, declareTool } from 'assize/internal/effects';
import { seededRandom } from 'assize/internal/oracle';
import type { Assize } from 'assize/internal/runtime';
import { openSqlite } from 'assize/internal/stores';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  operator,
  operatorWrit,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { tally } from '../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../tests/support/tools/orders.ts';
import { inEffectsFolder, mail, wide } from './support/process/effects-folder.ts';

const here = inEffectsFolder();
const { assize, json, sent, send, toolsFile } = here;

const root = join(import.meta.dirname, '../../..');

describe('a pending approval with tool calls', () => {
  const approve = async (...args: string[]) => {
    const { out } = await runCommand(here.folder, here.url, 'pending', '--json');
    const [{ id }] = JSON.parse(out).pending;
    return runCommand(here.folder, here.url, 'approve', id, '--as', 'boss', '--override', ...args);
  };

  test('is approved with these, beside another process that has the effects', async () => {
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [orders], { tools: [mail('keyed', send)] });
    const trajectory = await worker.create(orders, { trajectoryId: 'orders' });
    const { ruling } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['mail:**'] },
      async (tx) => {
        await tx.call('mail.send', { to: 'bob' });
        tx.propose({ action: 'count', role: 'counter', args: 'asked' });
      },
    );
    expect(ruling.ruling).toBe('escalated');
    const stage = join(root, 'tests/support/tools/orders.ts');
    writeFileSync(
      join(here.folder, 'domain.ts'),
      `export { orders } from ${JSON.stringify(stage)};\n`,
    );
    writeFileSync(join(here.folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const files = [
      '--domain',
      join(here.folder, 'domain.ts'),
      '--anchors',
      join(here.folder, 'anchors.json'),
    ];
    const tools = ['--tools', toolsFile('keyed'), '--wait', '1'];
    expect((await approve(...files)).err).toMatch(
      /The pending proposal uses tools. .*--tools FILE/,
    );
    expect(sent('bob')).toBe(false);
    const { code, out, err } = await approve(...files, ...tools);
    expect([code, out], err).toEqual([
      0,
      expect.stringMatching(/^committed as .*\nmail\.send is applied\.\n$/),
    ]);
    expect(sent('bob')).toBe(true);
    await worker.close();
    await store.close();
  });

  test('reports its progress, and an unresolved effect as a negative finding', async () => {
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [orders], { tools: [mail('keyed', send)] });
    for (const [trajectoryId, to] of [
      ['orders', 'bob'],
      ['others', 'eve'],
    ] as const) {
      const trajectory = await worker.create(orders, { trajectoryId });
      await trajectory.transaction(
        { writ: writFor('alice'), writes: [`mail:${to}`] },
        async (tx) => {
          await tx.call('mail.send', { to });
          tx.propose({ action: 'count', role: 'counter', args: 'asked' });
        },
      );
    }
    await worker.close();
    await store.close();
    const stage = join(root, 'tests/support/tools/orders.ts');
    writeFileSync(
      join(here.folder, 'domain.ts'),
      `export { orders } from ${JSON.stringify(stage)};\n`,
    );
    writeFileSync(join(here.folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const files = [
      '--domain',
      join(here.folder, 'domain.ts'),
      '--anchors',
      join(here.folder, 'anchors.json'),
    ];
    const failing = readFileSync(toolsFile('keyed'), 'utf8')
      .replace('import { declareTool }', 'import { DidNothing, declareTool }')
      .replace(
        /execute: .*/,
        "execute: () => { throw new DidNothing('no line', { final: true }); },",
      );
    writeFileSync(join(here.folder, 'failing.ts'), failing);
    const tools = ['--tools', join(here.folder, 'failing.ts')];

    const { code, out, err } = await approve(...files, ...tools);
    expect([code, err]).toEqual([1, '']);
    const [committed, ...said] = out.trim().split('\n');
    expect(committed).toMatch(/^committed as [0-9a-f]{12}, orders seq \d+$/);
    expect(said).toEqual([
      'mail.send is unresolved.',
      'The call needs a human decision: assize effects list orders',
    ]);
    const listed = await json(0, 'list', 'orders');
    expect(listed.transactions.map((each: any) => each.effects[0].phase)).toEqual(['unresolved']);
    const [{ epoch }] = listed.transactions;
    await assize(
      'resolve',
      `${epoch}`,
      '0',
      '--as',
      'undone',
      '--by',
      'ops',
      '--evidence',
      'there is no mail',
    );

    const next = await approve(...files, ...tools, '--json');
    expect(next.code, next.err).toBe(1);
    expect(JSON.parse(next.out)).toMatchObject({
      ruling: 'committed',
      effects: 'needs_human',
      calls: [
        { id: expect.stringMatching(/^[0-9a-f]{64}$/), tool: 'mail.send', phase: 'unresolved' },
      ],
    });
  });
});

describe('a pending proposal shows its planned tool calls', () => {
  const much = { to: `\u202eevil\u001b[2J${'y'.repeat(800)}`, text: 'x'.repeat(9_000) };

  /** Something waits with two calls. The second has too much to be read on a screen. */
  async function waiting(
    trajectoryId: string,
    work?: (assize: Assize, pending: string) => Promise<unknown>,
  ) {
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    // Or else both would salt alike, and have one blob.
    const random = seededRandom(trajectoryId);
    const worker = runtimeOver(store, [wide], { tools: [mail('keyed', send)], ports: { random } });
    const trajectory = await worker.create(wide, { trajectoryId });
    const { ruling } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['mail:**'], name: 'round' },
      async (tx) => {
        await tx.call('mail.send', { to: 'bob' });
        await tx.call('mail.send', much);
        tx.propose({ action: 'count', role: 'counter', args: 'asked' });
      },
    );
    if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
    await work?.(worker, ruling.pending);
    await worker.close();
    await store.close();
    return ruling.pending;
  }

  const pendings = async (): Promise<any[]> =>
    JSON.parse((await runCommand(here.folder, here.url, 'pending', '--json')).out).pending;

  test('by tool, class, scopes and input; text is bounded, with nothing hidden', async () => {
    const id = await waiting('orders');
    const { out } = await runCommand(here.folder, here.url, 'pending');
    const lines = out.split('\n');
    const at = lines.findIndex((each) => each.startsWith('would call'));
    const sort = '(irreversible, buffered, keyed)';
    expect(lines.slice(at, at + 2)).toEqual([
      `would call mail.send ${sort}, which writes mail:bob`,
      '  with {"to":"bob"}',
    ]);
    expect(lines[at + 2]).toMatch(
      /^would call mail\.send \(.*\), which writes mail:\\u202eevil.*yyy … \d{3} more characters$/,
    );
    expect(lines[at + 3]).toMatch(
      /^ {2}with \{"text":"x+ … 9\d{3} more characters; assize show [0-9a-f]{12} --blobs shows it$/,
    );
    const full = (await runCommand(here.folder, here.url, 'pending', '--full')).out;
    expect(full).not.toContain('more characters');
    for (const whole of ['y'.repeat(300), 'x'.repeat(9_000)]) expect(full).toContain(whole);
    expect(full).toMatch(/^changes\n {2}add \/\S+\n {4}after /m);
    for (const unseen of ['\u202e', '\u001b']) expect(out + full).not.toContain(unseen);
    expect(out.length).toBeLessThan(2_000);
    const [{ tools }] = await pendings();
    const made = {
      tool: 'mail.send',
      class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
    };
    expect(tools).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        ...made,
        scopes: [{ access: 'write', scope: 'mail:bob' }],
        input: { to: 'bob' },
      },
      expect.objectContaining({ ...made, input: much }),
    ]);
    const shown = await runCommand(here.folder, here.url, 'show', id, '--blobs');
    expect(shown.out).toContain('/proposal/delta/effects/0/effect, ');
    expect(shown.out).toContain('x'.repeat(9_000));
  });

  test('as erased where it was; and a store that has it not does not verify', async () => {
    const eraser = writFor('eraser', { actions: ['assize.erase'], scopes: ['erase:**'] });
    let by = '';
    await waiting('erased', async (assize, pending) => {
      const trajectory = await assize.open('erased');
      const ruling = await trajectory.erase({
        entries: [pending],
        reason: 'asked for',
        writ: eraser,
      });
      by = ruling.ruling === 'committed' ? ruling.entry.id : ruling.ruling;
    });
    await waiting('missing');
    const db = new DatabaseSync(here.url.slice('sqlite:'.length));
    db.exec(`DELETE FROM blob WHERE text LIKE '%"input":{"to":"bob"}%'`);
    db.close();
    const { out } = await runCommand(here.folder, here.url, 'pending', 'erased');
    expect(out.match(/^would call .*/gm)).toEqual(
      Array(2).fill(`would call a call erased by ${by.slice(0, 12)}`),
    );
    const { pending } = JSON.parse(
      (await runCommand(here.folder, here.url, 'pending', 'erased', '--json')).out,
    );
    expect(pending[0].tools).toEqual(Array(2).fill({ id: expect.any(String), erased_by: by }));
    const missing = await runCommand(here.folder, here.url, 'pending', 'missing');
    expect([missing.code, missing.out]).toEqual([1, '']);
  });

  test('and it is not approved as something else than was shown', async () => {
    const id = await waiting('orders', async (_, pending) => {
      const stage = join(root, 'tests/support/tools/orders.ts');
      const made = `import { orders } from ${JSON.stringify(stage)};\nimport { defineDomain } from 'assize';\n`;
      writeFileSync(
        join(here.folder, 'wide.ts'),
        `${made}export const wide = defineDomain({ ...orders.declared, name: 'wide', freeze: 'footprint' });\n`,
      );
      writeFileSync(join(here.folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
      return pending;
    });
    const files = [
      '--domain',
      join(here.folder, 'wide.ts'),
      '--anchors',
      join(here.folder, 'anchors.json'),
    ];
    const approve = (file: string) =>
      runCommand(
        here.folder,
        here.url,
        'approve',
        id,
        '--as',
        'boss',
        '--override',
        ...files,
        '--tools',
        file,
      );
    const blind = toolsFile('blind');
    const { code, err } = await approve(blind);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        'was submitted as irreversible, buffered and keyed, and is declared here as irreversible, buffered and blind',
      ),
    ]);
    expect(sent('bob')).toBe(false);
    const same = join(here.folder, 'same.ts');
    writeFileSync(
      same,
      readFileSync(blind, 'utf8')
        .replace("'blind'", "'keyed'")
        .replace('appendFileSync(', '(() => null)('),
    );
    expect((await approve(same)).out).toMatch(/^committed/);
    // It is listed under its proposal, and beside that as what its caller has named it.
    const { transactions } = await json(0, 'list', '--all');
    expect(transactions).toMatchObject([
      { name: expect.stringMatching(/^[0-9a-f]{64}$/), submitted_as: 'round' },
    ]);
    expect((await assize('list', '--all')).out).toMatch(/ [0-9a-f]{12} \(round\)$/m);
  });
});

describe('the cost of compensation', () => {
  test('is listed while it is reserved, and shown in the log when it is spent', async () => {
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const writ = writFor('alice', { trajectory: 'orders', budget: { usd: 10 } });
    let isBroken = true;
    const charge = declareTool({
      name: 'bank.charge',
      input: z.strictObject({}),
      class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
      writes: ['bank:x'],
      undoCost: () => ({ usd: 3 }),
      execute: () => null,
      compensate: () => {
        if (isBroken) throw new DidNothing('not now', { final: true });
        return { undone: 'all' };
      },
    });
    const worker = runtimeOver(store, [tally], { tools: [charge] });
    const trajectory = await worker.create(tally, { trajectoryId: 'orders', writs: [writ] });
    const done = trajectory.transaction({ writ, writes: ['bank:x'], name: 'o' }, async (tx) => {
      await tx.call('bank.charge', {});
      throw new Error('it is not to be');
    });
    await expect(done).rejects.toThrow('it is not to be');
    const said = 'Reserved in the budgets for compensation: 3 usd.';
    expect((await assize('list')).out.split('\n')).toContain(said);
    const { transactions } = await json(0, 'list');
    expect(transactions[0].effects).toMatchObject([{ undo_cost: { usd: 3 }, phase: 'unresolved' }]);
    const show = async (...args: string[]) =>
      (await runCommand(here.folder, here.url, 'writ', 'show', '--in', 'orders', ...args)).out;
    expect(await show()).toMatch(/^ {2}spent +none; reserved: 3 usd; left: 7 usd$/m);
    expect(JSON.parse(await show('--json')).writs).toMatchObject([
      { granted: { usd: 10 }, spent: {}, reserved: { usd: 3 }, left: { usd: 7 } },
    ]);
    isBroken = false;
    await worker.resolveEffect({
      epoch: 1,
      n: 0,
      as: 'retry',
      by: 'ops',
      writ: operatorWrit(),
      evidence: 'the bank is open',
    });
    await worker.close();
    await store.close();
    expect((await assize('list')).out).toBe('All tool transactions have ended.\n');
    expect((await assize('list', '--all')).out).not.toContain('Reserved in');
    const { out } = await runCommand(here.folder, here.url, 'log', 'orders', '--json');
    expect(out).toContain('body_failed; compensation cost {\\"usd\\":3}');
    expect(await show()).toMatch(/^ {2}spent +3 usd; reserved: none; left: 7 usd$/m);
  });
});
