/**
 * The work of an auditor with the command line: keys, checkpoints, proofs, a witness, and an export
 * to take away.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { integrateLog } from 'assize/internal/ledger';
import { openStore } from 'assize/internal/stores';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';

const STORE = 'sqlite:./d.db';
const DAVID = "trajectory = (SELECT key FROM trajectory WHERE name = 'david-1')";
const PAYMENTS = "trajectory = (SELECT key FROM trajectory WHERE name = 'payments-1')";
let made: string;
let here: string;

const assize = (...args: string[]): Promise<Ended> => runCommand(here, STORE, ...args);
const start = (...args: string[]): ChildProcess => startCommand(here, STORE, ...args);
const json = async (...args: string[]): Promise<any> =>
  JSON.parse((await assize(...args, '--json')).out);
const at = (name: string): string => join(here, name);

beforeAll(async () => {
  made = mkdtempSync(join(tmpdir(), 'assize-auditor-'));
  expect(await runCommand(made, STORE, 'demo', '--store', STORE)).toMatchObject({ code: 0 });
});
afterAll(() => rmSync(made, { recursive: true }));
beforeEach(() => {
  here = mkdtempSync(join(tmpdir(), 'assize-auditor-'));
  for (const file of ['d.db', 'd.db.anchors.json']) copyFileSync(join(made, file), at(file));
});
afterEach(() => rmSync(here, { recursive: true }));

function sql(...statements: string[]): void {
  const db = openUnguarded(at('d.db'));
  for (const statement of statements) db.exec(statement);
  db.close();
}

describe('keys', () => {
  test('are made once, for their owner’s eyes, and shown by their public half', async () => {
    const { code, out } = await assize('keys', 'new', 'example.com/ledger');
    expect(code).toBe(0);
    expect(statSync(at('d.db.key')).mode & 0o777).toBe(0o600);
    const shown = readFileSync(at('d.db.vkey'), 'utf8');
    expect(out).toContain(shown.trim());
    expect(shown).toMatch(/^example\.com\/ledger\+[0-9a-f]{8}\+[A-Za-z0-9+/]+=*\n$/);
    expect((await assize('keys', 'show')).out).toBe(shown);
    expect(await json('keys', 'show')).toEqual({
      name: 'example.com/ledger',
      for: 'log',
      public_key: shown.trim(),
    });
    const private_ = readFileSync(at('d.db.key'), 'utf8');
    expect(await assize('keys', 'new', 'example.com/ledger')).toMatchObject({
      code: 2,
      err: expect.stringContaining('never overwritten'),
    });
    expect(readFileSync(at('d.db.key'), 'utf8')).toBe(private_);
  });

  test.each([['a name'], ['a+b'], ['']])('not with the name %o', async (name) => {
    expect(await assize('keys', 'new', name)).toMatchObject({ code: 2, out: '' });
    expect(existsSync(at('d.db.key'))).toBe(false);
  });

  test('a missing or invalid key is reported in one sentence', async () => {
    expect(await assize('checkpoint')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Create one with assize keys new NAME'),
    });
    writeFileSync(at('d.db.key'), 'secret-text');
    const { code, err } = await assize('checkpoint');
    expect(code).toBe(2);
    expect(err).not.toContain('secret-text');
    expect(err.trim().split('\n')).toHaveLength(1);
  });
});

test('a checkpoint without an earlier one says so', async () => {
  await assize('keys', 'new', 'example.com/ledger');
  const first = 'this is the first one there, and cannot show that entries are missing.';
  const made = await assize('checkpoint');
  expect([made.code, made.err]).toEqual([0, '']);
  expect(made.out).toContain(
    `No earlier checkpoint at ./d.db.checkpoint: ${first}\nverified: all 28 entries, in 2 trajectories\n`,
  );
  expect((await assize('checkpoint')).out).toMatch(
    /\nverified: 0 entries since the last checkpoint, in 0 trajectories\n$/,
  );
  // The entries have their positions in the log, and a lost file is not seen by the store.
  const lost = ['checkpoint', '--checkpoint', 'lost.checkpoint'];
  const printed = await assize(...lost, '--no-verify', '--print');
  expect(printed.err).toContain(`No earlier checkpoint at lost.checkpoint: ${first}`);
  expect(printed.err).toContain('signed without verifying all 28 entries');
  const { out } = await assize('checkpoint', '--help');
  expect(out).toMatch(/--witness <url=key> .*\(repeatable\) \(default: none\)/s);
});

describe('with a key and a checkpoint', () => {
  beforeEach(async () => {
    await assize('keys', 'new', 'example.com/ledger');
    expect((await assize('checkpoint')).code).toBe(0);
  });

  test('the checkpoint is a signed note, and printed on demand', async () => {
    const signed = readFileSync(at('d.db.checkpoint'), 'utf8');
    expect(signed).toMatch(
      /^example\.com\/ledger\n\d+\n[A-Za-z0-9+/]{43}=\n\n— example\.com\/ledger [A-Za-z0-9+/=]+\n$/,
    );
    expect((await assize('checkpoint', '--print')).out).toBe(signed);
    const said = await json('checkpoint');
    expect(said).toMatchObject({ origin: 'example.com/ledger', signed, witnesses: [] });
  });

  test('an entry is proven, and the proof verified by its file alone', async () => {
    const { log: entries } = await json('log', 'david-1');
    const { id } = entries[5];
    expect(await assize('bundle', 'proof', id, '--out', 'p.tlog-proof')).toMatchObject({ code: 0 });
    expect((await assize('bundle', 'proof', id)).out).toBe(
      readFileSync(at('p.tlog-proof'), 'utf8'),
    );
    expect(await json('bundle', 'proof', id, '--verify', 'p.tlog-proof')).toMatchObject({
      valid: true,
      index: 5,
    });
    const other = entries[6].id;
    expect(await assize('bundle', 'proof', other, '--verify', 'p.tlog-proof')).toMatchObject({
      code: 1,
      out: expect.stringContaining('The proof is not valid'),
    });
    const db = new DatabaseSync(at('d.db'), { readOnly: true });
    const row = db.prepare(`SELECT payload FROM entry WHERE seq = 5 AND ${DAVID}`).get() as {
      payload: string;
    };
    db.close();
    writeFileSync(at('payload.json'), row.payload);
    const shown = (await assize('show', id, '--json')).out;
    expect(await json('bundle', 'proof', 'david-1@5', '--verify', 'p.tlog-proof')).toMatchObject({
      valid: true,
      index: 5,
    });
    rmSync(at('d.db'));
    const alone = [
      'bundle',
      'proof',
      './payload.json',
      '--verify',
      'p.tlog-proof',
      '--log-key',
      readFileSync(at('d.db.vkey'), 'utf8').trim(),
    ];
    expect(await json(...alone)).toMatchObject({ valid: true, index: 5 });
    const layouts = [
      `${row.payload}\n`,
      ` ${row.payload}`,
      JSON.stringify(JSON.parse(row.payload), null, 2),
      shown,
    ];
    for (const layout of layouts) {
      writeFileSync(at('payload.json'), layout);
      expect(await json(...alone)).toMatchObject({ valid: true, index: 5 });
    }
    writeFileSync(at('payload.json'), row.payload.replace(/"seq":\d+/, '"seq":99'));
    expect(await assize(...alone)).toMatchObject({
      code: 1,
      out: expect.stringContaining('The proof is not valid'),
    });
    for (const other of ['{"a":1}', 'no JSON', row.payload.slice(0, -1), '']) {
      writeFileSync(at('payload.json'), other);
      expect(await assize(...alone)).toMatchObject({
        code: 2,
        err: expect.stringContaining(
          'payload.json is not an entry. Write it with assize show ENTRY --json.',
        ),
      });
    }
  });

  test('a proof takes the place of one that was there as a whole', async () => {
    writeFileSync(at('p.tlog-proof'), 'another');
    // As long as a file is written in its place, both names show a part of it.
    linkSync(at('p.tlog-proof'), at('kept'));
    const { log: entries } = await json('log', 'david-1');
    await assize('bundle', 'proof', entries[5].id, '--out', 'p.tlog-proof');
    expect(await json('bundle', 'proof', entries[5].id, '--verify', 'p.tlog-proof')).toMatchObject({
      valid: true,
    });
    expect(readFileSync(at('kept'), 'utf8')).toBe('another');
  });

  describe('the next checkpoint', () => {
    const grow = async (id: string): Promise<void> =>
      expect(await assize('branch', 'david-1', '5', '--note', 'what if', '--id', id)).toMatchObject(
        { code: 0 },
      );
    const size = (): string => readFileSync(at('d.db.checkpoint'), 'utf8').split('\n')[1]!;

    test('verifies the entries since the last one, and says so', async () => {
      await grow('if');
      const { code, out } = await assize('checkpoint');
      expect({ code, out }).toEqual({
        code: 0,
        out: expect.stringContaining(
          'verified: 1 entry since the last checkpoint, in 1 trajectory\n',
        ),
      });
      expect(await json('checkpoint')).toMatchObject({ verified: { entries: 0, trajectories: 0 } });
      await grow('if-2');
      await grow('if-3');
      expect(await json('checkpoint')).toMatchObject({
        verified: { entries: 2, trajectories: 2 },
        size: 31,
      });
    });

    test('says that it verified nothing, with --no-verify', async () => {
      await grow('if');
      expect((await assize('checkpoint', '--no-verify')).out).toContain(
        'not verified: 1 entry since the last checkpoint\n',
      );
      await grow('if-2');
      expect(await json('checkpoint', '--no-verify')).toMatchObject({ verified: false, size: 30 });
      await grow('if-3');
      const printed = await assize('checkpoint', '--no-verify', '--print');
      expect(printed.out).toBe(readFileSync(at('d.db.checkpoint'), 'utf8'));
      expect(printed.err).toContain('signed without verifying 1 entry since the last checkpoint');
    });

    const BRANCH = "trajectory = (SELECT key FROM trajectory WHERE name = 'if')";
    const CHANGES: Readonly<Record<string, readonly string[]>> = {
      'a payload': [
        `UPDATE entry SET payload = replace(payload, 'what if', 'what is') WHERE ${BRANCH}`,
      ],
      'an id': [`UPDATE entry SET id = zeroblob(32) WHERE ${BRANCH}`],
      'a kind': [`UPDATE entry SET kind = 'commit' WHERE ${BRANCH}`],
    };
    test.each(Object.entries(CHANGES))('signs nothing after a change of %s', async (_, changes) => {
      await grow('if');
      sql(...changes);
      const { code, out, err } = await assize('checkpoint');
      expect({ code, out }).toEqual({ code: 1, out: '' });
      expect(err).toMatch(
        /is not signed, because the entries since the last one do not verify: if seq 0/,
      );
      expect(size()).toBe('28');
      expect(await assize('checkpoint', '--no-verify')).toMatchObject({ code: 0 });
      expect(size()).toBe('29');
    });

    test('signs nothing after a change of an entry that has its position', async () => {
      await grow('if');
      const store = await openStore(`sqlite:${at('d.db')}`);
      await integrateLog(store);
      await store.close();
      sql(`UPDATE log SET leaf = zeroblob(32) WHERE idx = 28`);
      expect(await assize('checkpoint')).toMatchObject({
        code: 1,
        err: expect.stringContaining('if seq 0 was changed after it was logged at position 28'),
      });
      expect(size()).toBe('28');
    });

    test('verifies every entry where there is no earlier checkpoint', async () => {
      rmSync(at('d.db.checkpoint'));
      sql(
        `UPDATE entry SET payload = replace(payload, '"seq":3', '"seq":4') WHERE seq = 3 AND ${DAVID}`,
      );
      const told = await assize('checkpoint', '--json');
      expect(told.code).toBe(1);
      expect(JSON.parse(told.out)).toMatchObject({ error: { code: 'invalid_ledger' } });
      expect(existsSync(at('d.db.checkpoint'))).toBe(false);
    });
  });

  test('under the id of one entry, the payload of another does not prove it', async () => {
    const { log: entries } = await json('log', 'david-1');
    await assize('bundle', 'proof', entries[5].id, '--out', 'p.tlog-proof');
    sql(
      `UPDATE entry SET payload = (SELECT payload FROM entry WHERE seq = 5 AND ${DAVID}) WHERE seq = 3 AND ${DAVID}`,
    );
    expect(
      await assize('bundle', 'proof', entries[3].id, '--verify', 'p.tlog-proof'),
    ).toMatchObject({
      code: 1,
      err: expect.stringContaining('does not hash to the id'),
    });
    expect(await json('bundle', 'proof', entries[5].id, '--verify', 'p.tlog-proof')).toMatchObject({
      valid: true,
      index: 5,
    });
  });

  test('a cut tail stops every command but those that look', async () => {
    sql(
      'DELETE FROM log WHERE idx >= 26',
      'DELETE FROM log_node',
      `DELETE FROM entry WHERE seq >= 5 AND ${PAYMENTS}`,
    );
    for (const command of [['verify'], ['log'], ['state', 'david-1'], ['checkpoint'], ['export']]) {
      expect(await assize(...command)).toMatchObject({
        code: 2,
        out: '',
        err: expect.stringContaining('2 entries are missing, from position 26'),
      });
    }
    expect(await assize('verify', '--database')).toMatchObject({
      code: 1,
      out: expect.stringContaining('the last 2, from position 26, are missing'),
    });
  });

  test('fsck finds a manual change and its position', async () => {
    expect(await assize('verify', '--database')).toMatchObject({ code: 0 });
    sql(
      `UPDATE entry SET payload = replace(payload, '"kind":"commit"', '"kind":"Commit"') WHERE seq = 3 AND ${DAVID}`,
    );
    const { code, out } = await assize('verify', '--database');
    expect(code).toBe(1);
    expect(out).toContain('david-1 seq 3');
    expect(out).toContain('was changed after it was logged at position 3');
    const report = await json('verify', '--database');
    expect(report).toMatchObject({ valid: false, faults: [{ code: 'leaf_differs', index: 3 }] });
  });

  test('an audit of two checkpoints', async () => {
    copyFileSync(at('d.db.checkpoint'), at('old'));
    expect((await assize('branch', 'david-1', '5', '--note', 'what if', '--id', 'if')).code).toBe(
      0,
    );
    expect((await assize('checkpoint')).code).toBe(0);
    const audit = (...files: string[]): Promise<Ended> =>
      assize('verify', ...files.flatMap((file) => ['--checkpoint', file]));
    expect(await audit('old', 'd.db.checkpoint')).toMatchObject({
      code: 0,
      out: expect.stringContaining('grew from 28 to 29'),
    });
    sql('DELETE FROM log WHERE idx = 28', "DELETE FROM entry WHERE kind = 'branch'");
    expect(await audit('old', 'd.db.checkpoint')).toMatchObject({
      code: 1,
      out: expect.stringContaining('missing'),
    });
    expect(await audit('old')).toMatchObject({
      code: 2,
      err: expect.stringContaining('Two checkpoints are compared'),
    });
    writeFileSync(at('old'), readFileSync(at('old'), 'utf8').replace('\n28\n', '\n27\n'));
    expect(await audit('old', 'd.db.checkpoint')).toMatchObject({
      code: 2,
      err: expect.stringContaining('cannot be trusted'),
    });
  });
});

describe('export and import', () => {
  test('another store gives the same bytes, also through a pipe', async () => {
    const { out, code } = await assize('export');
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe('{"format":"assize/export/v1"}');
    writeFileSync(at('e.jsonl'), out);
    expect(await assize('import', 'e.jsonl', '--store', 'sqlite:n.db')).toMatchObject({
      code: 0,
      out: expect.stringContaining('28 of them new'),
    });
    expect((await assize('export', '--store', 'sqlite:n.db')).out).toBe(out);
    expect(await json('import', 'e.jsonl', '--store', 'sqlite:n.db')).toMatchObject({
      entries: 28,
      imported: 0,
      valid: true,
    });
    expect(await assize('export', '--out', 'e.jsonl')).toMatchObject({ code: 2 });
    expect(readFileSync(at('e.jsonl'), 'utf8')).toBe(out);
    expect(await json('export', '--out', 'five.jsonl', '--size', '5')).toEqual({
      entries: 5,
      file: 'five.jsonl',
    });
    expect(readFileSync(at('five.jsonl'), 'utf8').split('\n').at(-2)).toContain('"entries":5');
  });

  test('a wrong line is named, and a fold that is wrong is a finding', async () => {
    const { out } = await assize('export');
    writeFileSync(at('e.jsonl'), out.replace('"channel":"md"', '"channel":"mx"'));
    expect(await assize('import', 'e.jsonl', '--store', 'sqlite:n.db')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/Line \d+ of the export is not valid/),
    });
    expect(await assize('import', 'missing.jsonl', '--store', 'sqlite:n.db')).toMatchObject({
      code: 2,
      err: expect.stringContaining('missing.jsonl'),
    });
  });

  test('export ends quietly if its reader closes the pipe', async () => {
    const child = start('export');
    child.stdout?.once('data', () => child.stdout?.destroy());
    expect(await endOf(child)).toMatchObject({ code: 0, err: '' });
  });
});

test('a witness that cannot store its cosignatures reports it in one sentence', async () => {
  await assize('keys', 'new', 'example.com/ledger');
  await assize('keys', 'new', 'witness.example', '--for', 'witness', '--out', 'w.key');
  writeFileSync(
    at('text'),
    'This is not a database, and long enough to be recognised as such. '.repeat(10),
  );
  for (const state of ['text', '.', 'none/w.db']) {
    const { code, err } = await assize(
      'witness',
      '--key',
      'w.key',
      '--log',
      'd.db.vkey',
      '--state',
      state,
    );
    expect([code, err.trim().split('\n').length, err]).toEqual([
      2,
      1,
      expect.stringContaining('with --state'),
    ]);
  }
});

test('a witness cosigns, remembers over restarts, and refuses a fork', async () => {
  await assize('keys', 'new', 'example.com/ledger');
  await assize('keys', 'new', 'witness.example', '--for', 'witness', '--out', 'w.key');
  let warned = '';
  const serve = async (): Promise<{ child: ChildProcess; url: string }> => {
    warned = '';
    const child = start(
      'witness',
      '--key',
      'w.key',
      '--log',
      'd.db.vkey',
      '--listen',
      '127.0.0.1:0',
      '--state',
      'w.db',
    );
    child.stderr?.on('data', (chunk) => (warned += chunk));
    let said = '';
    for await (const chunk of child.stdout as AsyncIterable<Buffer>) {
      said += chunk;
      const url = /cosigning at (\S+)/.exec(said)?.[1];
      if (url !== undefined) return { child, url };
    }
    throw new Error(`it said only ${said}`);
  };
  const stop = async (child: ChildProcess): Promise<number | null> => {
    child.kill('SIGTERM');
    const [code] = (await once(child, 'close')) as [number | null];
    return code;
  };
  const first = await serve();
  const witness = (url: string): string[] => ['--witness', `${url}=w.vkey`];
  expect(await json('checkpoint', ...witness(first.url))).toMatchObject({
    witnesses: ['witness.example'],
  });
  expect(readFileSync(at('d.db.checkpoint'), 'utf8').match(/^— /gm)).toHaveLength(2);
  expect(await stop(first.child)).toBe(0);
  expect(warned).toContain('w.db has no checkpoint of example.com/ledger');
  const second = await serve();
  // The same key and name, another history.
  rmSync(at('d.db.checkpoint'));
  sql('DELETE FROM log', 'DELETE FROM log_node', `DELETE FROM entry WHERE seq = 20 AND ${DAVID}`);
  expect(await assize('checkpoint', ...witness(second.url))).toMatchObject({
    code: 2,
    err: expect.stringContaining('entries are missing'),
  });
  expect(existsSync(at('d.db.checkpoint'))).toBe(false);
  expect(await stop(second.child)).toBe(0);
  expect(warned).toBe('');
});
