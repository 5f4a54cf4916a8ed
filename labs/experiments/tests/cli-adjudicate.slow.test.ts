/** `assize-experiments adjudicate`: recorded runs, judged again. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';
import { endOf, startCommand } from '../../../tests/support/process/command.ts';

const here = inTillFolder();
const { assize, json, refused, file, till } = here;

describe('adjudicate', () => {
  const call = (name: string, args: unknown) => ({ name, arguments: args });
  const run = (calls: unknown[], more: object = {}) =>
    JSON.stringify({ task_id: 0, trial: 0, reward: 1, model: 'm', calls, messages: [], ...more });
  const gone = call('cancel_reservation', { reservation_id: 'NONE00' });

  function data(): string[] {
    mkdirSync(join(here.folder, 'data'), { recursive: true });
    for (const name of ['users', 'flights', 'reservations']) file(`data/${name}.json`, '{}');
    return [
      'assize-experiments',
      'adjudicate',
      'airline',
      '--data',
      'data',
      '--store',
      'sqlite:./a.db',
    ];
  }

  test('unknown tools and wrong arguments in a run are recorded as rejections', async () => {
    const calls = [
      call('get_user_details', { user_id: 'x' }),
      call('steal', {}),
      call('cancel_reservation', {}),
      gone,
    ];
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
      {
        index: 1,
        name: 'steal',
        ruling: 'rejected',
        reason: 'unknown_tool',
        message: expect.any(String),
      },
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
    expect(branched).toMatchObject({
      trajectory_id: report.results[0].trajectory_id,
      source: base.trajectory_id,
    });
    const { log } = await json(0, 'log', branched.trajectory_id, ...store);
    const { payload } = await json(0, 'show', log[1].id, ...store);
    const seen = {
      name: 'get_user_details',
      value: { arguments: { user_id: 'x' }, output: 'Error: user not found' },
    };
    expect(payload.intent.observations).toEqual([seen]);
    expect((await json(0, 'show', log[2].id, ...store)).payload.intent.observations).toEqual([]);
  });

  test('the same database is one base, however often it is adjudicated', async () => {
    const args = [...data(), '--runs', file('runs.jsonl', `${run([gone])}\n${run([gone])}`)];
    expect((await assize(...args)).code).toBe(0);
    expect(await json(0, ...args)).toMatchObject({ runs: 2, entries: 9, verified: true });
    expect(await json(0, ...args, '--no-invariants')).toMatchObject({
      entries: 14,
      verified: true,
    });
    expect(JSON.parse(readFileSync(join(here.folder, 'a.db.anchors.json'), 'utf8'))).toHaveLength(
      3,
    );
    const store = ['--store', 'sqlite:./a.db'];
    expect((await assize('pending', ...store)).out).toContain('No decision is pending');
    const bases = (await json(0, 'log', ...store)).trajectories.filter(
      ({ source }: { source: string }) => !source,
    );
    expect(bases).toHaveLength(2);
    for (const { trajectory_id } of bases) {
      expect((await assize('branch', trajectory_id, '0', '--note', 'look', ...store)).code).toBe(0);
    }
  });

  test('records that are not as expected are a negative finding', async () => {
    const args = [...data(), '--runs', file('runs.jsonl', run([gone]))];
    const expected = (changed: object) =>
      file('expected.jsonl', JSON.stringify({ task_id: 0, trial: 0, changed }));
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
    const child = startCommand(
      here.folder,
      undefined,
      ...data(),
      '--runs',
      file('runs.jsonl', lines),
    );
    const over = endOf(child);
    while (child.exitCode === null && !existsSync(join(here.folder, 'a.db.anchors.json'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    await new Promise((resolve) => setTimeout(resolve, 300));
    child.kill('SIGINT');
    expect(await over).toMatchObject({
      code: 130,
      out: '',
      err: expect.stringMatching(/^assize: Stopped by SIGINT; committed entries stay\.$/m),
    });
    expect(readdirSync(here.folder).filter((name) => name.endsWith('-wal'))).toEqual([]);
    expect((await json(0, 'verify', '--store', 'sqlite:./a.db')).valid).toBe(true);
  });

  describe('bad input is refused before the store is there', () => {
    const good = run([gone]);
    const nobodyIsRoot = process.getuid?.() !== 0;

    /** The error, the arguments that cause it (made from those of a valid job), and the message. */
    const table: [string, (args: string[]) => string[], RegExp][] = [
      ['no runs', (args) => args, /Pass --runs FILE/],
      [
        'runs and tasks',
        (args) => [...args, '--runs', file('r', good), '--tasks', 'r'],
        /cannot be used with/,
      ],
      [
        'a missing file',
        (args) => [...args, '--runs', 'none.jsonl'],
        /none\.jsonl cannot be read: the file does not exist/,
      ],
      ['a folder', (args) => [...args, '--runs', 'data'], /data cannot be read: it is a folder/],
      ['an empty file', (args) => [...args, '--runs', file('r', '')], /has no runs/],
      [
        'a line that is not JSON',
        (args) => [...args, '--runs', file('r', `${good}\n{"task_id":\n`)],
        /r, line 2 is not JSON/,
      ],
      [
        'an empty line',
        (args) => [...args, '--runs', file('r', `${good}\n\n${good}`)],
        /r, line 2 is not JSON/,
      ],
      ['a name twice', (args) => [...args, '--runs', file('r', '{"a":1,"a":2}')], /line 1 .*twice/],
      [
        'bytes that are not text',
        (args) => [...args, '--runs', file('r', new Uint8Array([0x22, 0xff, 0x22]))],
        /line 1 .*UTF-8/,
      ],
      [
        'a number that is not exact',
        (args) => [...args, '--runs', file('r', run([], { task_id: 2 ** 53 }))],
        /line 1 .*2\^53/,
      ],
      [
        'a task_id that is not a number',
        (args) => [...args, '--runs', file('r', `${good}\n${run([], { task_id: '7' })}`)],
        /r, line 2, \/task_id: .*expected number/,
      ],
      [
        'a call without a name',
        (args) => [...args, '--runs', file('r', run([{ arguments: {} }]))],
        /line 1, \/calls\/0\/name: /,
      ],
      [
        'arguments that are not an object',
        (args) => [...args, '--runs', file('r', run([call('steal', 'all')]))],
        /line 1, \/calls\/0\/arguments: .*expected object/,
      ],
      [
        'an answer to no call',
        (args) => [
          ...args,
          '--runs',
          file('r', run([], { messages: [{ role: 'tool', content: '', call: 0 }] })),
        ],
        /line 1, \/messages\/0\/call: there is no call 0/,
      ],
      [
        'an unknown domain',
        (args) => [...args.with(2, 'airlines'), '--runs', file('r', good)],
        /The domain airlines does not exist\. Choose one of airline, retail, disclosure/,
      ],
      [
        'a domain without runs',
        (args) => [...args.with(2, 'budget'), '--runs', file('r', good)],
        /The domain budget has no recorded runs/,
      ],
      [
        'a word on what escalates where nothing does',
        (args) => [
          ...args,
          '--runs',
          file('r', good),
          '--no-invariants',
          '--escalations',
          'reject',
        ],
        /adjudicate airline --no-invariants does not accept --escalations. Its options are .*--no-invariants\./,
      ],
      [
        'a word on what escalates where nobody is asked',
        (args) => [
          ...args.with(2, 'retail'),
          '--runs',
          file('r', good),
          '--escalations',
          'approve',
        ],
        /adjudicate retail does not accept --escalations\. Its options are --data, --limit, --runs, --tasks, --expected/,
      ],
      [
        'an unknown way',
        (args) => [...args, '--runs', file('r', good), '--escalations', 'ask'],
        /Allowed choices are reject, approve/,
      ],
      [
        'an unknown store',
        (args) => [...args, '--runs', file('r', good), '--store', 'mysql://me:secret@host/db'],
        /The URL does not name a store \('mysql:'\)/,
      ],
      [
        'a folder that is not there',
        (args) => [...args, '--runs', file('r', good), '--store', 'sqlite:./no/a.db'],
        /folder .*no does not exist/,
      ],
      [
        'a missing table',
        (args) => {
          rmSync(join(here.folder, 'data/flights.json'));
          return [...args, '--runs', file('r', good)];
        },
        /flights\.json cannot be read/,
      ],
      [
        'a table that is not JSON',
        (args) => [
          ...args,
          '--runs',
          file('r', good),
          '--data',
          dirname(file('data/users.json', '{"a":\n}')),
        ],
        /users\.json is not JSON at line 2/,
      ],
      [
        'a record of wrong types',
        (args) => [
          ...args,
          '--runs',
          file('r', good),
          '--data',
          dirname(file('data/users.json', '{"ann":{"dob":7}}')),
        ],
        /users\.json, \/ann\//,
      ],
      [
        'malformed anchors',
        (args) => {
          file('b.db.anchors.json', '{}');
          return [...args, '--runs', file('r', good), '--store', 'sqlite:./b.db'];
        },
        /b\.db\.anchors\.json must be a JSON list/,
      ],
      [
        'expectations for other runs',
        (args) => [
          ...args,
          '--runs',
          file('r', good),
          '--expected',
          file('e', '{"task_id":1,"trial":0,"changed":{}}'),
        ],
        /e has no expected records of task 0, trial 0/,
      ],
      [
        'expectations of wrong types',
        (args) => [
          ...args,
          '--runs',
          file('r', good),
          '--expected',
          file('e', '{"task_id":0,"trial":0,"changed":[]}'),
        ],
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
      expect(
        readdirSync(here.folder).filter(
          (name) => /\.db/.test(name) && name !== 'b.db.anchors.json',
        ),
      ).toEqual([]);
    });

    test.runIf(nobodyIsRoot)('a file that may not be read', async () => {
      const args = [...data(), '--runs', file('r', good)];
      chmodSync(join(here.folder, 'r'), 0o000);
      await refused(args, /may not be read/);
    });

    test('a read-only folder', async () => {
      const args = [...data(), '--runs', file('r', good)];
      // Nothing is read-only for root, except what the kernel shows as files.
      if (nobodyIsRoot) chmodSync(here.folder, 0o555);
      const store = nobodyIsRoot ? [] : ['--store', 'sqlite:/proc/a.db'];
      await refused([...args, ...store], /cannot be written/);
      expect(readdirSync(here.folder).sort()).toEqual(['data', 'r']);
    });

    test.each([
      ['is not a database', (path: string) => writeFileSync(path, 'a letter')],
      ['is empty', (path: string) => writeFileSync(path, '')],
      ['is another program’s', (path: string) => new DatabaseSync(path).exec('CREATE TABLE t (a)')],
    ])('a store file that %s is left as it is', async (_, make) => {
      const args = [...data(), '--runs', file('r', good)];
      make(join(here.folder, 'a.db'));
      const before = readFileSync(join(here.folder, 'a.db'));
      await refused(args, /is not an Assize store|is an empty file/);
      await refused(['log', '--store', 'sqlite:./a.db'], /is not an Assize store|is an empty file/);
      expect(readFileSync(join(here.folder, 'a.db'))).toEqual(before);
      expect(readdirSync(here.folder).sort()).toEqual(['a.db', 'data', 'r']);
    });

    test('a store of a newer version is left as it is', async () => {
      const store = till();
      const db = new DatabaseSync(join(here.folder, 'till.db'));
      db.exec('PRAGMA user_version = 999');
      db.close();
      const args = [...data(), '--runs', file('r', good), ...store];
      for (const command of [
        args,
        ['log', ...store],
        ['verify', ...store],
        ['pending', ...store],
      ]) {
        await refused(
          command,
          /has schema 999, and this version of Assize supports schemas up to \d+/,
        );
      }
    });
  });
});
