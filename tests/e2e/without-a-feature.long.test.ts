// A copy of the packages without `packages/cells` and its line in the list of features.
import { execFile } from 'node:child_process';
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, sep } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');
const copy = mkdtempSync(join(tmpdir(), 'assize-without-'));
const list = join(copy, 'packages/cli/src/features.ts');

beforeAll(() => {
  for (const name of ['package.json', 'tsconfig.json']) cpSync(join(root, name), join(copy, name));
  cpSync(join(root, 'packages'), join(copy, 'packages'), {
    recursive: true,
    filter: (path) => !path.endsWith('.test.ts') && !path.includes(`${sep}node_modules`),
  });
  const modules = join(copy, 'node_modules');
  mkdirSync(join(modules, '@assize'), { recursive: true });
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@assize' && name !== 'assize')
      symlinkSync(join(root, 'node_modules', name), join(modules, name), 'junction');
  symlinkSync(join(copy, 'packages/assize'), join(modules, 'assize'), 'junction');
  symlinkSync(join(root, 'console'), join(modules, '@assize/console'), 'junction');
  for (const name of readdirSync(join(copy, 'packages')))
    if (name !== 'assize')
      symlinkSync(join(copy, 'packages', name), join(modules, '@assize', name), 'junction');
  rmSync(join(copy, 'packages/cells'), { recursive: true });
  rmSync(join(modules, '@assize/cells'));
  const lines = readFileSync(list, 'utf8').replace(/^import \{ cells \}.*\n/m, '');
  writeFileSync(list, lines.replace(/\bcells\b,? ?/, ''));
  const config = {
    extends: './tsconfig.json',
    include: ['packages/*/src/**/*.ts'],
    compilerOptions: { noEmit: true },
  };
  writeFileSync(join(copy, 'tsconfig.packages.json'), JSON.stringify(config));
});

afterAll(() => rmSync(copy, { recursive: true }));

const assize = (...args: readonly string[]) =>
  run(process.execPath, [join(copy, 'packages/cli/src/main.ts'), ...args], { cwd: copy });

test('the packages have no type error without the package of cells', async () => {
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  const { stdout } = await run(process.execPath, [tsc, '-p', 'tsconfig.packages.json'], {
    cwd: copy,
  });
  expect(stdout).toBe('');
});

test('the command has all commands but those of cells', async () => {
  const { stdout } = await assize('--help');
  expect(stdout).toContain('verify');
  expect(stdout).not.toMatch(/^ +cells /m);
  await expect(assize('cells', 'status')).rejects.toMatchObject({ code: 2 });
});

test('a program and the command use a store, and a URL of cells is refused', async () => {
  writeFileSync(
    join(copy, 'program.ts'),
    `import { createAssize, defineDomain } from 'assize';
     import { z } from 'zod';
     const domain = defineDomain({
       name: 'count', version: '1', state: z.object({ n: z.number() }), initial: { n: 0 },
       processes: { counting: { writes: ['/n'] } }, roles: { counter: { processes: ['counting'] } },
       actions: { add: { process: 'counting', args: z.object({}), apply: (state) => { state.n += 1; } } },
       invariants: () => [],
     });
     const world = await createAssize({ store: 'sqlite:./a.db', domain });
     console.log((await world.propose({ action: 'add', role: 'counter', args: {} })).ruling);
     await world.close();`,
  );
  const program = await run(process.execPath, ['program.ts'], { cwd: copy });
  expect(program.stdout).toBe('committed\n');
  const { stdout } = await assize('verify', '--store', 'sqlite:./a.db');
  expect(stdout).toContain('valid');
  await expect(assize('log', '--store', 'cells:cells.yaml')).rejects.toMatchObject({ code: 2 });
});
