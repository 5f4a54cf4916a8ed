/** The commands backup, restore and store retire. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { verifyStore } from 'assize/internal/runtime';
import { openStore } from 'assize/internal/stores';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cases } from '../../../tests/support/cases.ts';
import { HandClock, runtimeOver, writFor } from '../../../tests/support/ledger/runtime.ts';
import { openUnguarded } from '../../../tests/support/ledger/unguarded.ts';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import {
  type Ended,
  endOf,
  runCommand,
  startCommand,
} from '../../../tests/support/process/command.ts';
import { OutsideSink, Steps, tally, toolFor } from '../../../tests/support/tools/effect-sink.ts';

const STORE = 'sqlite:./d.db';
const writ = writFor('alice');
let here: string;
let writers: ChildProcess[] = [];

const assize = (...args: string[]): Promise<Ended> => runCommand(here, STORE, ...args);
const at = (name: string): string => join(here, name);
const json = async (...args: string[]): Promise<any> =>
  JSON.parse((await assize(...args, '--json')).out);

beforeEach(async () => {
  here = mkdtempSync(join(tmpdir(), 'assize-backups-'));
  expect(await assize('demo', '--store', STORE)).toMatchObject({ code: 0 });
});
afterEach(async () => {
  for (const writer of writers) writer.kill('SIGKILL');
  writers = [];
  rmSync(here, { recursive: true });
});

async function startWriter(trajectoryId: string): Promise<ChildProcess> {
  const url = `sqlite:${at('d.db')}`;
  const writer = fork(
    join(import.meta.dirname, '../../../tests/e2e/appending.ts'),
    [url, trajectoryId],
    {
      silent: true,
    },
  );
  writers.push(writer);
  await once(writer, 'message');
  return writer;
}

async function entriesIn(name: string): Promise<number> {
  const store = await openStore(`sqlite:${at(name)}`, { mode: 'readonly' });
  try {
    expect((await verifyStore(store)).every(({ valid }) => valid)).toBe(true);
    return (await store.trajectories()).reduce((sum, { entries }) => sum + entries, 0);
  } finally {
    await store.close();
  }
}

describe('backup', () => {
  test('a copy that is taken while two processes append verifies', async () => {
    const running = [await startWriter('one'), await startWriter('two')];
    const sizes: number[] = [];
    for (const name of ['1.db', '2.db', '3.db']) {
      const { entries } = await json('backup', name);
      expect(await entriesIn(name)).toBe(entries);
      sizes.push(entries);
    }
    for (const writer of running) writer.send('end');
    await Promise.all(running.map((writer) => once(writer, 'exit')));
    expect(sizes[0]).toBeGreaterThan(28);
    expect(sizes.toSorted((a, b) => a - b)).toEqual(sizes);
    expect(new Set(sizes).size).toBe(3);
    expect(await entriesIn('d.db')).toBeGreaterThan(sizes[2]!);
    expect(await assize('restore', '3.db', '--store', 'sqlite:./r.db')).toMatchObject({ code: 0 });
    expect(await entriesIn('r.db')).toBe(sizes[2]);
  });

  test('the copy is one file, with the rights of the store', async () => {
    const { code, out } = await assize('backup', 'b.db');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^b\.db: 28 entries, [\d,]+ bytes\n$/),
    });
    expect(statSync(at('b.db')).mode).toBe(statSync(at('d.db')).mode);
    await entriesIn('b.db');
    expect(readdirSync(here).filter((name) => name.startsWith('b.'))).toEqual(['b.db']);
  });

  test.each([
    [['backup', 'd.db'], /d\.db already exists\. Name another file/],
    [['backup', 'none/b.db'], /folder .* does not exist/],
    [['backup', 'b.db', '--store', 'sqlite:./none.db'], /none\.db does not exist/],
    [
      ['backup', 'b.db', '--store', 'postgres://127.0.0.1:1/app'],
      /pg_dump .*docs\/guide\/backups\.md/,
    ],
    [['backup', 'b.db', '--store', 'memory:'], /SQLite stores only/],
    [
      ['restore', 'd.db', '--store', 'postgres://127.0.0.1:1/app'],
      /pg_restore .*docs\/guide\/backups\.md/,
    ],
    [
      ['restore', 'none.db', '--store', 'sqlite:./r.db'],
      /The backup none\.db does not exist\. Check the path/,
    ],
    [
      ['restore', 'd.db'],
      /d\.db already exists, .* Name a free path with --store, or move the file away/,
    ],
  ])('%j is refused in one sentence', async (args, saying) => {
    const { code, out, err } = await assize(...args);
    expect({ code, out, err }).toEqual({ code: 2, out: '', err: expect.stringMatching(saying) });
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(at('b.db'))).toBe(false);
  });

  test.each(['backup', 'restore'])(
    'a kill in the middle of a %s leaves no partial file',
    async (command) => {
      const grow = await startWriter('big');
      await sleep(500);
      grow.send('end');
      await once(grow, 'exit');
      expect(await assize('backup', 'whole.db')).toMatchObject({ code: 0 });
      const rounds = cases(30);
      let killed = 0;
      for (let round = 0; round < rounds; round += 1) {
        const name = `${round}.db`;
        const line =
          command === 'backup'
            ? ['backup', name]
            : ['restore', 'whole.db', '--store', `sqlite:./${name}`];
        const child = startCommand(here, STORE, ...line);
        // From the first file of the command on.
        const deadline = performance.now() + 5_000;
        const hasBegun = (): boolean =>
          readdirSync(here).some((file) => file.startsWith(`${name}.new-`));
        while (!hasBegun() && !existsSync(at(name)) && performance.now() < deadline) await sleep(1);
        await sleep(round % 12);
        child.kill('SIGKILL');
        await endOf(child);
        if (existsSync(at(name))) expect(await entriesIn(name)).toBe(await entriesIn('whole.db'));
        else killed += 1;
      }
      expect(killed).toBeGreaterThan(0);
    },
  );
});

describe('restore', () => {
  beforeEach(async () => {
    await assize('keys', 'new', 'example.com/d');
    expect(await assize('checkpoint')).toMatchObject({ code: 0 });
    expect(await assize('backup', 'b.db')).toMatchObject({ code: 0 });
  });
  const known = (): string[] => ['--checkpoint', 'd.db.checkpoint', '--log-key', 'd.db.vkey'];

  test('verifies the backup, also against a checkpoint, and names the next step', async () => {
    const { code, out } = await assize('restore', 'b.db', '--store', 'sqlite:./r.db', ...known());
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringContaining('Compared with the checkpoint.'),
    });
    expect(out).toContain('assize restore retire');
    expect(await entriesIn('r.db')).toBe(28);
    const said = await json('restore', 'b.db', '--store', 'sqlite:./s.db');
    expect(said).toMatchObject({
      restored: true,
      checkpoint: 'none',
      open_effects: [],
      valid: true,
      entries: 28,
    });
    // The restored store accepts writes.
    copyFileSync(at('d.db.anchors.json'), at('r.db.anchors.json'));
    const branched = await assize(
      'branch',
      'david-1',
      '5',
      '--note',
      'x',
      '--store',
      'sqlite:./r.db',
    );
    expect(branched).toMatchObject({ code: 0 });
  });

  test('a backup with archived entries says what it needs', async () => {
    expect(await assize('archive', '--segment-level', '2', '--keep', '4')).toMatchObject({
      code: 0,
    });
    expect(await assize('backup', 'a.db')).toMatchObject({ code: 0 });
    const without = await assize('restore', 'a.db', '--store', 'sqlite:./r.db', ...known());
    expect(without).toMatchObject({
      code: 2,
      err: expect.stringMatching(
        /Nothing is restored: .* Copy the archive to .*r\.db\.archive, or name .* --archive/,
      ),
    });
    expect(existsSync(at('r.db'))).toBe(false);
    cpSync(at('d.db.archive'), at('r.db.archive'), { recursive: true });
    expect(await assize('restore', 'a.db', '--store', 'sqlite:./r.db', ...known())).toMatchObject({
      code: 0,
    });
    expect(await entriesIn('r.db')).toBe(28);
  });

  const CHANGES: Readonly<Record<string, string>> = {
    'a changed entry': `UPDATE entry SET payload = replace(payload, '"seq":3', '"seq":4') WHERE seq = 3`,
    'a missing entry': 'DELETE FROM entry WHERE seq = 20',
    'a changed position': 'UPDATE log SET leaf = zeroblob(32) WHERE idx = 4',
    'a changed fact table': 'DELETE FROM fact_rebuild',
  };
  test.each(Object.entries(CHANGES))(
    'restores nothing from a backup with %s',
    async (_, change) => {
      const db = openUnguarded(at('b.db'));
      db.exec(change);
      db.close();
      const { code, out } = await assize('restore', 'b.db', '--store', 'sqlite:./r.db');
      expect({ code, out }).toEqual({
        code: 1,
        out: expect.stringContaining('Nothing is restored'),
      });
      expect(await json('restore', 'b.db', '--store', 'sqlite:./r.db')).toMatchObject({
        restored: false,
        valid: false,
      });
      expect(readdirSync(here).filter((name) => name.startsWith('r.'))).toEqual([]);
    },
  );

  test('restores nothing from a backup that is behind the checkpoint', async () => {
    await assize('branch', 'david-1', '5', '--note', 'later');
    expect(await assize('checkpoint')).toMatchObject({ code: 0 });
    const { code, out } = await assize('restore', 'b.db', '--store', 'sqlite:./r.db', ...known());
    expect({ code, out }).toEqual({ code: 1, out: expect.stringContaining('are missing') });
    expect(out).toContain('The backup is older than the checkpoint. Restore a newer one.');
    expect(existsSync(at('r.db'))).toBe(false);
    // Also by default, where the checkpoint is next to the path of the store.
    for (const ending of ['', '-wal', '-shm']) rmSync(at(`d.db${ending}`), { force: true });
    expect(await assize('restore', 'b.db')).toMatchObject({ code: 1 });
    rmSync(at('d.db.checkpoint'));
    expect(await assize('restore', 'b.db')).toMatchObject({ code: 0 });
  });

  test('refuses a path with the WAL of another store', async () => {
    writeFileSync(at('r.db-wal'), 'entries');
    const { code, err } = await assize('restore', 'b.db', '--store', 'sqlite:./r.db');
    expect({ code, err }).toEqual({
      code: 2,
      err: expect.stringContaining('may hold its last entries'),
    });
  });

  test('lists tool transactions that were open at the time of the backup', async () => {
    openEffect('b.db');
    const said = await json('restore', 'b.db', '--store', 'sqlite:./r.db');
    expect(said.open_effects).toEqual([100]);
  });
});

/** A transaction that its process began and did not end. */
function openEffect(name: string): void {
  const db = openUnguarded(at(name));
  db.exec(`INSERT INTO effect_transaction (epoch, trajectory, body) VALUES (100, 'david-1', '{}');
    INSERT INTO effect_open (epoch) VALUES (100)`);
  db.close();
}

async function retiredStoreCallsNothing(url: string): Promise<void> {
  const outside = {
    sink: new OutsideSink('blind'),
    steps: new Steps(),
    fault: () => 'none' as const,
  };
  const tools = [toolFor(outside, 'irreversible', 'buffered')];
  const store = await openStore(url);
  const assize = runtimeOver(store, [tally], { tools, ports: { clock: new HandClock() } });
  const trajectory = await assize.create(tally, { trajectoryId: 't' });
  const pay = (name: string) =>
    trajectory.transaction({ writ, writes: ['test:x'], name, retries: 0 }, async (tx) => {
      await tx.call('irreversible.buffered', { what: name, at: 'x' });
      tx.propose({ action: 'count', role: 'counter', args: 'x' });
    });
  await pay('before');
  const calls = outside.sink.log.length;
  expect(calls).toBe(1);
  // The engine of this process still has its lease.
  const retired = await runCommand(here, url, 'restore', 'retire', '--reason', 'moved', '--json');
  expect(retired).toMatchObject({ code: 0, err: '' });
  await expect(pay('after')).rejects.toMatchObject({ code: 'store_retired' });
  const count = { action: 'count', role: 'counter', args: 'x', writ };
  await expect(trajectory.propose(count)).rejects.toMatchObject({ code: 'store_retired' });
  expect(outside.sink.log.length).toBe(calls);
  await assize.close();
  await store.close();
  for (const mode of ['existing', 'create'] as const)
    await expect(openStore(url, { mode })).rejects.toMatchObject({
      code: 'store_retired',
      evidence: { reason: 'moved' },
    });
  for (const command of [
    ['log'],
    ['verify'],
    ['verify', '--database'],
    ['export'],
    ['effects', 'list'],
  ])
    expect(await runCommand(here, url, ...command), command.join(' ')).toMatchObject({
      code: 0,
      err: '',
    });
  const again = await runCommand(here, url, 'restore', 'retire', '--reason', 'again', '--json');
  expect(JSON.parse(again.out)).toMatchObject({ error: { code: 'store_retired' } });
}

describe('store retire', () => {
  test('a runtime on a retired SQLite store writes nothing and calls no tool', () =>
    retiredStoreCallsNothing(`sqlite:${at('tools.db')}`));

  withPostgres('PostgreSQL', (postgres) => {
    test('a runtime on a retired PostgreSQL store writes nothing and calls no tool', () =>
      retiredStoreCallsNothing(postgres.url()));
  });

  test('the reason is kept, and a copy of a retired store is retired', async () => {
    const { code, out } = await assize('restore', 'retire', '--reason', 'moved to r.db');
    expect({ code, out }).toEqual({
      code: 0,
      out: expect.stringMatching(/^Retired on \S+, with 28 entries\./),
    });
    const branch = ['branch', 'david-1', '5', '--note', 'x'];
    expect(await assize(...branch)).toMatchObject({
      code: 2,
      err: expect.stringContaining('(moved to r.db)'),
    });
    expect(await assize('backup', 'b.db')).toMatchObject({ code: 0 });
    expect(await assize('restore', 'b.db', '--store', 'sqlite:./r.db')).toMatchObject({ code: 0 });
    expect(await assize(...branch, '--store', 'sqlite:./r.db')).toMatchObject({ code: 2 });
    // An export has every entry, and its import begins a store that is in use.
    expect(await assize('export', '--out', 'd.jsonl')).toMatchObject({ code: 0 });
    expect(await assize('import', 'd.jsonl', '--store', 'sqlite:./new.db')).toMatchObject({
      code: 0,
    });
    copyFileSync(at('d.db.anchors.json'), at('new.db.anchors.json'));
    expect(await assize(...branch, '--store', 'sqlite:./new.db')).toMatchObject({ code: 0 });
  });

  test('a store with open tool transactions needs a confirmation', async () => {
    openEffect('d.db');
    const retire = ['restore', 'retire', '--reason', 'moved'];
    expect(await assize(...retire)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/1 open tool transaction, .*assize effects recover/),
    });
    expect(await json(...retire)).toMatchObject({ error: { code: 'needs_confirmation' } });
    expect(await json(...retire, '--force')).toMatchObject({
      reason: 'moved',
      open_effects: [100],
    });
  });

  test('a process that appends without a pause stops', async () => {
    const writer = await startWriter('busy');
    expect(await assize('restore', 'retire', '--reason', 'moved')).toMatchObject({ code: 0 });
    const [code] = (await once(writer, 'exit')) as [number];
    expect(code).not.toBe(0);
    const entries = await entriesIn('d.db');
    await sleep(100);
    expect(await entriesIn('d.db')).toBe(entries);
  });

  test.each([
    [['restore', 'retire'], /--reason/],
    [['restore', 'retire', '--reason', 'x', '--store', 'memory:'], /in memory/],
    [['restore', 'retire', '--reason', 'x', '--store', 'sqlite:./none.db'], /does not exist/],
  ])('%j is refused', async (args, saying) => {
    expect(await assize(...args)).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(saying),
    });
  });
});

test('store adopt takes over a copy once, and lists trajectories without tools', async () => {
  const [{ trajectory_id: name }] = (await json('log')).trajectories;
  await assize('export', '--out', 'all.jsonl');
  expect(await assize('import', 'all.jsonl', '--store', 'sqlite:./e.db')).toMatchObject({
    code: 0,
  });
  const adopt = (store: string, ...names: string[]): Promise<Ended> =>
    assize('restore', 'adopt', ...names, '--reason', 'moved', '--store', `sqlite:./${store}`);
  const IN_PLACE = 'This store is in its place. It needs no adoption.\n';
  const idle = `The imported trajectory ${name} still calls none: assize restore adopt ${name}\n`;
  expect(await adopt('e.db')).toMatchObject({ code: 0, out: expect.stringContaining(IN_PLACE) });
  expect((await adopt('e.db')).out).toContain(idle);
  expect(await json('backup', 'copy.db', '--store', 'sqlite:./e.db')).toMatchObject({
    entries: expect.any(Number),
  });
  const copied = await adopt('copy.db');
  expect(copied.out).toContain('Adopted: this store calls tools from now on.\n');
  expect(copied.out).toContain(idle);
  expect((await adopt('copy.db')).out).toContain(IN_PLACE);
  expect(await adopt('copy.db', name)).toMatchObject({ code: 0 });
  expect((await adopt('copy.db')).out).not.toContain(idle);
  expect(await adopt('d.db')).toMatchObject({ code: 0, out: IN_PLACE });
});
