/** `assize effects recover` and `resolve`. */
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { DidNothing, declareTool, NoAnswer } from 'assize/internal/effects';
import { openSqlite, openStore } from 'assize/internal/stores';
import { describe, expect, test, vi } from 'vitest';
import {
  operator,
  RECOVERY_KEY,
  runtimeOver,
  writFor,
} from '../../../tests/support/ledger/runtime.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { endOf, runCommand, startCommand } from '../../../tests/support/process/command.ts';
import { tally } from '../../../tests/support/tools/effect-sink.ts';
import { orders } from '../../../tests/support/tools/orders.ts';
import { inEffectsFolder, mail } from './support/process/effects-folder.ts';

const here = inEffectsFolder();
const { assize, decides, json, sent, toolsFile, written, inDoubt, crashed, failed } = here;

const root = join(import.meta.dirname, '../../..');

describe('recover', () => {
  test('finishes abandoned transactions with the tools of a file', async () => {
    await crashed();
    expect(sent('bob')).toBe(false);
    expect((await assize('list')).out).toMatch(
      /\nTransaction 1 has not ended\. If no other process is active, recover with the tools, and the recovery key if there is one:\nassize effects recover --tools FILE --recovery-key FILE\n$/,
    );
    const { code, out, err } = await assize('recover', '--tools', toolsFile('keyed'));
    expect([code, out], err).toEqual([0, 'ended 1 transaction\n']);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
    expect((await assize('list', '--all')).out).not.toContain('recover');
    expect(await json(0, 'recover', '--tools', 'tools.ts')).toMatchObject({
      ended: [],
      unfinished: [],
    });
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('reports the reason that an abandoned transaction cannot resume', async () => {
    await crashed();
    const db = new DatabaseSync(join(here.folder, 'world.db'));
    db.exec(`UPDATE blob SET text = 'damaged' WHERE text LIKE '%"input"%'`);
    db.close();
    const { code, out, err } = await assize('recover', '--tools', toolsFile('keyed'));
    expect([code, out, last(err)]).toEqual([
      1,
      expect.stringMatching(/^ended 0 transactions\n/),
      expect.stringMatching(
        /^assize: Transaction 1 could not be resumed; it keeps its claims and is retried: \S/,
      ),
    ]);
    expect(sent('bob')).toBe(false);
  });

  test('without the tool lists the unfinished transaction and leaves it', async () => {
    await crashed();
    const { unfinished, ended, missing } = await json(1, 'recover');
    expect([ended, unfinished[0].needs]).toEqual([[], { tools: ['mail.send'] }]);
    expect(missing).toEqual({
      tools: [{ name: 'mail.send', epochs: [1] }],
      domains: [],
      anchors: [],
    });
    expect((await assize('recover')).out).toContain(
      '\nmissing the tool mail.send, for transaction 1; pass it with --tools FILE.\n',
    );
    expect(unfinished).toMatchObject([
      { phase: 'committed', effects: [{ tool: 'mail.send', needs_human: false }] },
    ]);
    expect(sent('bob')).toBe(false);
    expect((await assize('recover', '--tools', toolsFile('keyed'))).code).toBe(0);
    expect(sent('bob')).toBe(true);
  });

  test('runs `onFailure` with the domain of a file and the anchors of the store', async () => {
    await failed();
    writeFileSync(join(here.folder, 'recovery.key'), `${RECOVERY_KEY}\n`);
    const tools = [
      '--tools',
      toolsFile('keyed'),
      '--recovery-key',
      join(here.folder, 'recovery.key'),
    ];
    expect((await assize('list')).out).toContain(
      'Transaction 1 has failed. The domain orders@1 handles the failure',
    );
    const bare = await assize('recover', ...tools);
    expect(bare.out).toContain(
      '\nmissing the domain orders@1, for transaction 1; pass it with --domain FILE.\n',
    );
    expect(bare.out).not.toMatch(/the tool|human decision/);
    const { unfinished, missing } = await json(1, 'recover', ...tools);
    expect(missing).toEqual({
      tools: [],
      domains: [{ name: 'orders@1', epochs: [1] }],
      anchors: [],
    });
    expect(unfinished).toMatchObject([
      { phase: 'failing', failing: { n: 0, refusals: 0 }, effects: [{ phase: 'dropped' }] },
    ]);
    const stage = join(root, 'tests/support/tools/orders.ts');
    writeFileSync(
      join(here.folder, 'domain.ts'),
      `export { orders } from ${JSON.stringify(stage)};\n`,
    );
    const domain = ['--domain', join(here.folder, 'domain.ts')];
    // Without them nothing is ruled on, as everything would be refused.
    const unheard = await json(1, 'recover', ...tools, ...domain);
    expect([unheard.ended, unheard.missing]).toEqual([
      [],
      { tools: [], domains: [], anchors: [1] },
    ]);
    expect((await assize('recover', ...tools, ...domain)).out).toContain(
      '\nmissing a root public key, for transaction 1; pass it with --anchors FILE.\n',
    );
    writeFileSync(join(here.folder, 'anchors.json'), JSON.stringify([operator.publicKey]));
    const anchors = ['--anchors', join(here.folder, 'anchors.json')];
    const { code, out, err } = await assize('recover', ...tools, ...domain, ...anchors);
    expect([code, out], err).toEqual([0, 'ended 1 transaction\n']);
    expect((await json(0, 'list', '--epoch', '1')).transactions[0]).toMatchObject({
      phase: 'settled',
      failing: { n: 0 },
    });
    expect((await runCommand(here.folder, here.url, 'log', 'orders')).out).toMatch(/count/);
    expect(sent('bob')).toBe(false);
  });

  test('leaves the calls of an unknown process to an operator', async () => {
    await failed();
    writeFileSync(join(here.folder, 'recovery.key'), 'x'.repeat(31));
    const short = await assize('recover', '--recovery-key', join(here.folder, 'recovery.key'));
    expect([short.code, short.err]).toEqual([2, expect.stringContaining('is not a recovery key')]);
    const { code, out } = await assize('recover', '--tools', toolsFile('keyed'));
    expect([code, out]).toEqual([
      1,
      expect.stringContaining('wrote 1 transaction: 1. Check the calls at their sinks'),
    ]);
  });

  test('lists effects that need a human decision', async () => {
    await written(
      mail('blind', () => {
        throw new NoAnswer('the line went dead', { why: 'line_dead' });
      }),
    );
    const { code, out } = await assize('recover', '--tools', toolsFile('blind'));
    expect(code).toBe(1);
    expect(out).toMatch(
      /^ended 0 transactions\n[\s\S]*in_doubt[\s\S]*\n1 0 mail\.send reason: line_dead\n[\s\S]*1 effect needs a human decision/,
    );
  });

  test('does not wait for ever for another process that is at work', async () => {
    await inDoubt(true);
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    try {
      const tenure = await store.leaseEffects();
      const { code, err } = await assize('recover', '--wait', '1');
      expect([code, err]).toEqual([
        2,
        expect.stringContaining('Another process runs the effects of this store'),
      ]);
      expect((await assize('list')).code).toBe(0);
      await tenure.release();
      expect((await assize('recover', '--wait', '1')).code).toBe(1);
    } finally {
      await store.close();
    }
  });

  withPostgres('beside others', (postgres) => {
    test('reports that a transaction in progress is left to its process', async () => {
      const url = postgres.url();
      const store = await openStore(url);
      const [called, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const tool = mail('keyed', () => {
        called.resolve();
        return answer.promise;
      });
      const worker = runtimeOver(store, [tally], {
        tools: [tool],
        effects: { blockTimeoutMs: 600_000 },
      });
      try {
        const trajectory = await worker.create(tally, { trajectoryId: 'orders' });
        const options = { writ: writFor('alice'), writes: ['mail:**'] };
        const done = trajectory.transaction(options, async (tx) => {
          await tx.call('mail.send', { to: 'bob' });
          tx.propose({ action: 'count', role: 'counter', args: 'order' });
        });
        await called.promise;
        const recover = () =>
          runCommand(here.folder, url, 'effects', 'recover', '--tools', toolsFile('keyed'));
        const { code, out, err } = await recover();
        expect([code, out, last(err)]).toEqual([
          1,
          expect.stringMatching(
            /^ended 0 transactions\n[\s\S]*\n\nTransaction 1 has not ended: another process works on it\./,
          ),
          '',
        ]);
        answer.resolve();
        await done;
        expect(await recover()).toMatchObject({ code: 0, out: 'ended 0 transactions\n' });
        expect(sent('bob')).toBe(false);
      } finally {
        answer.resolve();
        await worker.close();
        await store.close();
      }
    });
  });

  test.each(['2147484', '9999999999'])(
    'refuses to wait %s seconds, because no timer is that long',
    async (wait) => {
      const { code, err } = await assize('recover', '--wait', wait);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/--wait <seconds>.*from 1 to 2147483, in digits/),
      ]);
    },
  );

  test.each([
    ['no file', 'none.ts', 'none.ts does not exist'],
    ['a file without tools', 'empty.ts', 'exports no tool'],
    ['an invalid file', 'broken.ts', 'Cannot load the tools file'],
    [
      'a file that throws what has no text',
      'without-text.ts',
      'without-text.ts: the thrown value cannot be read',
    ],
    ['a file whose export throws as it is looked at', 'throwing.ts', 'throwing.ts:1: not now'],
    ['a file whose export is taken back', 'revoked.ts', 'revoked.ts: '],
  ])('refuses %s', async (_, file, says) => {
    await crashed();
    writeFileSync(join(here.folder, 'empty.ts'), 'export const tool = { name: 1 };');
    writeFileSync(join(here.folder, 'broken.ts'), "throw new Error('no');");
    writeFileSync(join(here.folder, 'without-text.ts'), 'throw Object.create(null);');
    const throwing = "new Proxy({}, { get() { throw new Error('not now'); } })";
    writeFileSync(join(here.folder, 'throwing.ts'), `export const tool = ${throwing};`);
    const revoked =
      'const { proxy, revoke } = Proxy.revocable({}, {});\nrevoke();\nexport { proxy };';
    writeFileSync(join(here.folder, 'revoked.ts'), revoked);
    const { code, err } = await assize('recover', '--tools', file);
    expect([code, err]).toEqual([2, expect.stringContaining(says)]);
  });
});

/**
 * A tool with a sink that is busy for longer than any caller waits. It writes a file when it is
 * called, and is retried later.
 */
const busy = (name = 'mail.send') => `
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { declareTool, DidNothing } from 'assize/effects';
import { z } from 'zod';

export default declareTool({
  name: '${name}',
  input: z.strictObject({ to: z.string(), text: z.string().optional() }),
  class: { reversibility: 'irreversible', delivery: 'buffered', sink: 'keyed' },
  writes: ['mail:{to}'],
  execute: () => {
    writeFileSync(join(import.meta.dirname, 'called'), '');
    throw new DidNothing('the line is busy', { afterMs: 600_000 });
  },
});
`;

/** Runs a command, and presses Ctrl-C as soon as the tool was called. */
async function stopped(...args: string[]) {
  writeFileSync(join(here.folder, 'busy.ts'), busy());
  const child = startCommand(here.folder, here.url, ...args, '--tools', 'busy.ts');
  const ended = endOf(child);
  await vi.waitFor(() => expect(existsSync(join(here.folder, 'called'))).toBe(true), {
    interval: 5,
    timeout: 300_000,
  });
  child.kill('SIGINT');
  return ended;
}

/** Where a machine is slow, it was said before what is waited for. */
const last = (err: string): string => err.replace(/^assize: Waiting for .*\n/gm, '');

describe('Ctrl-C', () => {
  test('Ctrl-C stops a recovery immediately, and it reports all transactions', async () => {
    await crashed();
    const { code, out, err } = await stopped('effects', 'recover');
    expect([code, out, last(err)]).toEqual([
      130,
      '',
      'assize: Stopped by SIGINT; committed entries stay: 0 transactions have ended, and 1 remains (assize effects list); resume with assize effects recover.\n',
    ]);
    expect((await json(0, 'list')).transactions).toMatchObject([
      { phase: 'committed', effects: [{ phase: 'applying' }] },
    ]);
    expect((await assize('recover', '--tools', toolsFile('keyed'))).code).toBe(0);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('ends a wait that the command has reported', async () => {
    await crashed();
    writeFileSync(join(here.folder, 'busy.ts'), busy());
    const child = startCommand(here.folder, here.url, 'effects', 'recover', '--tools', 'busy.ts');
    const ended = endOf(child);
    const [said] = await once(child.stderr!, 'data');
    expect(said).toBe('assize: Waiting for mail.send of transaction 1 (applying).\n');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
  });

  test('a transaction that lacks its tool is not reported as waited for', async () => {
    await crashed();
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const called = Promise.withResolvers<void>();
    const fax = declareTool({
      ...mail('keyed', () => {
        called.resolve();
        return new Promise(() => undefined);
      }).spec,
      name: 'fax.send',
      writes: ['fax:{to}'],
    });
    const trajectory = await runtimeOver(store, [tally], { tools: [fax] }).open('orders');
    const made = trajectory.transaction(
      { writ: writFor('alice'), writes: ['fax:**'] },
      async (tx) => {
        await tx.call('fax.send', { to: 'bob' });
        tx.propose({ action: 'count', role: 'counter', args: 'order' });
      },
    );
    // Its store is closed before it has an end.
    made.catch(() => undefined);
    await called.promise;
    await store.close();
    writeFileSync(join(here.folder, 'busy.ts'), busy('fax.send'));
    const child = startCommand(here.folder, here.url, 'effects', 'recover', '--tools', 'busy.ts');
    const ended = endOf(child);
    const [said] = await once(child.stderr!, 'data');
    expect(said).toBe('assize: Waiting for fax.send of transaction 2 (applying).\n');
    child.kill('SIGINT');
    expect((await ended).code).toBe(130);
  });

  test('Ctrl-C stops the execution of a decision, and the decision stays', async () => {
    await written(
      mail('keyed', () => {
        throw new DidNothing('nobody lives there', { final: true });
      }),
    );
    const decision = [
      'resolve',
      '1',
      '0',
      '--as',
      'retry',
      '--by',
      'ops',
      '--evidence',
      'she moved in',
    ];
    const { code, out, err } = await stopped('effects', ...decision, ...decides(), '--json');
    const message =
      'Stopped by SIGINT; committed entries stay: mail.send of transaction 1 was resolved as retry, and is due; assize effects list --epoch 1 shows the rest.';
    expect([code, JSON.parse(out), last(err)]).toEqual([
      130,
      { error: { code: 'interrupted', message } },
      `assize: ${message}\n`,
    ]);
    expect((await assize('recover', '--tools', toolsFile('keyed'))).code).toBe(0);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });
});

describe('Ctrl-C to an approval', () => {
  /** Makes a pending proposal with a letter to send. Returns the command that approves it. */
  async function waiting(): Promise<string[]> {
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    const worker = runtimeOver(store, [orders], { tools: [mail('keyed', () => null)] });
    const trajectory = await worker.create(orders, { trajectoryId: 'orders' });
    const { ruling } = await trajectory.transaction(
      { writ: writFor('alice'), writes: ['mail:**'] },
      async (tx) => {
        await tx.call('mail.send', { to: 'bob' });
        tx.propose({ action: 'count', role: 'counter', args: 'asked' });
      },
    );
    await worker.close();
    await store.close();
    if (ruling.ruling !== 'escalated') throw new Error(`it was ${ruling.ruling}`);
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
    return ['approve', ruling.pending, '--as', 'boss', '--override', ...files];
  }

  test('Ctrl-C stops the execution of the approval, and the approval stays', async () => {
    const { code, out, err } = await stopped(...(await waiting()));
    expect([code, out]).toEqual([130, '']);
    expect(last(err)).toMatch(
      /^assize: Stopped by SIGINT; committed entries stay: the proposal is committed as [0-9a-f]{12}, and its calls have not ended; resume them with assize effects recover\.\n$/,
    );
    expect((await json(0, 'list')).transactions).toMatchObject([
      { phase: 'committed', effects: [{ phase: 'due' }] },
    ]);
    expect((await assize('recover', '--tools', toolsFile('keyed'))).code).toBe(0);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('has it approve nothing, where it waits for another process', async () => {
    const line = await waiting();
    const store = await openSqlite({ path: here.url.slice('sqlite:'.length) });
    try {
      const tenure = await store.leaseEffects();
      const child = startCommand(
        here.folder,
        here.url,
        ...line,
        '--tools',
        toolsFile('keyed'),
        '--wait',
        '600',
      );
      const ended = endOf(child);
      const [said] = await once(child.stderr!, 'data');
      expect(said).toBe(
        'assize: Waiting up to 600 s (--wait) for another process that runs the effects of this store.\n',
      );
      child.kill('SIGINT');
      expect(await ended).toMatchObject({
        code: 130,
        err: expect.stringContaining('is still pending'),
      });
      await tenure.release();
    } finally {
      await store.close();
    }
    expect(
      (await runCommand(here.folder, here.url, ...line, '--tools', toolsFile('keyed'))).out,
    ).toMatch(/^committed/);
    expect(sent('bob')).toBe(true);
  });
});

describe('resolve', () => {
  test('takes the domain of an upgraded trajectory from the config', async () => {
    await inDoubt(true);
    // The module of the tests and the one of the command are the same.
    const file = join(here.folder, 'next.ts');
    writeFileSync(
      file,
      `import { defineDomain } from 'assize';
import { tally } from '${join(root, 'tests/support/tools/effect-sink.ts')}';
export const next = defineDomain({ ...tally.declared, version: '2' });
`,
    );
    const { next } = await import(file);
    const store = await openSqlite({ path: join(here.folder, 'world.db') });
    const worker = runtimeOver(store, [tally, next]);
    await worker.upgrade('orders', next, { writ: writFor('boss'), reason: 'version 2' });
    await worker.close();
    await store.close();
    writeFileSync(
      join(here.folder, 'assize.config.ts'),
      "import { next } from './next.ts';\nexport default { domains: [next] };\n",
    );
    const { code, err } = await assize(
      'resolve',
      '1',
      '0',
      '--as',
      'applied',
      '--by',
      'ops',
      '--evidence',
      'seen',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(await json(0, 'list')).toEqual({ transactions: [], pending_proposals: [] });
  });

  const found = ['--by', 'ops', '--evidence', 'it is in the outbox'];

  test('ends an effect that was found applied', async () => {
    await inDoubt(true);
    const { code, out, err } = await assize('resolve', '1', '0', '--as', 'applied', ...found);
    expect([code, out], err).toEqual([
      0,
      'resolved mail.send of transaction 1; it is applied\nTransaction 1 is settled; its scope claims are released.\n',
    ]);
    expect(await json(0, 'list')).toEqual({ transactions: [], pending_proposals: [] });
    const { transactions } = await json(0, 'list', '--epoch', '1');
    expect(transactions[0].effects[0].resolved).toMatchObject({
      as: 'applied',
      by: 'ops',
      evidence: { salted: true },
    });
    const again = await assize('resolve', '1', '0', '--as', 'undone', ...found);
    expect([again.code, again.err]).toEqual([
      2,
      expect.stringContaining('was already resolved as applied by ops'),
    ]);
  });

  test('refuses the payer, and a writ for another principal', async () => {
    await inDoubt(true);
    const decide = (by: string, subject: string) => {
      const decision = ['resolve', '1', '0', '--as', 'applied', '--by', by, '--evidence', 'seen'];
      return runCommand(here.folder, here.url, 'effects', ...decision, ...decides(subject));
    };
    const own = await decide('alice', 'alice');
    expect([own.code, own.err]).toEqual([
      2,
      'assize: alice cannot decide about the effect of mail.send: alice requested this transaction or granted its writ. Let another principal decide.\n',
    ]);
    const lent = await decide('jim', 'joe');
    expect([lent.code, lent.err]).toEqual([
      2,
      'assize: jim cannot decide about the effect of mail.send: the writ is for joe; --by says jim. Pass a writ for jim, or let joe decide.\n',
    ]);
    expect((await decide('ops', 'ops')).code).toBe(0);
  });

  test('tries again, where that is confirmed and the tool is given', async () => {
    await inDoubt(false);
    const tools = ['--tools', toolsFile('blind')];
    const doubtful = await assize('resolve', '1', '0', '--as', 'retry', ...found, ...tools);
    const saying = 'so a retry may repeat it. Confirm the retry with --confirm.';
    expect([doubtful.code, doubtful.err]).toEqual([2, expect.stringContaining(saying)]);
    const nobody = await assize(
      'resolve',
      '1',
      '0',
      '--as',
      'retry',
      '--evidence',
      'none',
      '--by',
      ' ',
    );
    expect([nobody.code, nobody.err]).toEqual([
      2,
      expect.stringMatching(/'--by <operator>'.* It must name the operator/),
    ]);
    expect(sent('bob')).toBe(false);
    expect(
      await json(0, 'resolve', '1', '0', '--as', 'retry', '--confirm', ...found, ...tools),
    ).toMatchObject({
      epoch: 1,
      trajectory_id: 'orders',
      n: 0,
      tool: 'mail.send',
      phase: 'applied',
      transaction: 'settled',
      unresolved: 0,
    });
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('without the tool names the tool that is needed to continue', async () => {
    await inDoubt(false);
    const { code, out } = await assize('resolve', '1', '0', '--as', 'retry', '--confirm', ...found);
    expect([code, out]).toEqual([
      1,
      expect.stringContaining(
        'missing the tool mail.send, for transaction 1; pass it with --tools FILE.',
      ),
    ]);
    expect((await assize('recover', '--tools', toolsFile('blind'))).code).toBe(0);
    expect(sent('bob')).toBe(true);
  });

  test('executes an earlier decision once the tool is given, and reports it', async () => {
    await inDoubt(false);
    const retry = ['resolve', '1', '0', '--as', 'retry', '--confirm', ...found];
    expect((await assize(...retry)).code).toBe(1);
    // The decision has no effect while the tool is missing, and a different decision has none
    // either.
    const bare = await assize(...retry);
    expect([bare.code, bare.err]).toEqual([
      2,
      expect.stringContaining('was already resolved as retry by ops'),
    ]);
    const tools = ['--tools', toolsFile('blind')];
    const { code, out, err } = await assize(...retry, ...tools);
    expect([code, out], err).toEqual([
      0,
      'carried out the earlier decision on mail.send of transaction 1; it is applied\n' +
        'Transaction 1 is settled; its scope claims are released.\n',
    ]);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
    const again = await assize(...retry, ...tools);
    expect([again.code, again.err]).toEqual([
      2,
      expect.stringContaining('was already resolved as retry by ops'),
    ]);
    expect(readFileSync(join(here.folder, 'sent/bob'), 'utf8')).toBe('bob');
  });

  test('refuses a decision that differs from the first, even with its tool', async () => {
    await inDoubt(false);
    expect((await assize('resolve', '1', '0', '--as', 'retry', '--confirm', ...found)).code).toBe(
      1,
    );
    const { code, err } = await assize(
      'resolve',
      '1',
      '0',
      '--as',
      'undone',
      ...found,
      '--tools',
      toolsFile('blind'),
    );
    expect([code, err]).toEqual([
      2,
      expect.stringContaining('was already resolved as retry by ops'),
    ]);
  });

  test.each([
    [
      'nobody',
      ['1', '0', '--as', 'applied', '--evidence', 'x'],
      "required option '--by <operator>'",
    ],
    ['no decision', ['1', '0', ...found], "required option '--as <decision>'"],
    [
      'another decision',
      ['1', '0', '--as', 'gone', ...found],
      'Allowed choices are applied, undone, did_not_happen, retry, residue',
    ],
    [
      'empty evidence',
      ['1', '0', '--as', 'applied', '--by', 'ops', '--evidence', ' '],
      'must not be empty',
    ],
    [
      'no such effect',
      ['1', '3', '--as', 'applied', ...found],
      'has no effect 3. It has one effect, 0',
    ],
    [
      'no such transaction',
      ['9', '0', '--as', 'applied', ...found],
      'The effect log has no transaction 9',
    ],
  ])('refuses %s, and changes nothing', async (_, args, says) => {
    await inDoubt(true);
    const { code, out, err } = await assize('resolve', ...args);
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain(says);
    expect((await json(0, 'list')).transactions[0].effects[0]).toMatchObject({ phase: 'in_doubt' });
  });
});
