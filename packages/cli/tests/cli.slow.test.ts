/** The command itself, in a folder of its own. */
import { spawn } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';
import {
  EXPERIMENTS_COMMAND,
  endOf,
  runCommand,
  runProcess,
  startCommand,
} from '../../../tests/support/process/command.ts';

const root = join(import.meta.dirname, '../../..');

const COMMANDS = [
  'create',
  'propose',
  'demo',
  'domains',
  'log',
  'show',
  'state',
  'verify',
  'lab backtest',
  'lab simulate',
  'lab mine',
  'branch',
  'diff',
  'pending',
  'approve',
  'reject',
  'effects calls',
  'effects calls settle',
  'standing',
  'standing grant',
  'standing end',
  'memory assert',
  'memory change',
  'memory correct',
  'memory retract',
  'memory recall',
  'memory history',
  'memory diff',
  'memory explain',
  'memory spaces',
  'memory import',
  'memory extract',
  'memory rebuild',
  'memory erase',
  'effects list',
  'effects recover',
  'effects resolve',
  'blast',
  'blast dependents',
  'blast undo',
  'erase',
  'halt',
  'run',
  'run list',
  'run work',
  'upgrade',
  'writ key',
  'writ issue',
  'writ attenuate',
  'writ show',
  'writ revoke',
  'writ verify',
  'policy check',
  'keys new',
  'keys show',
  'keys seal',
  'checkpoint',
  'bundle',
  'bundle proof',
  'backup',
  'restore',
  'restore retire',
  'witness',
  'export',
  'import',
  'doctor',
  'completion',
  'conformance',
];

/** Those that open none. */
const EXPERIMENTS = ['adjudicate', 'compare', 'effects', 'memory'].map(
  (command) => `${EXPERIMENTS_COMMAND} ${command}`,
);
const STORELESS = ['policy check', 'completion', 'conformance', ...EXPERIMENTS.slice(1)];

const here = inTillFolder();
const { assize, json, refused, file, till, entries } = here;

describe('the command line', () => {
  test('every command explains itself, in lines of 80 columns', async () => {
    const all = [...COMMANDS, ...EXPERIMENTS];
    const helps = await Promise.all(all.map((command) => assize(...command.split(' '), '--help')));
    for (const [i, { code, out, err }] of helps.entries()) {
      expect({ code, err }).toEqual({ code: 0, err: '' });
      const store = STORELESS.includes(all[i]!) ? [] : ['--store'];
      for (const part of ['--json', ...store, '-h, --help', 'Exit codes:'])
        expect(out).toContain(part);
      expect(out).not.toContain(String(Number.MAX_SAFE_INTEGER));
      // A number has one name.
      expect(out).not.toMatch(/<(number|count|num)>/);
      expect(
        out.split('\n').filter((line) => line.length > 80),
        all[i],
      ).toEqual([]);
    }
    expect(await assize('writ', 'key', '-h')).toEqual(helps[all.indexOf('writ key')]);
  });

  test('help says which options are required', async () => {
    const { out } = await assize('memory', 'retract', '--help');
    const required = [
      ...out.matchAll(/^ {2}(--[a-z]+) (?:(?!\n {2}-)[\s\S])*?\(required\)$/gm),
    ].map(([, name]) => name);
    expect(required).toEqual(['--subject', '--predicate', '--from', '--to', '--space']);
  });

  test('the help of adjudicate shows how runs and how advisories are brought', async () => {
    const { out } = await assize(EXPERIMENTS_COMMAND, 'adjudicate', '--help');
    expect(out).toMatch(/^ {2}assize-experiments adjudicate airline --data .* --runs /m);
    expect(out).toMatch(/^ {2}assize-experiments adjudicate disclosure --data /m);
  });

  test('lists every command, and its version', async () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    for (const [program, commands] of [
      [[], COMMANDS],
      [[EXPERIMENTS_COMMAND], EXPERIMENTS.map((command) => command.split(' ')[1]!)],
    ] as const) {
      const help = await assize(...program, '--help', '--all');
      expect(help.code).toBe(0);
      for (const command of commands)
        expect(help.out).toMatch(new RegExp(`^  ${command.split(' ')[0]} `, 'm'));
      for (const line of help.out.split('\n')) expect(line.length).toBeLessThanOrEqual(80);
      expect(await assize(...program, '--version')).toEqual({
        code: 0,
        out: `${version}\n`,
        err: '',
      });
    }
  });

  test('the help has six groups of at most eight commands, and names the others', async () => {
    const { out } = await assize('help');
    const groups = out
      .split('\n\n')
      .filter((part) => /^(?:Start|Decide|Look|Prove|Change rules|Operate):\n/.test(part))
      .map((part) => part.match(/^ {2}[a-z]/gm)?.length ?? 0);
    expect(groups).toHaveLength(6);
    expect(Math.max(...groups)).toBeLessThanOrEqual(8);
    const [, more] = /^(\d+) more commands: assize help --all\.$/m.exec(out) ?? [];
    const all = await assize('help', '--all');
    const [, others = ''] = all.out.split('More:\n');
    expect(others.match(/^ {2}[a-z]/gm)).toHaveLength(Number(more) + 1); // `help` has its own group.
  });

  test.each([
    [['help'], ['--help']],
    [
      ['help', 'log'],
      ['log', '--help'],
    ],
    [
      ['help', 'effects', 'list'],
      ['effects', 'list', '--help'],
    ],
    [
      ['help', 'effects'],
      ['effects', '--help'],
    ],
    [
      ['effects', 'help', 'list'],
      ['effects', 'list', '--help'],
    ],
    [
      ['help', 'log', '--json'],
      ['log', '--help'],
    ],
    [
      ['help', 'log', 'david-1'],
      ['log', '--help'],
    ],
  ])('%j shows the help of the command', async (words, option) => {
    const shown = await assize(...words);
    expect(shown).toEqual(await assize(...option));
    expect(shown.code).toBe(0);
  });

  test.each([
    [['help', 'lgo'], /unknown command 'lgo' \(Did you mean log\?\)/],
    [['lgo', '--help'], /unknown command 'lgo'/],
    [['help', 'effects', 'lst'], /unknown command 'lst'/],
    [['effects', 'lst', '--help'], /unknown command 'lst'/],
  ])('%j is refused and shows no help of another command', async (words, saying) => {
    const { code, out, err } = await assize(...words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(saying);
  });

  test('common options are accepted before the command too', async () => {
    till();
    const store = 'sqlite:./till.db';
    const after = await assize('effects', 'list', '--json', '--store', store);
    expect(after.code).toBe(0);
    expect(await assize('--json', '--store', store, 'effects', 'list')).toEqual(after);
    expect(await assize(`--store=${store}`, '--json', 'effects', 'list')).toEqual(after);
    expect(await assize('--json', 'effects', 'list', '--store', store)).toEqual(after);
  });

  test.each([
    [['--store'], /--store has no value/],
    [['--json'], /names no command/],
    [['--store', 'memory:'], /names no command/],
    [['--jsn', 'log'], /unknown option '--jsn'/],
    [['--tools', 'x.ts', 'log'], /unknown option '--tools'/],
  ])('%j before a command is refused', async (args, saying) => {
    const { code, err } = await assize(...args);
    expect(code).toBe(2);
    expect(err).toMatch(saying);
  });

  test('nothing at all shows the help, as misuse', async () => {
    const { code, out, err } = await assize();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: assize');
  });

  test.each([
    [['adjudge'], /unknown command 'adjudge'/],
    [['log', '--jsn'], /unknown option '--jsn'/],
    [['log', '--limit', '0'], /whole number from 1/],
    [['log', '--from', '-1'], /whole number from 0/],
    [['show'], /missing required argument/],
    [['show', 'a', 'b'], /too many arguments/],
    [['branch', 'a', '0'], /--note/],
    [['reject', 'deadbeef', '--as', 'boss:ann'], /--reason/],
  ])('%j is refused', (args, saying) => refused(args, saying));

  test('a new process prints the same as a process that ran others before', async () => {
    const store = till();
    const lines = [
      ['log', 'till-1'],
      ['show', 'till-1@4'],
      ['state', 'till-1', '--at', '9'],
      ['pending', '--json'],
      ['logs'],
    ];
    for (const line of lines) {
      await assize(...line, ...store);
      expect(await assize(...line, ...store)).toEqual(
        await runProcess(here.folder, undefined, ...line, ...store),
      );
    }
  });

  test('the store can be named by the environment', async () => {
    till();
    const named = await runProcess(here.folder, 'sqlite:./till.db', 'log', '--json');
    expect(JSON.parse(named.out).total).toBe(1);
  });

  test('a reader that goes away ends it quietly', async () => {
    const child = startCommand(here.folder, undefined, 'domains', 'airline');
    child.stdout?.destroy();
    expect(await endOf(child)).toMatchObject({ code: 0, err: '' });
  });

  test('the bin of a clone runs it', async () => {
    const child = spawn(process.execPath, [join(root, 'packages/cli/bin/assize.js'), 'log'], {
      cwd: here.folder,
      stdio: 'pipe',
    });
    expect(await endOf(child)).toMatchObject({
      code: 2,
      err: expect.stringContaining('does not exist'),
    });
  });

  test.each([
    ['keeps what was compiled with what its user keeps', 'caches', ['assize']],
    ['runs where nothing can be kept', 'a-file', []],
  ])('the bin %s', async (_, name, kept) => {
    file('a-file', '');
    mkdirSync(join(here.folder, 'caches'));
    const { NODE_COMPILE_CACHE: _shared, ...inherited } = process.env;
    const env = { ...inherited, XDG_CACHE_HOME: join(here.folder, name) };
    const child = spawn(process.execPath, [join(root, 'packages/cli/bin/assize.js'), '--version'], {
      cwd: here.folder,
      env,
      stdio: 'pipe',
    });
    expect(await endOf(child)).toMatchObject({ code: 0, err: '' });
    expect(readdirSync(join(here.folder, 'caches'))).toEqual(kept);
  });
});

describe('demo', () => {
  test('has a store of its own, whichever one other commands work on', async () => {
    const earnest = 'sqlite:./earnest.db';
    const { code, out, err } = await runCommand(here.folder, earnest, 'demo');
    expect([code, err]).toEqual([0, '']);
    expect(out).toContain('Store sqlite:./assize-demo.db, trajectory david-1.');
    expect(readdirSync(here.folder).filter((name) => name.startsWith('earnest'))).toEqual([]);
  });

  test('leaves a ledger that the commands it names can read', async () => {
    const { code, out } = await assize('demo', '--store', 'sqlite:./demo.db');
    expect(code).toBe(0);
    const commands = [...out.matchAll(/npx assize (.*)$/gm)].map(([, command]) =>
      (command as string).split(' '),
    );
    expect(commands.length).toBeGreaterThan(3);
    const all = await Promise.all(commands.map((command) => assize(...command)));
    for (const each of all) expect(each).toMatchObject({ code: 0, err: '' });
  });
});

describe('domains', () => {
  test('are listed, shown whole, and one tool at a time', async () => {
    const { domains: list } = await json(0, 'domains');
    const names = [
      'budget',
      'udt',
      'demo-expenses',
      'agents',
      'disclosure',
      'airline',
      'retail',
      'moderation',
      'verification',
      'chat',
      'gateway',
      'incident',
    ];
    expect(list.map(({ name }: { name: string }) => name)).toEqual(names);
    expect((await assize('domains')).out).toContain('CANCELLATION_GROUND');
    const budget = await json(0, 'domains', 'budget');
    expect(budget).toMatchObject({
      processes: [{ name: 'spend', writes: ['/spent/{agent}'] }],
      roles: [{ name: 'spender', params: ['agent'] }],
      actions: [{ name: 'spend', args: { properties: { amount: { type: 'integer' } } } }],
      invariants: [{ id: 'BUDGET_CAP', footprint: ['/cap', '/spent'] }],
    });
    expect((await assize('domains', 'budget')).out).toContain('/spent/{agent}');
    expect(await json(0, 'domains', 'budget', 'spend')).toEqual(budget.actions[0]);
  });

  test('of one’s own are listed beside the shipped ones', async () => {
    till();
    const { domains: list } = await json(0, 'domains', '--domain', 'till.ts');
    expect(list.at(-1)).toMatchObject({ name: 'till', invariants: ['CAP', 'LARGE'] });
  });

  test('that do not exist, and files without one, are refused', async () => {
    await refused(
      ['domains', 'airlines'],
      /domain airlines does not exist\. Name one of budget, udt, demo-expenses, agents, disclosure, airline, retail, moderation, verification, chat, gateway, incident/,
    );
    await refused(['domains', 'budget', 'steal'], /budget has no tool steal\. Name one of: spend/);
    await refused(
      ['domains', '--domain', 'nowhere.ts'],
      /The domain file .*nowhere\.ts does not exist/,
    );
    await refused(
      ['domains', '--domain', file('empty.ts', 'export const a = 1;')],
      /exports no domain/,
    );
    await refused(
      ['domains', '--domain', file('broken.ts', 'throw new Error("no");')],
      /Cannot load the domain file .*: no/,
    );
  });
});

describe('files that are not there', () => {
  test.each<[string, string[], RegExp]>([
    ['to import', ['import', 'nofile'], /nofile cannot be read: the file does not exist\.$/m],
    ['to import, and a folder', ['import', '.'], /cannot be read: it is a folder/],
    [
      'with a key',
      ['checkpoint', '--key', 'nofile'],
      /private key of the log cannot be read: the file does not exist \(nofile\)\. Create one with assize keys new/,
    ],
    [
      'with the public key',
      ['bundle', 'proof', 'deadbeef', '--log-key', 'no.vkey'],
      /the file does not exist \(no\.vkey\)\. Ask the operator of the log/,
    ],
    [
      'by default',
      ['bundle', 'proof', 'deadbeef'],
      /the file does not exist \(\.\/till\.db\.vkey\)/,
    ],
    [
      'to export into',
      ['export', '--out', 'none/x'],
      /none\/x cannot be written: the folder does not exist\. Name another path/,
    ],
    [
      'to make keys in',
      ['keys', 'new', 'example.com/x', '--out', 'none/x'],
      /cannot be written: the folder does not exist/,
    ],
  ])('%s are named, with a remedy', async (_, args, saying) => {
    const store = args[0] === 'keys' ? [] : till();
    await refused([...args, ...store], saying);
    const { err } = await assize(...args, ...store);
    expect(err).not.toMatch(/ENOENT|EISDIR/);
  });

  test('a proof that cannot be written is reported', async () => {
    const store = till();
    await json(0, 'keys', 'new', 'example.com/till', ...store);
    await json(0, 'checkpoint', ...store);
    const [first] = await entries(...store);
    await refused(
      ['bundle', 'proof', first!.id, '--out', 'none/x', ...store],
      /none\/x cannot be written: the folder does not exist/,
    );
  });

  test('an existing file is not overwritten by an export', async () => {
    const store = till();
    file('there.jsonl', 'mine');
    await refused(
      ['export', '--out', 'there.jsonl', ...store],
      /there\.jsonl cannot be written: a file is in the way/,
    );
    expect(readFileSync(join(here.folder, 'there.jsonl'), 'utf8')).toBe('mine');
  });

  test.each<[string, string, RegExp]>([
    [
      'a JSON file',
      '{"name":"x"}\n',
      /no\.jsonl is not an export\. Pass a file that assize export wrote/,
    ],
    ['a file without a line end', '{"name":"x"}', /no\.jsonl is not an export\./],
    ['an indented JSON file', '{\n  "name": "x"\n}\n', /no\.jsonl is not an export\./],
    ['an empty file', '', /no\.jsonl is not an export\./],
    ['a file that is not text', '\0\ud800', /no\.jsonl is not an export\./],
    [
      'an export of another version',
      '{"format":"assize/export/v9"}\n',
      /is an export of another version\. Export/,
    ],
    [
      'an export that was cut',
      '{"format":"assize/export/v1"}\n',
      /no trailer, so its end is missing/,
    ],
  ])('an import of %s says so', async (_, text, saying) => {
    await refused(['import', file('no.jsonl', text), '--store', 'sqlite:./new.db'], saying);
    expect(readdirSync(here.folder)).toEqual(['no.jsonl']);
  });

  test('an empty store name is reported with the variable that can set it', async () => {
    const { code, out, err } = await runCommand(here.folder, '', 'log');
    expect([code, out, err]).toEqual([
      2,
      '',
      expect.stringMatching(/store is empty\. .*--store.*ASSIZE_STORE/),
    ]);
  });
});

describe('no store', () => {
  test.each([
    ['log'],
    ['show', 'deadbeef'],
    ['state', 't'],
    ['verify'],
    ['branch', 't', '0', '--note', 'n'],
    ['diff', 'a', 'b'],
    ['pending'],
    ['effects', 'calls'],
    ['standing'],
    ['approve', 'deadbeef', '--as', 'md:x', '--anchors', 'keys.json'],
    ['reject', 'deadbeef', '--as', 'md:x', '--reason', 'r'],
  ])('%s says so and makes none', async (...args) => {
    file('keys.json', `["${'3d'.repeat(31)}01"]`);
    await refused(args, /The store .*assize\.db does not exist/);
    expect(readdirSync(here.folder)).toEqual(['keys.json']);
  });

  test('a file of anchors that is not there is said to be that', async () => {
    const store = till();
    const id = (await entries(...store)).at(-1)?.id as string;
    await refused(
      ['approve', id, '--as', 'boss:x', '--domain', 'till.ts', '--anchors', 'none.json', ...store],
      /The anchors cannot be read: the file does not exist \(none\.json\)/,
    );
  });
});

describe('conformance', () => {
  test('lists the scenarios', async () => {
    const { scenarios } = await json(0, 'conformance');
    expect(scenarios[0]).toMatchObject({
      name: 'approved-once',
      passes: expect.stringContaining('once'),
    });
    const { out } = await assize('conformance');
    expect(out.trimEnd().split('\n')).toHaveLength(scenarios.length + 1);
  });

  test('refuses an unknown scenario, and tells of a driver that ends', async () => {
    await refused(
      ['conformance', '--driver', 'true', '--scenario', 'luck'],
      /There is no scenario 'luck'. Take one of/,
    );
    const { code, out, err } = await assize('conformance', '--driver', 'echo no key >&2', '--json');
    expect({ code, ...JSON.parse(out) }).toMatchObject({
      code: 1,
      reports: [],
      failed: [{ code: 'driver_ended' }],
    });
    expect(err).toContain('no key');
  });

  test('writes a driver that cannot run into the table as an error', async () => {
    const marks = ['<!-- conformance: begin -->', '<!-- conformance: end -->'];
    const path = file('table.md', `${marks.join('\n')}\n`);
    const given = ['--driver', 'echo no key >&2', '--scenario', 'expired', '--markdown'];
    const { code, err } = await assize('conformance', ...given, path);
    expect(code).toBe(1);
    expect(err).toContain('no key');
    const table = readFileSync(join(here.folder, path), 'utf8').split('\n');
    expect(table).toContain('|  | echo no key >&2 |');
    expect(
      table.filter((row) => row.startsWith('| `')).map((row) => row.split('|').at(-2)),
    ).toEqual([' error ', ' error ']);
    expect(table).toContain('- **echo no key >&2**: the driver did not run.');
  });

  test('writes no table into a file without marks', async () => {
    const path = file('page.md', '# A page\n');
    await refused(['conformance', '--driver', 'true', '--markdown', path], /page.md has no marks/);
  });
});
