/** `assize effects list`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { sqlTool } from '@assize/tools/sql';
import { declareTool } from 'assize/internal/effects';
import { openSqlite } from 'assize/internal/stores';
import { describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { treated, ZOE } from '../../../tests/support/clinic/treatment-trajectory.ts';
import {
  operator,
  RECOVERY_KEY,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import { runCommand } from '../../../tests/support/process/command.ts';
import { tally } from '../../../tests/support/tools/effect-sink.ts';
import { inEffectsFolder, mail, wide } from './support/process/effects-folder.ts';

const here = inEffectsFolder();
const { assize, json, send, written, inDoubt } = here;

const root = join(import.meta.dirname, '../../..');
describe('list', () => {
  test('shows open transactions in 80 columns and as JSON, with the next steps', async () => {
    await inDoubt(true);
    const { code, out } = await assize('list');
    expect(code).toBe(0);
    expect(out.split('\n').every((text) => text.length <= 80)).toBe(true);
    expect(out).toBe(
      [
        'epoch  n  tool       phase     sink   transaction  trajectory  name',
        '    1  0  mail.send  in_doubt  blind  committed    orders      order-1',
        '',
        '1 effect needs a human decision: assize pending shows the call, --json the key.',
        'Check the outcome at the sink, and record a decision:',
        'assize effects resolve EPOCH N --as DECISION --by OPERATOR --evidence TEXT',
        '',
      ].join('\n'),
    );
    const { transactions } = await json(0, 'list', 'orders', '--epoch', '1');
    expect(transactions).toEqual([
      {
        epoch: 1,
        version: expect.any(Number),
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
            needs_human: true,
          },
        ],
      },
    ]);
  });

  test('pending shows an unresolved effect with its command; approve names it', async () => {
    await inDoubt(true);
    const other = (...args: string[]) => runCommand(here.folder, here.url, ...args);
    const pending = await other('pending');
    const [, id] = /^([0-9a-f]{12})/m.exec(pending.out) as unknown as [string, string];
    expect(pending.out.split('\n').slice(3)).toEqual([
      `${id} is an effect of mail.send that is in doubt`,
      expect.stringMatching(/^key [0-9a-f]{64}$/),
      'called mail.send (irreversible, buffered, blind), which writes mail:bob',
      '  with {"to":"bob"}',
      'Resolve it with: assize effects resolve 1 0 --as DECISION --by OPERATOR --evidence TEXT',
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
    await assize(
      'resolve',
      '1',
      '0',
      '--as',
      'applied',
      '--by',
      'ops',
      '--evidence',
      'it is in the folder',
    );
    expect((await other('pending')).out).toBe('No decision is pending.\n');
    const { out } = await other('log', 'orders');
    expect(out).toMatch(/assize\.settle .*applied, by ops/);
    expect((await other('verify')).code).toBe(0);
  });

  test('reports that all have ended, and finds an ended one by its number', async () => {
    await written(mail('keyed', send));
    expect((await assize('list')).out).toBe('All tool transactions have ended.\n');
    expect((await json(0, 'list', '--epoch', '1')).transactions[0]).toMatchObject({
      phase: 'settled',
    });
    expect((await assize('list', '--epoch', '1')).out).toMatch(
      /^ {4}1 {2}0 {2}mail.send {2}applied .*order-1$/m,
    );
  });

  describe('compensated and pending effects', () => {
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
      const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
      const worker = runtimeOver(store, [wide], { tools: [bank, mail('keyed', send)] });
      for (const [name, args] of [
        ['a', 'forbidden'],
        ['b', 'asked'],
        ['c', 'asked'],
      ] as const) {
        const trajectory = await worker.create(wide, { trajectoryId: name });
        await trajectory.transaction(
          { writ: writFor('alice'), writes: ['**'], name },
          async (tx) => {
            if (name === 'c') await tx.call('mail.send', { to: 'bob' });
            else await tx.call('bank.charge', { order: name });
            tx.propose({ action: 'count', role: 'counter', args });
          },
        );
      }
      await worker.close();
      await store.close();
    }

    test('are listed with the reason and the residue', async () => {
      await made();
      expect((await assize('list')).out).toBe(
        'All tool transactions have ended.\n2 proposals with tools need a human decision: assize pending\n',
      );
      expect((await assize('list', 'a')).out).toBe('All tool transactions have ended.\n');
      const { out } = await assize('list', '--all');
      expect(out.split('\n')).toEqual([
        'epoch  n  tool         phase   sink   transaction          trajectory  name',
        '    2  0  bank.charge  undone  keyed  aborted (escalated)  b           b',
        '    1  0  bank.charge  undone  keyed  aborted (rejected)   a           a',
        '',
        expect.stringMatching(
          /^2 0 bank\.charge residue: \{"fee":"x+ … \d+ more characters, mitigated with null$/,
        ),
        '1 0 bank.charge residue: {"fee":1}, mitigated with {"letter":"to the bank"}',
        '2 proposals with tools need a human decision: assize pending',
        '',
      ]);
      const { transactions, pending_proposals: waiting } = await json(0, 'list', '--all');
      expect(transactions.map(({ effects }: any) => effects[0].residue)).toEqual([
        {
          $blob: expect.any(String),
          bytes: expect.any(Number),
          salted: true,
          value: { mitigated: null, residue: fee },
        },
        expect.objectContaining({
          value: { mitigated: { letter: 'to the bank' }, residue: { fee: 1 } },
        }),
      ]);
      const id = expect.stringMatching(/^[0-9a-f]{64}$/);
      expect(waiting).toEqual(['b', 'c'].map((trajectory_id) => ({ id, trajectory_id, calls: 1 })));
      expect((await json(0, 'list', '--epoch', '1')).pending_proposals).toBeUndefined();
    });

    test('are erased by the number of their transaction, and listed as erased', async () => {
      const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
      const { assize: runtime, go } = await treated(store);
      const epoch = await go('branch', ZOE);
      await runtime.close();
      await store.close();
      const [domain, key] = [join(here.folder, 'treated.ts'), join(here.folder, 'operator.key')];
      writeFileSync(
        domain,
        `export { treatments } from '${join(root, 'tests/support/clinic/treatment-trajectory.ts')}';`,
      );
      writeFileSync(key, operator.privateKey, { mode: 0o600 });
      writeFileSync(
        join(here.folder, 'world.db.anchors.json'),
        JSON.stringify([operator.publicKey]),
      );
      const erase = (...args: string[]) =>
        runCommand(
          here.folder,
          here.url,
          'erase',
          't',
          '--yes',
          '--reason',
          'asked for',
          '--key',
          key,
          '--domain',
          domain,
          ...args,
        );
      expect((await assize('list', '--all')).out).toContain(
        `${epoch} 0 act residue: {"is":"left-branch-p1-zq"}\n`,
      );
      const { code, out, err } = await erase('--transaction', `${epoch}`);
      expect(code, err).toBe(0);
      const [, by] =
        /^erased 0 values of 0 entries and 3 texts of the effect log, by ([0-9a-f]{12}), t seq \d+\n$/.exec(
          out,
        )!;
      expect((await assize('list', '--all')).out).toContain(
        `${epoch} 0 act residue: a value erased by ${by}\n`,
      );
      expect((await erase('--transaction', '0')).err).toMatch(/It must be a whole number from 1/);
      const none = await erase('--transaction', '99', '--json');
      expect(none.code).not.toBe(0);
      expect(none.err).toMatch(/no transaction 99 of this trajectory/);
      expect((await runCommand(here.folder, here.url, 'verify', '--database')).code).toBe(0);
    });

    test('are listed as erased or missing if so, even with a damaged ledger', async () => {
      await made();
      const db = openUnguarded(here.url.slice('sqlite:'.length));
      const by = 'b'.repeat(64);
      db.exec(`DELETE FROM blob WHERE text LIKE '%"mitigated":{%'`);
      db.exec(
        `UPDATE blob SET text = '', erased_by = unhex('${by}') WHERE text LIKE '%"mitigated":null%'`,
      );
      db.exec(`UPDATE entry SET payload = replace(payload, '"asked"', '"other"')`);
      db.close();
      const { out } = await assize('list', '--all');
      expect(out).toContain(`2 0 bank.charge residue: a value erased by ${by.slice(0, 12)}\n`);
      expect(out).toContain('1 0 bank.charge residue: a value that the store does not have\n');
      expect(out).toMatch(/^Cannot list pending proposals with tools: .+$/m);
      const { transactions, pending_proposals: waiting } = await json(0, 'list', '--all');
      expect(transactions.map(({ effects }: any) => effects[0].residue)).toMatchObject([
        { erased_by: by },
        { missing: true },
      ]);
      expect(waiting).toBeNull();
    });
  });

  test('shows both answers if a staged call answered differently and did not run', async () => {
    const bank = new DatabaseSync(':memory:');
    bank.exec('CREATE TABLE booking (n INTEGER PRIMARY KEY, what TEXT)');
    let rollbacks = 0;
    const connection = {
      query: (text: string, values: readonly unknown[]) =>
        bank.prepare(text).all(...(values as never[])),
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
      database: { connect: () => connection, writers: 'one', stagedTimeoutMs: 50 },
      statements: ({ what }) => [
        { text: 'INSERT INTO booking (what) VALUES (?) RETURNING n', values: [what] },
      ],
      result: ([rows]) => rows?.[0],
    });
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [tally], { tools: [book] });
    const trajectory = await worker.create(tally, { trajectoryId: 'orders' });
    const done = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['db:**'] },
      async (tx) => {
        expect(await tx.call('bank.book', { what: 'lamp' })).toEqual({ n: 1 });
        await vi.waitFor(() => expect(rollbacks).toBe(1), { interval: 5, timeout: 60_000 });
        bank.exec("INSERT INTO booking (what) VALUES ('of somebody else')");
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    expect(done.effects).toBe('needs_human');
    await worker.close();
    await store.close();
    const { out } = await assize('list');
    expect(out.split('\n')[3]).toBe(
      '1 0 bank.book skipped: the body received {"n":1}, and the tool would now answer {"n":2}',
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
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [tally], { tools: [mail('keyed', send)] });
    for (const trajectoryId of ['orders', 'others']) {
      const trajectory = await worker.create(tally, { trajectoryId });
      for (const name of ['a', 'b'])
        await trajectory.transaction(
          { writ: writFor('alice'), writes: ['mail:**'], name },
          async (tx) => {
            await tx.call('mail.send', { to: name });
            tx.propose({ action: 'count', role: 'counter', args: name });
          },
        );
    }
    await worker.close();
    await store.close();
    expect((await assize('list')).out).toBe('All tool transactions have ended.\n');
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
        'Older transactions: --before 2',
        '',
      ].join('\n'),
    ]);
    expect((await assize('list', '--all', '--limit', '3', '--before', '2')).out).toBe(
      `epoch  n  tool       phase    sink   transaction  trajectory  name\n${row(1, 'orders', 'a')}\n`,
    );
    expect((await assize('list', '--all', '--before', '1')).out).toBe(
      'The effect log has no older tool transactions.\n',
    );
    const epochs = async (...args: string[]) =>
      (await json(0, 'list', ...args)).transactions.map(({ epoch }: { epoch: number }) => epoch);
    expect(await epochs('--all')).toEqual([4, 3, 2, 1]);
    expect(await epochs('orders', '--all')).toEqual([2, 1]);
    expect(await epochs('orders', '--all', '--before', '2')).toEqual([1]);
    for (const [args, saying] of [
      [['--limit', '3'], 'The options --limit and --before need --all. Pass --all too'],
      [['--before', '3', '--epoch', '2'], 'Pass --all too'],
      [['--all', '--epoch', '2'], 'The options --all and --epoch exclude each other'],
    ] as const) {
      const refused = await assize('list', ...args);
      expect([refused.code, refused.out]).toEqual([2, '']);
      expect(refused.err).toContain(saying);
    }
  });

  test.each([
    ['no transaction of that number', ['--epoch', '9'], 'The effect log has no transaction 9'],
    ['no such trajectory', ['nowhere'], 'The store has no trajectory nowhere'],
    ['an invalid number', ['--epoch', 'x'], 'whole number from 1'],
  ])('refuses %s', async (_, args, says) => {
    await written(mail('keyed', send));
    const { code, out, err } = await assize('list', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(says);
  });
});

test('resolve --help says that the name of --by is not checked', async () => {
  const { out } = await runCommand(here.folder, here.url, 'effects', 'resolve', '--help');
  expect(out.replace(/\s+/g, ' ')).toContain(
    'A process that can write the store can decide under any name.',
  );
});

test('fsck says whether it has checked the effect log, by the key', async () => {
  await here.inDoubt(true);
  const fsck = (...args: string[]) =>
    runCommand(here.folder, here.url, 'verify', '--database', ...args);
  expect((await fsck()).out).toContain(
    'not checked: the MACs of 1 tool transaction, because there is no key',
  );
  writeFileSync(join(here.folder, 'recovery.key'), RECOVERY_KEY);
  const { code, out } = await fsck('--recovery-key', 'recovery.key');
  expect({ code, out }).toEqual({
    code: 0,
    out: expect.stringContaining('checked: the MACs of 1 tool transaction, 1 of them authentic'),
  });
  writeFileSync(join(here.folder, 'other.key'), RECOVERY_KEY.toUpperCase());
  const other = await fsck('--recovery-key', 'other.key', '--json');
  expect({ code: other.code, report: JSON.parse(other.out) }).toMatchObject({
    code: 1,
    report: {
      valid: false,
      effects: { transactions: 1, authentic: 0 },
      faults: [{ code: 'effect_not_authentic', epoch: 1 }],
    },
  });
});

test.each(['list', 'recover', 'resolve'])('%s --help has examples and exit codes', async (name) => {
  const { code, out } = await runCommand(here.folder, here.url, 'effects', name, '--help');
  expect(code).toBe(0);
  expect(out).toMatch(new RegExp(`Examples?:\n {2}assize effects ${name}`));
  expect(out).toContain('Exit codes: 0 ok, 1 a negative finding, 2 misuse.');
});
