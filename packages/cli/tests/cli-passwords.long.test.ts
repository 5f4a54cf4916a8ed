/** Every command of the CLI gets a store URL with a password, and prints the password nowhere. */
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { withPostgres } from '../../../tests/support/postgres/index.ts';
import { inTillFolder } from '../../../tests/support/process/budget-folder.ts';
import { type Ended, runCommand, runLoaded } from '../../../tests/support/process/command.ts';
import { someOf } from '../../../tests/support/some-of.ts';
import { ASSIZE, program } from '../src/program.ts';

const PASSWORD = 'hunter2';
/** The commands that do not end by themselves, or take minutes. */
const LONG = ['witness', 'serve'];
/** Its argument stays in the store, and the errors of other commands quote it. */
const KEPT = 'restore retire';
/** Of these, the server ends by itself where its store cannot be opened. */
const ENDLESS = LONG.filter((name) => name !== 'serve');

const here = inTillFolder();

/** A command of the program, with `value` for each argument and required option. */
interface Leaf {
  readonly name: string;
  line(value: string): string[];
}

function leavesOf(command: Command, path: readonly string[] = []): Leaf[] {
  const below = command.commands.flatMap((next) => leavesOf(next, [...path, next.name()]));
  // Each command that does something has this option.
  if (!command.options.some(({ long }) => long === '--json')) return below;
  const line = (value: string): string[] => [
    ...path,
    ...command.registeredArguments.map(() => value),
    ...command.options
      .filter(({ mandatory, defaultValue }) => mandatory && defaultValue === undefined)
      .flatMap(({ long }) => [long!, value]),
  ];
  return [{ name: path.join(' '), line }, ...below];
}

const leaves = leavesOf(await program([], ASSIZE));

function expectHidden({ code, out, err }: Ended, line: readonly string[]): void {
  expect(code, line.join(' ')).not.toBeNull();
  expect(`${out}${err}`, line.join(' ')).not.toContain(PASSWORD);
}

test('the walk finds every command', () => {
  expect(leaves.map(({ name }) => name)).toEqual(
    expect.arrayContaining([
      'demo',
      'log',
      'memory assert',
      'writ issue',
      'effects list',
      'keys new',
      'restore',
      'restore retire',
    ]),
  );
  expect(leaves.length).toBeGreaterThan(45);
});

const UNREACHABLE = `postgres://ann:${PASSWORD}@127.0.0.1:1/app`;
const FAULTY = {
  'no server': UNREACHABLE,
  'an unescaped slash': `postgres://ann:x/${PASSWORD}@127.0.0.1:1/app`,
  'an unescaped space': `postgres://ann:x ${PASSWORD}@127.0.0.1:1/app`,
  'a password in a parameter': `postgres://127.0.0.1:1/app?user=ann&password=${PASSWORD}`,
  'no slashes': `postgres:ann:${PASSWORD}@127.0.0.1:1/app`,
  'another scheme': `mysql://ann:${PASSWORD}@127.0.0.1:1/app`,
};

test.each(Object.entries(FAULTY))(
  'no command prints the password of a URL with %s',
  async (_, url) => {
    const apart = new Set(someOf(leaves));
    for (const leaf of leaves) {
      if (ENDLESS.includes(leaf.name)) continue;
      const run = apart.has(leaf) ? runCommand : runLoaded;
      const words = [...leaf.line('david-1'), '--json'];
      expectHidden(await run(here.folder, url, ...words), words);
      expectHidden(await run(here.folder, undefined, ...words, '--store', url), words);
    }
  },
);

test.each(Object.values(FAULTY))(
  'no error repeats the password of an argument: %s',
  async (url) => {
    for (const { name, line } of leaves) {
      const wrong = [
        [...line(url), '--store', 'sqlite:./none.db', '--json'],
        [...line('david-1'), `--stor=${url}`, '--json'],
        [...line('david-1'), url, url, url, '--json'],
      ];
      for (const words of [...LONG, KEPT].includes(name) ? wrong.slice(1, 2) : wrong) {
        const ended = await runLoaded(here.folder, undefined, ...words);
        // A result contains the argument as it was given, such as the name of a memory space.
        expectHidden(ended.code === 2 ? ended : { ...ended, out: '' }, words);
      }
    }
    expectHidden(await runCommand(here.folder, undefined, url), [url]);
  },
);

withPostgres('a PostgreSQL store with a password in its URL', (postgres) => {
  test('is used by every command, and no output has the password', async () => {
    const url = new URL(postgres.url());
    url.password = PASSWORD;
    const demo = await runCommand(here.folder, undefined, 'demo', '--store', url.href);
    expect(demo).toMatchObject({ code: 0, err: '' });
    expectHidden(demo, ['demo']);
    expect(demo.out).toContain(`Store postgres://postgres@127.0.0.1:${url.port}/postgres?schema=`);
    expect(demo.out).toContain('PGPASSWORD');
    expect(demo.out).not.toContain('in memory');
    const again = await runCommand(here.folder, undefined, 'demo', '--store', url.href);
    expect(again).toMatchObject({ code: 0, err: '' });
    expect(again.out).toMatch(/^Trajectory payments-2, covered: c1 for d1, c2 for d4\.$/m);
    expect(again.out).toMatch(/^The bank made 2 payments, .*: the same, each made once\.$/m);
    for (const { name, line } of leaves) {
      if (LONG.includes(name)) continue;
      for (const json of [[], ['--json']]) {
        const words = [...line('david-1'), ...json];
        expectHidden(await runLoaded(here.folder, undefined, ...words, '--store', url.href), words);
      }
    }
    expect(await runCommand(here.folder, url.href, 'verify')).toMatchObject({ code: 0 });
  });

  test('prints commands that read it with PGPASSWORD', async () => {
    const url = new URL(postgres.url());
    url.password = PASSWORD;
    const { out } = await runCommand(here.folder, undefined, 'demo', '--json', '--store', url.href);
    const { commands, store } = JSON.parse(out) as {
      readonly commands: string[];
      readonly store: string;
    };
    expect(store).toBe(url.href.replace(`:${PASSWORD}`, ''));
    for (const command of commands) {
      const words = command.replace('npx assize ', '').replaceAll("'", '').split(' ');
      expect(await runCommand(here.folder, undefined, ...words), command).toMatchObject({
        code: 0,
        err: '',
      });
    }
  });

  test('is named without it where the demo refuses a store in use', async () => {
    const url = new URL(postgres.url());
    url.password = PASSWORD;
    const { out } = await runCommand(here.folder, undefined, 'export', ...here.till());
    here.file('till.jsonl', out);
    await runCommand(here.folder, undefined, 'import', 'till.jsonl', '--store', url.href);
    const refused = await runCommand(here.folder, undefined, 'demo', '--json', '--store', url.href);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain('the demo did not create it');
    expectHidden(refused, ['demo']);
  });
});
