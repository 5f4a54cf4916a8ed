/** `assize effects`: what tools did, as operators see it and see to it. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlTool } from 'assize/tools/sql';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { DidNothing, declareTool, NoAnswer, type Sink } from '#effects';
import { defineDomain } from '#kernel';
import { seededRandom } from '#oracle';
import type { Assize } from '#runtime';
import { openSqlite } from '#stores';
import { runCommand } from '../support/command.ts';
import { orders } from '../support/effects-failing.ts';
import { tally } from '../support/effects-stage.ts';
import { operator, runtimeOver, writFor } from '../support/runtime.ts';
import { treated, ZOE } from '../support/treated.ts';

const root = join(import.meta.dirname, '../..');
let folder: string;
let url: string;

// Inside the repository, so that `assize` is this package.
beforeEach(() => {
  folder = mkdtempSync(join(root, 'dist-effects-'));
  mkdirSync(join(folder, 'sent'));
  url = `sqlite:${join(folder, 'world.db')}`;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const assize = (...args: string[]) => runCommand(folder, url, 'effects', ...args);

async function json(code: number, ...args: string[]): Promise<any> {
  const ended = await assize(...args, '--json');
  expect(ended.code, ended.err).toBe(code);
  return JSON.parse(ended.out);
}

/** The letters that were sent are files of this folder; how its sink answers is up to the process. */
function mail(sink: Sink, execute: (to: string) => unknown) {
  return declareTool({
    name: 'mail.send',
    input: z.strictObject({ to: z.string(), text: z.string().optional() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink },
    writes: ['mail:{to}'],
    execute: ({ to }) => execute(to),
  });
}

const sent = (to: string): boolean => existsSync(join(folder, 'sent', to));
const send = (to: string): void => writeFileSync(join(folder, 'sent', to), to);

/** Tools for the command line, in a file. */
function toolsFile(sink: Sink): string {
  const text = `
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTool } from 'assize/effects';
import { z } from 'zod';

export default [
  declareTool({
    name: 'mail.send',
    input: z.strictObject({ to: z.string(), text: z.string().optional() }),
    class: { reversibility: 'irreversible', delivery: 'buffered', sink: '${sink}' },
    writes: ['mail:{to}'],
    execute: ({ to }) => appendFileSync(join(import.meta.dirname, 'sent', to), to),
  }),
];
`;
  const path = join(folder, 'tools.ts');
  writeFileSync(path, text);
  return path;
}

/** A store in which a letter was to be sent, by a process that has ended since. */
async function written(tool: ReturnType<typeof mail>, ended?: Promise<void>): Promise<void> {
  const store = await openSqlite({ path: url.slice('sqlite:'.length) });
  try {
    const worker = runtimeOver(store, [tally], { tools: [tool] });
    const trajectory = await worker.create(tally, { trajectoryId: 'orders' });
    const done = trajectory.transaction(
      { writ: writFor('alice'), writes: ['mail:**'], name: 'order-1' },
      async (tx) => {
        await tx.call('mail.send', { to: 'bob' });
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    // A process that ends leaves its runtime as it is.
    await Promise.race([done.then(() => worker.close()), ...(ended === undefined ? [] : [ended])]);
  } finally {
    await store.close();
  }
}

/** In doubt: the line went dead, before or after. */
const inDoubt = (happens: boolean): Promise<void> =>
  written(
    mail('blind', (to) => {
      if (happens) send(to);
      throw new Error('the line went dead');
    }),
  );

/** Committed and not yet sent, when the process ended. */
async function crashed(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const tool = mail('keyed', () => {
    resolve();
    return new Promise(() => undefined);
  });
  await written(tool, promise);
}

/** Refused for good and undone; the process ended before what its action does then was in the ledger. */
async function failed(): Promise<void> {
  const store = await openSqlite({ path: url.slice('sqlite:'.length) });
  const commit = store.commit.bind(store);
  store.commit = (batch) => {
    if (batch.entries.some(({ payload }) => payload.includes('"no o1"'))) throw new Error('the disk is full');
    return commit(batch);
  };
  try {
    const refusing = mail('keyed', () => {
      throw new DidNothing('nobody lives there', { final: true });
    });
    const worker = runtimeOver(store, [orders], { tools: [refusing] });
    const trajectory = await worker.create(orders, { trajectoryId: 'orders' });
    const done = trajectory.transaction({ writ: writFor('alice'), writes: ['mail:**'] }, async (tx) => {
      await tx.call('mail.send', { to: 'bob' });
      tx.propose({ action: 'order', role: 'counter', args: 'o1' });
    });
    await expect(done).rejects.toThrow('the disk is full');
    await worker.close();
  } finally {
    await store.close();
  }
}
describe('what waits for an approval with calls of tools', () => {
  const approve = async (...args: string[]) => {
    const { out } = await runCommand(folder, url, 'pending', '--json');
    const [{ id }] = JSON.parse(out).pending;
    return runCommand(folder, url, 'approve', id, '--as', 'boss', '--override', ...args);
  };

  test('is approved with these, as soon as no other process has the effects', async () => {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [orders], { tools: [mail('keyed', send)] });
    const trajectory = await worker.create(orders, { trajectoryId: 'orders' });
    const { ruling } = await trajectory.transaction({ writ: writFor('alice'), writes: ['mail:**'] }, async (tx) => {
      await tx.call('mail.send', { to: 'bob' });
      tx.propose({ action: 'count', role: 'counter', args: 'asked' });
    });
    expect(ruling.ruling).toBe('escalated');
    const stage = join(root, 'tests/support/effects-failing.ts');
    writeFileSync(join(folder, 'domain.ts'), `export { orders } from ${JSON.stringify(stage)};\n`);
    writeFileSync(join(folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const files = ['--domain', join(folder, 'domain.ts'), '--anchors', join(folder, 'anchors.json')];
    const tools = ['--tools', toolsFile('keyed'), '--wait', '1'];
    expect((await approve(...files)).err).toContain('What waits uses tools');
    const busy = await approve(...files, ...tools);
    expect([busy.code, busy.err]).toEqual([2, expect.stringContaining('Another process works on the effects')]);
    await worker.close();
    await store.close();
    expect(sent('bob')).toBe(false);
    const { code, out, err } = await approve(...files, ...tools);
    expect([code, out], err).toEqual([0, expect.stringMatching(/^committed as .*\nmail\.send is applied\.\n$/)]);
    expect(sent('bob')).toBe(true);
  });

  test('is told of as far as it came, and what a person has to look at is a negative finding', async () => {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [orders], { tools: [mail('keyed', send)] });
    for (const [trajectoryId, to] of [
      ['orders', 'bob'],
      ['others', 'eve'],
    ] as const) {
      const trajectory = await worker.create(orders, { trajectoryId });
      await trajectory.transaction({ writ: writFor('alice'), writes: [`mail:${to}`] }, async (tx) => {
        await tx.call('mail.send', { to });
        tx.propose({ action: 'count', role: 'counter', args: 'asked' });
      });
    }
    await worker.close();
    await store.close();
    const stage = join(root, 'tests/support/effects-failing.ts');
    writeFileSync(join(folder, 'domain.ts'), `export { orders } from ${JSON.stringify(stage)};\n`);
    writeFileSync(join(folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const files = ['--domain', join(folder, 'domain.ts'), '--anchors', join(folder, 'anchors.json')];
    const failing = readFileSync(toolsFile('keyed'), 'utf8')
      .replace('import { declareTool }', 'import { DidNothing, declareTool }')
      .replace(/execute: .*/, "execute: () => { throw new DidNothing('no line', { final: true }); },");
    writeFileSync(join(folder, 'failing.ts'), failing);
    const tools = ['--tools', join(folder, 'failing.ts')];

    const { code, out, err } = await approve(...files, ...tools);
    expect([code, err]).toEqual([1, '']);
    const [committed, ...said] = out.trim().split('\n');
    expect(committed).toMatch(/^committed as [0-9a-f]{12}, orders seq \d+$/);
    expect(said).toEqual([
      'mail.send is unresolved, and waits for a person.',
      expect.stringMatching(
        /^1 effect of transaction \d+ waits for a person\. Look with assize effects list orders\.$/,
      ),
    ]);
    const listed = await json(0, 'list', 'orders');
    expect(listed.transactions.map((each: any) => each.effects[0].phase)).toEqual(['unresolved']);
    const [{ epoch }] = listed.transactions;
    await assize('resolve', `${epoch}`, '0', '--as', 'undone', '--by', 'ops', '--evidence', 'there is no mail');

    const next = await approve(...files, ...tools, '--json');
    expect(next.code, next.err).toBe(1);
    const { ruling, transaction } = JSON.parse(next.out);
    expect([ruling, transaction]).toEqual([
      'committed',
      {
        epoch: expect.any(Number),
        phase: 'committed',
        effects: [
          {
            n: 0,
            tool: 'mail.send',
            key: expect.stringMatching(/^[0-9a-f]{64}$/),
            phase: 'unresolved',
            waits_for_person: true,
          },
        ],
      },
    ]);
  });
});

const wide = defineDomain<any, any>({ ...(orders.declared as any), name: 'wide', freeze: 'footprint' });

describe('what tools are to do is shown with what waits', () => {
  const much = { to: `\u202eevil\u001b[2J${'y'.repeat(800)}`, text: 'x'.repeat(9_000) };

  /** Something waits with two calls, the second of which has too much to be read on a screen. */
  async function waiting(trajectoryId: string, work?: (assize: Assize, pending: string) => Promise<unknown>) {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    // Or else both would salt alike, and have one blob.
    const random = seededRandom(trajectoryId);
    const worker = runtimeOver(store, [wide], { tools: [mail('keyed', send)], random });
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
    JSON.parse((await runCommand(folder, url, 'pending', '--json')).out).pending;

  test('by tool, class, scopes and input; in text no more than can be read, with nothing unseen', async () => {
    const id = await waiting('orders');
    const { out } = await runCommand(folder, url, 'pending');
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
    for (const unseen of ['\u202e', '\u001b']) expect(out).not.toContain(unseen);
    expect(out.length).toBeLessThan(2_000);
    const [{ tools }] = await pendings();
    const made = { tool: 'mail.send', class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' } };
    expect(tools).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{64}$/),
        ...made,
        scopes: [{ access: 'write', scope: 'mail:bob' }],
        input: { to: 'bob' },
      },
      expect.objectContaining({ ...made, input: much }),
    ]);
    const shown = await runCommand(folder, url, 'show', id, '--blobs');
    expect(shown.out).toContain('/proposal/delta/effects/0/effect, ');
    expect(shown.out).toContain('x'.repeat(9_000));
  });

  test('as erased where it was; and a store that has it not does not verify', async () => {
    const eraser = writFor('eraser', { actions: ['assize.erase'], scopes: ['erase:**'] });
    let by = '';
    await waiting('erased', async (assize, pending) => {
      const trajectory = await assize.open('erased');
      const ruling = await trajectory.erase({ entries: [pending], reason: 'asked for', writ: eraser });
      by = ruling.ruling === 'committed' ? ruling.entry.id : ruling.ruling;
    });
    await waiting('missing');
    const db = new DatabaseSync(url.slice('sqlite:'.length));
    db.exec(`DELETE FROM blob WHERE text LIKE '%"input":{"to":"bob"}%'`);
    db.close();
    const { out } = await runCommand(folder, url, 'pending', 'erased');
    expect(out.match(/^would call .*/gm)).toEqual(Array(2).fill(`would call what was erased by ${by.slice(0, 12)}`));
    const { pending } = JSON.parse((await runCommand(folder, url, 'pending', 'erased', '--json')).out);
    expect(pending[0].tools).toEqual(Array(2).fill({ id: expect.any(String), erased_by: by }));
    const missing = await runCommand(folder, url, 'pending', 'missing');
    expect([missing.code, missing.out]).toEqual([1, '']);
  });

  test('and it is not approved as something else than was shown', async () => {
    const id = await waiting('orders', async (_, pending) => {
      const stage = join(root, 'tests/support/effects-failing.ts');
      const made = `import { orders } from ${JSON.stringify(stage)};\nimport { defineDomain } from 'assize/kernel';\n`;
      writeFileSync(
        join(folder, 'wide.ts'),
        `${made}export const wide = defineDomain({ ...orders.declared, name: 'wide', freeze: 'footprint' });\n`,
      );
      writeFileSync(join(folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
      return pending;
    });
    const files = ['--domain', join(folder, 'wide.ts'), '--anchors', join(folder, 'anchors.json')];
    const approve = (file: string) =>
      runCommand(folder, url, 'approve', id, '--as', 'boss', '--override', ...files, '--tools', file);
    const blind = toolsFile('blind');
    const { code, err } = await approve(blind);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(
        'was put up as irreversible, buffered and keyed, and is irreversible, buffered and blind here',
      ),
    ]);
    expect(sent('bob')).toBe(false);
    const same = join(folder, 'same.ts');
    writeFileSync(
      same,
      readFileSync(blind, 'utf8').replace("'blind'", "'keyed'").replace('appendFileSync(', '(() => null)('),
    );
    expect((await approve(same)).out).toMatch(/^committed/);
    // It is listed under its proposal, and beside that as what its caller has named it.
    const { transactions } = await json(0, 'list', '--all');
    expect(transactions).toMatchObject([{ name: expect.stringMatching(/^[0-9a-f]{64}$/), put_up_as: 'round' }]);
    expect((await assize('list', '--all')).out).toMatch(/ [0-9a-f]{12} \(round\)$/m);
  });
});

describe('what undoing costs', () => {
  test('is listed as long as it is reserved, and told in the log when it is booked', async () => {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
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
    const said = 'Kept free in the budgets for undoing: 3 usd.';
    expect((await assize('list')).out.split('\n')).toContain(said);
    const { transactions } = await json(0, 'list');
    expect(transactions[0].effects).toMatchObject([{ undo_cost: { usd: 3 }, phase: 'unresolved' }]);
    const show = async (...args: string[]) =>
      (await runCommand(folder, url, 'writ', 'show', '--in', 'orders', ...args)).out;
    expect(await show()).toMatch(/^ {2}spent +none; reserved: 3 usd; left: 7 usd$/m);
    expect(JSON.parse(await show('--json')).writs).toMatchObject([
      { granted: { usd: 10 }, spent: {}, reserved: { usd: 3 }, left: { usd: 7 } },
    ]);
    isBroken = false;
    await worker.resolveEffect({ epoch: 1, n: 0, as: 'retry', by: 'ops', evidence: 'the bank is open' });
    await worker.close();
    await store.close();
    expect((await assize('list')).out).toBe('All transactions of tools have ended.\n');
    expect((await assize('list', '--all')).out).not.toContain('Kept free');
    const { out } = await runCommand(folder, url, 'log', 'orders', '--json');
    expect(out).toContain('body_failed; undoing has cost {\\"usd\\":3}');
    expect(await show()).toMatch(/^ {2}spent +3 usd; reserved: none; left: 7 usd$/m);
  });
});

describe('list', () => {
  test('says what has not ended, in 80 columns and as JSON, and what to do', async () => {
    await inDoubt(true);
    const { code, out } = await assize('list');
    expect(code).toBe(0);
    expect(out.split('\n').every((text) => text.length <= 80)).toBe(true);
    expect(out).toBe(
      [
        'epoch  n  tool       phase     sink   transaction  trajectory  name',
        '    1  0  mail.send  in_doubt  blind  committed    orders      order-1',
        '',
        '1 effect waits for a person: assize pending shows the call, --json the key.',
        'See what became of it, and say:',
        'assize effects resolve EPOCH N --as DECISION --by WHO --evidence TEXT',
        '',
      ].join('\n'),
    );
    const { transactions } = await json(0, 'list', 'orders', '--epoch', '1');
    expect(transactions).toEqual([
      {
        epoch: 1,
        trajectory_id: 'orders',
        name: 'order-1',
        principal: 'alice',
        writ: expect.stringMatching(/^[0-9a-f]{64}$/),
        phase: 'committed',
        entry_id: expect.stringMatching(/^[0-9a-f]{64}$/),
        needs: { tools: [] },
        claims: [{ access: 'write', scope: 'mail:**' }],
        effects: [
          {
            n: 0,
            tool: 'mail.send',
            class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'blind' },
            key: expect.stringMatching(/^[0-9a-f]{64}$/),
            phase: 'in_doubt',
            failures: 0,
            waits_for_person: true,
          },
        ],
      },
    ]);
  });

  test('is told of what waits among what waits for people, with what to say of it, and who approves is told', async () => {
    await inDoubt(true);
    const other = (...args: string[]) => runCommand(folder, url, ...args);
    const pending = await other('pending');
    const [, id] = /^([0-9a-f]{12})/m.exec(pending.out) as unknown as [string, string];
    expect(pending.out.split('\n').slice(3)).toEqual([
      `${id} is what mail.send did, which is in doubt`,
      expect.stringMatching(/^key [0-9a-f]{64}$/),
      'called mail.send (irreversible, buffered, blind), which writes mail:bob',
      '  with {"to":"bob"}',
      'assize effects resolve 1 0 --as DECISION --by WHO --evidence TEXT says what became of it.',
      '',
    ]);
    expect(pending.out).not.toContain('assize approve');
    const { pending: listed } = JSON.parse((await other('pending', '--json')).out);
    expect(listed).toMatchObject([
      { reason: 'in_doubt', channel: 'operator', effect: { epoch: 1, n: 0, tool: 'mail.send' } },
    ]);
    for (const way of [
      ['approve', id, '--as', 'ops'],
      ['reject', id, '--as', 'ops', '--reason', 'no'],
    ]) {
      const { code, err } = await other(...way);
      expect(code).toBe(2);
      expect(err).toContain('assize effects resolve 1 0 --as DECISION');
    }
    await assize('resolve', '1', '0', '--as', 'applied', '--by', 'ops', '--evidence', 'it is in the folder');
    expect((await other('pending')).out).toBe('Nothing waits for a person.\n');
    const { out } = await other('log', 'orders');
    expect(out).toMatch(/assize\.settle .*applied, by ops/);
    expect((await other('verify')).code).toBe(0);
  });

  test('says that all has ended, and finds what has by its number', async () => {
    await written(mail('keyed', send));
    expect((await assize('list')).out).toBe('All transactions of tools have ended.\n');
    expect((await json(0, 'list', '--epoch', '1')).transactions[0]).toMatchObject({ phase: 'settled' });
    expect((await assize('list', '--epoch', '1')).out).toMatch(/^ {4}1 {2}0 {2}mail.send {2}applied .*order-1$/m);
  });

  describe('what was undone, and what waits', () => {
    const fee = { fee: 'x'.repeat(300) };
    const bank = declareTool({
      name: 'bank.charge',
      input: z.strictObject({ order: z.string() }),
      class: { reversibility: 'with_cost', delivery: 'externalised', sink: 'keyed' },
      writes: ['bank:{order}'],
      execute: () => null,
      compensate: ({ order }) => ({ undone: 'partly', residue: order === 'a' ? { fee: 1 } : fee }),
      mitigate: ({ order }) => (order === 'a' ? { letter: 'to the bank' } : null),
    });

    /** One was rejected, one waits, and one is just held and waits too. */
    async function made(): Promise<void> {
      const store = await openSqlite({ path: url.slice('sqlite:'.length) });
      const worker = runtimeOver(store, [wide], { tools: [bank, mail('keyed', send)] });
      for (const [name, args] of [
        ['a', 'forbidden'],
        ['b', 'asked'],
        ['c', 'asked'],
      ] as const) {
        const trajectory = await worker.create(wide, { trajectoryId: name });
        await trajectory.transaction({ writ: writFor('alice'), writes: ['**'], name }, async (tx) => {
          if (name === 'c') await tx.call('mail.send', { to: 'bob' });
          else await tx.call('bank.charge', { order: name });
          tx.propose({ action: 'count', role: 'counter', args });
        });
      }
      await worker.close();
      await store.close();
    }

    test('is told with why, and with what it left', async () => {
      await made();
      expect((await assize('list')).out).toBe(
        'All transactions of tools have ended.\n2 proposals with tools wait for a person: assize pending\n',
      );
      expect((await assize('list', 'a')).out).toBe('All transactions of tools have ended.\n');
      const { out } = await assize('list', '--all');
      expect(out.split('\n')).toEqual([
        'epoch  n  tool         phase   sink   transaction          trajectory  name',
        '    2  0  bank.charge  undone  keyed  aborted (escalated)  b           b',
        '    1  0  bank.charge  undone  keyed  aborted (rejected)   a           a',
        '',
        expect.stringMatching(
          /^2 0 bank\.charge left \{"fee":"x+ … \d+ more characters, about which its tool did null$/,
        ),
        '1 0 bank.charge left {"fee":1}, about which its tool did {"letter":"to the bank"}',
        '2 proposals with tools wait for a person: assize pending',
        '',
      ]);
      const { transactions, proposals_waiting: waiting } = await json(0, 'list', '--all');
      expect(transactions.map(({ effects }: any) => effects[0].residue)).toEqual([
        {
          $blob: expect.any(String),
          bytes: expect.any(Number),
          salted: true,
          value: { mitigated: null, residue: fee },
        },
        expect.objectContaining({ value: { mitigated: { letter: 'to the bank' }, residue: { fee: 1 } } }),
      ]);
      const id = expect.stringMatching(/^[0-9a-f]{64}$/);
      expect(waiting).toEqual(['b', 'c'].map((trajectory_id) => ({ id, trajectory_id, calls: 1 })));
      expect((await json(0, 'list', '--epoch', '1')).proposals_waiting).toBeUndefined();
    });

    test('is erased by the number of its transaction, and told as that', async () => {
      const store = await openSqlite({ path: url.slice('sqlite:'.length) });
      const { assize: runtime, go } = await treated(store);
      const epoch = await go('branch', ZOE);
      await runtime.close();
      await store.close();
      const [domain, key] = [join(folder, 'treated.ts'), join(folder, 'operator.key')];
      writeFileSync(domain, `export { treatments } from '${join(root, 'tests/support/treated.ts')}';`);
      writeFileSync(key, operator.privateKey, { mode: 0o600 });
      writeFileSync(join(folder, 'world.db.anchors.json'), JSON.stringify([operator.publicKey]));
      const erase = (...args: string[]) =>
        runCommand(folder, url, 'erase', 't', '--reason', 'asked for', '--key', key, '--domain', domain, ...args);
      expect((await assize('list', '--all')).out).toContain(`${epoch} 0 act left {"is":"left-branch-p1-zq"}\n`);
      const { code, out, err } = await erase('--transaction', `${epoch}`);
      expect(code, err).toBe(0);
      const [, by] =
        /^erased 0 values of 0 entries and 3 texts of the effect log, by ([0-9a-f]{12}), t seq \d+\n$/.exec(out)!;
      expect((await assize('list', '--all')).out).toContain(`${epoch} 0 act left what was erased by ${by}\n`);
      expect((await erase('--transaction', '0')).err).toMatch(/It must be a whole number from 1/);
      const none = await erase('--transaction', '99', '--json');
      expect(none.code).not.toBe(0);
      expect(none.err).toMatch(/no transaction 99 of this trajectory/);
      expect((await runCommand(folder, url, 'fsck')).code).toBe(0);
    });

    test('is told as erased, or not there, where it is that; and whatever is wrong with the ledger', async () => {
      await made();
      const db = new DatabaseSync(url.slice('sqlite:'.length));
      const by = 'b'.repeat(64);
      db.exec(`DELETE FROM blob WHERE text LIKE '%"mitigated":{%'`);
      db.exec(`UPDATE blob SET text = '', erased_by = unhex('${by}') WHERE text LIKE '%"mitigated":null%'`);
      db.exec(`UPDATE entry SET payload = replace(payload, '"asked"', '"other"')`);
      db.close();
      const { out } = await assize('list', '--all');
      expect(out).toContain(`2 0 bank.charge left what was erased by ${by.slice(0, 12)}\n`);
      expect(out).toContain('1 0 bank.charge left what the store does not have\n');
      expect(out).toMatch(/^Whether proposals with tools wait can’t be said: .+$/m);
      const { transactions, proposals_waiting: waiting } = await json(0, 'list', '--all');
      expect(transactions.map(({ effects }: any) => effects[0].residue)).toMatchObject([
        { erased_by: by },
        { missing: true },
      ]);
      expect(waiting).toBeNull();
    });
  });

  test('shows both answers where what was held would answer otherwise, and nothing was done', async () => {
    const bank = new DatabaseSync(':memory:');
    bank.exec('CREATE TABLE booking (n INTEGER PRIMARY KEY, what TEXT)');
    let rollbacks = 0;
    const connection = {
      query: (text: string, values: readonly unknown[]) => bank.prepare(text).all(...(values as never[])),
      begin: () => bank.exec('BEGIN IMMEDIATE'),
      commit: () => bank.exec('COMMIT'),
      rollback: () => {
        rollbacks++;
        if (bank.isTransaction) bank.exec('ROLLBACK');
      },
    };
    const book = sqlTool({
      name: 'bank.book',
      input: z.object({ what: z.string() }),
      writes: ['db:bank'],
      database: { connect: () => connection, writers: 'one', heldMs: 50 },
      statements: ({ what }) => [{ text: 'INSERT INTO booking (what) VALUES (?) RETURNING n', values: [what] }],
      result: ([rows]) => rows?.[0],
    });
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [tally], { tools: [book] });
    const trajectory = await worker.create(tally, { trajectoryId: 'orders' });
    const done = await trajectory.transaction({ writ: writFor('alice'), writes: ['db:**'] }, async (tx) => {
      expect(await tx.call('bank.book', { what: 'lamp' })).toEqual({ n: 1 });
      await vi.waitFor(() => expect(rollbacks).toBe(1), { interval: 5, timeout: 60_000 });
      bank.exec("INSERT INTO booking (what) VALUES ('of somebody else')");
      tx.propose({ action: 'count', role: 'counter', args: 'order' });
    });
    expect(done.effects).toBe('person');
    await worker.close();
    await store.close();
    const { out } = await assize('list');
    expect(out.split('\n')[3]).toBe(
      '1 0 bank.book was not done: its body was told {"n":1}, and now it would answer {"n":2}',
    );
    const { transactions } = await json(0, 'list');
    expect(transactions[0].effects[0]).toMatchObject({
      phase: 'unresolved',
      why: 'answers_otherwise',
      differs: { salted: true, value: { told: { n: 1 }, answer: { n: 2 } } },
    });
    bank.close();
  });

  test('says all that there was, the youngest first, in pages', async () => {
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [tally], { tools: [mail('keyed', send)] });
    for (const trajectoryId of ['orders', 'others']) {
      const trajectory = await worker.create(tally, { trajectoryId });
      for (const name of ['a', 'b'])
        await trajectory.transaction({ writ: writFor('alice'), writes: ['mail:**'], name }, async (tx) => {
          await tx.call('mail.send', { to: name });
          tx.propose({ action: 'count', role: 'counter', args: name });
        });
    }
    await worker.close();
    await store.close();
    expect((await assize('list')).out).toBe('All transactions of tools have ended.\n');
    const row = (epoch: number, trajectory: string, name: string): string =>
      `    ${epoch}  0  mail.send  applied  keyed  settled      ${trajectory}      ${name}`;
    const { code, out } = await assize('list', '--all', '--limit', '3');
    expect([code, out]).toEqual([
      0,
      [
        'epoch  n  tool       phase    sink   transaction  trajectory  name',
        row(4, 'others', 'b'),
        row(3, 'others', 'a'),
        row(2, 'orders', 'b'),
        'Older ones: --before 2',
        '',
      ].join('\n'),
    ]);
    expect((await assize('list', '--all', '--limit', '3', '--before', '2')).out).toBe(
      `epoch  n  tool       phase    sink   transaction  trajectory  name\n${row(1, 'orders', 'a')}\n`,
    );
    expect((await assize('list', '--all', '--before', '1')).out).toBe('There are no older transactions of tools.\n');
    const epochs = async (...args: string[]) =>
      (await json(0, 'list', ...args)).transactions.map(({ epoch }: { epoch: number }) => epoch);
    expect(await epochs('--all')).toEqual([4, 3, 2, 1]);
    expect(await epochs('orders', '--all')).toEqual([2, 1]);
    expect(await epochs('orders', '--all', '--before', '2')).toEqual([1]);
    for (const [args, saying] of [
      [['--limit', '3'], '--limit and --before are for the list of all transactions; give --all with them'],
      [['--before', '3', '--epoch', '2'], 'give --all with them'],
      [['--all', '--epoch', '2'], '--all lists all transactions, and --epoch one'],
    ] as const) {
      const refused = await assize('list', ...args);
      expect([refused.code, refused.out]).toEqual([2, '']);
      expect(refused.err).toContain(saying);
    }
  });

  test.each([
    ['no transaction of that number', ['--epoch', '9'], 'There is no transaction 9 in the effect log'],
    ['no such trajectory', ['nowhere'], 'There is no trajectory nowhere'],
    ['a number that is none', ['--epoch', 'x'], 'whole number from 1'],
  ])('refuses %s', async (_, args, says) => {
    await written(mail('keyed', send));
    const { code, out, err } = await assize('list', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(says);
  });
});

describe('recover', () => {
  test('finishes what was left, with the tools of a file', async () => {
    await crashed();
    expect(sent('bob')).toBe(false);
    expect((await assize('list')).out).toMatch(
      /\nTransaction 1 has not ended\. If no process is at work there any more:\nassize effects recover --tools FILE\n$/,
    );
    const { code, out, err } = await assize('recover', '--tools', toolsFile('keyed'));
    expect([code, out], err).toEqual([0, 'ended 1 transaction\n']);
    expect(readFileSync(join(folder, 'sent/bob'), 'utf8')).toBe('bob');
    expect((await assize('list', '--all')).out).not.toContain('recover');
    expect(await json(0, 'recover', '--tools', 'tools.ts')).toMatchObject({ ended: [], left: [] });
    expect(readFileSync(join(folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('without its tool says what is left, and leaves it', async () => {
    await crashed();
    const { left, ended, lacking } = await json(1, 'recover');
    expect([ended, left[0].needs]).toEqual([[], { tools: ['mail.send'] }]);
    expect(lacking).toEqual({ tools: [{ name: 'mail.send', epochs: [1] }], domains: [], anchors: [] });
    expect((await assize('recover')).out).toContain(
      '\nlacking the tool mail.send, for transaction 1; give it with --tools FILE.\n',
    );
    expect(left).toMatchObject([{ phase: 'committed', effects: [{ tool: 'mail.send', waits_for_person: false }] }]);
    expect(sent('bob')).toBe(false);
    expect((await assize('recover', '--tools', toolsFile('keyed'))).code).toBe(0);
    expect(sent('bob')).toBe(true);
  });

  test('has what failed answered for, with the domain of a file and the anchors of the store', async () => {
    await failed();
    const tools = ['--tools', toolsFile('keyed')];
    expect((await assize('list')).out).toContain('Transaction 1 has failed, which the domain orders@1 answers for');
    const bare = await assize('recover', ...tools);
    expect(bare.out).toContain('\nlacking the domain orders@1, for transaction 1; give it with --domain FILE.\n');
    expect(bare.out).not.toMatch(/the tool|for a person/);
    const { left, lacking } = await json(1, 'recover', ...tools);
    expect(lacking).toEqual({ tools: [], domains: [{ name: 'orders@1', epochs: [1] }], anchors: [] });
    expect(left).toMatchObject([{ phase: 'failing', failing: { n: 0, refusals: 0 }, effects: [{ phase: 'dropped' }] }]);
    const stage = join(root, 'tests/support/effects-failing.ts');
    writeFileSync(join(folder, 'domain.ts'), `export { orders } from ${JSON.stringify(stage)};\n`);
    const domain = ['--domain', join(folder, 'domain.ts')];
    // Without them nothing is ruled on, as everything would be refused.
    const unheard = await json(1, 'recover', ...tools, ...domain);
    expect([unheard.ended, unheard.lacking]).toEqual([[], { tools: [], domains: [], anchors: [1] }]);
    expect((await assize('recover', ...tools, ...domain)).out).toContain(
      '\nlacking any root public key, for transaction 1; give it with --anchors FILE.\n',
    );
    writeFileSync(join(folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const anchors = ['--anchors', join(folder, 'anchors.json')];
    const { code, out, err } = await assize('recover', ...tools, ...domain, ...anchors);
    expect([code, out], err).toEqual([0, 'ended 1 transaction\n']);
    expect((await json(0, 'list', '--epoch', '1')).transactions[0]).toMatchObject({
      phase: 'settled',
      failing: { n: 0 },
    });
    expect((await runCommand(folder, url, 'log', 'orders')).out).toMatch(/count/);
    expect(sent('bob')).toBe(false);
  });

  test('says what waits for a person', async () => {
    await written(
      mail('blind', () => {
        throw new NoAnswer('the line went dead', { why: 'line_dead' });
      }),
    );
    const { code, out } = await assize('recover', '--tools', toolsFile('blind'));
    expect(code).toBe(1);
    expect(out).toMatch(
      /^ended 0 transactions\n[\s\S]*in_doubt[\s\S]*\n1 0 mail\.send waits since: line_dead\n[\s\S]*1 effect waits for a person/,
    );
  });

  test('does not wait for ever for another process that is at work', async () => {
    await inDoubt(true);
    const store = await openSqlite({ path: url.slice('sqlite:'.length) });
    try {
      const tenure = await store.holdEffects();
      const { code, err } = await assize('recover', '--wait', '1');
      expect([code, err]).toEqual([2, expect.stringContaining('Another process works on the effects of this store')]);
      expect((await assize('list')).code).toBe(0);
      await tenure.release();
      expect((await assize('recover', '--wait', '1')).code).toBe(1);
    } finally {
      await store.close();
    }
  });

  test.each([
    ['no file', 'none.ts', 'There is no tools file'],
    ['a file without tools', 'empty.ts', 'exports no tool'],
    ['a file that is none', 'broken.ts', "can't be loaded"],
  ])('refuses %s', async (_, file, says) => {
    await crashed();
    writeFileSync(join(folder, 'empty.ts'), 'export const tool = { name: 1 };');
    writeFileSync(join(folder, 'broken.ts'), "throw new Error('no');");
    const { code, err } = await assize('recover', '--tools', file);
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
  });
});

describe('resolve', () => {
  const found = ['--by', 'ops', '--evidence', 'it is in the outbox'];

  test('ends what was found to be there', async () => {
    await inDoubt(true);
    const { code, out, err } = await assize('resolve', '1', '0', '--as', 'applied', ...found);
    expect([code, out], err).toEqual([
      0,
      'resolved mail.send of transaction 1, which is applied\nTransaction 1 is settled; what it claimed is free.\n',
    ]);
    expect(await json(0, 'list')).toEqual({ transactions: [], proposals_waiting: [] });
    const { transactions } = await json(0, 'list', '--epoch', '1');
    expect(transactions[0].effects[0].resolved).toMatchObject({ as: 'applied', by: 'ops', evidence: { salted: true } });
    const again = await assize('resolve', '1', '0', '--as', 'undone', ...found);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('was resolved as applied by ops')]);
  });

  test('tries again, where that is confirmed and the tool is given', async () => {
    await inDoubt(false);
    const tools = ['--tools', toolsFile('blind')];
    const doubtful = await assize('resolve', '1', '0', '--as', 'retry', ...found, ...tools);
    const saying = 'trying again may do it twice; say so with --confirm.';
    expect([doubtful.code, doubtful.err]).toEqual([2, expect.stringContaining(saying)]);
    const nobody = await assize('resolve', '1', '0', '--as', 'retry', '--evidence', 'none', '--by', ' ');
    expect([nobody.code, nobody.err]).toEqual([2, expect.stringMatching(/'--by <who>'.* It says who decides/)]);
    expect(sent('bob')).toBe(false);
    expect(await json(0, 'resolve', '1', '0', '--as', 'retry', '--confirm', ...found, ...tools)).toMatchObject({
      epoch: 1,
      trajectory_id: 'orders',
      n: 0,
      tool: 'mail.send',
      phase: 'applied',
      transaction: 'settled',
      left: 0,
    });
    expect(readFileSync(join(folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('without the tool says what is needed to go on', async () => {
    await inDoubt(false);
    const { code, out } = await assize('resolve', '1', '0', '--as', 'retry', '--confirm', ...found);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('lacking the tool mail.send, for transaction 1; give it with --tools FILE.'),
    ]);
    expect((await assize('recover', '--tools', toolsFile('blind'))).code).toBe(0);
    expect(sent('bob')).toBe(true);
  });

  test('carries out with the tool what was decided without it, and says so', async () => {
    await inDoubt(false);
    const retry = ['resolve', '1', '0', '--as', 'retry', '--confirm', ...found];
    expect((await assize(...retry)).code).toBe(1);
    // Nothing comes of it as long as the tool is not there, nor of what is another decision.
    const bare = await assize(...retry);
    expect([bare.code, bare.err]).toEqual([2, expect.stringContaining('was resolved as retry by ops')]);
    const tools = ['--tools', toolsFile('blind')];
    const { code, out, err } = await assize(...retry, ...tools);
    expect([code, out], err).toEqual([
      0,
      'carried out what was decided before of mail.send of transaction 1, which is applied\n' +
        'Transaction 1 is settled; what it claimed is free.\n',
    ]);
    expect(readFileSync(join(folder, 'sent/bob'), 'utf8')).toBe('bob');
    const again = await assize(...retry, ...tools);
    expect([again.code, again.err]).toEqual([2, expect.stringContaining('was resolved as retry by ops')]);
    expect(readFileSync(join(folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('refuses what was decided otherwise before, also where it carries that out', async () => {
    await inDoubt(false);
    expect((await assize('resolve', '1', '0', '--as', 'retry', '--confirm', ...found)).code).toBe(1);
    const { code, err } = await assize('resolve', '1', '0', '--as', 'undone', ...found, '--tools', toolsFile('blind'));
    expect([code, err]).toEqual([2, expect.stringContaining('was resolved as retry by ops')]);
  });

  test.each([
    ['nobody', ['1', '0', '--as', 'applied', '--evidence', 'x'], "required option '--by <who>'"],
    ['no decision', ['1', '0', ...found], "required option '--as <decision>'"],
    ['another decision', ['1', '0', '--as', 'gone', ...found], 'Allowed choices are applied, undone, retry, residue'],
    ['empty evidence', ['1', '0', '--as', 'applied', '--by', 'ops', '--evidence', ' '], 'it may not be empty'],
    ['no such effect', ['1', '3', '--as', 'applied', ...found], 'has no effect 3; it has one effect, 0'],
    ['no such transaction', ['9', '0', '--as', 'applied', ...found], 'There is no transaction 9'],
  ])('refuses %s, and changes nothing', async (_, args, says) => {
    await inDoubt(true);
    const { code, out, err } = await assize('resolve', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(says);
    expect((await json(0, 'list')).transactions[0].effects[0]).toMatchObject({ phase: 'in_doubt' });
  });
});

test.each(['list', 'recover', 'resolve'])('%s --help has examples and exit codes', async (name) => {
  const { code, out } = await runCommand(folder, url, 'effects', name, '--help');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`Examples?:\n {2}assize effects ${name}`));
  expect(out).toContain('Exit codes: 0 ok, 1 a negative finding, 2 misuse.');
});
