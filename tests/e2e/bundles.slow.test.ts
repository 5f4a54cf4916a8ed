import { execFileSync } from 'node:child_process';
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { rolldown } from 'rolldown';
import { expect, onTestFinished, test } from 'vitest';
import { withBuiltThreads } from '../../scripts/bundle.ts';
import { builtPackages } from '../support/built.ts';

// A program bundled with the package works outside of any folder with packages, with the files of
// its threads beside it and without them.

const root = join(import.meta.dirname, '../..');
const THREADS = {
  'checkpointer-worker': 'packages/assize/src/stores/sqlite/writer/checkpointer-worker.ts',
  'parallel-reader-worker': 'packages/assize/src/stores/parallel-reader-worker.ts',
  'rewrite-worker': 'packages/assize/src/stores/sqlite/writer/rewrite-worker.ts',
};

test.each<[string, 'esm' | 'cjs', Record<string, string>, number]>([
  ['one module', 'esm', {}, 0],
  ['one CommonJS file', 'cjs', {}, 0],
  ['a module with the threads beside it', 'esm', THREADS, 2],
])('a program as %s keeps its promises', async (_, format, beside, threads) => {
  const folder = mkdtempSync(join(tmpdir(), 'assize-bundle-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const made = await rolldown({
    cwd: root,
    platform: 'node',
    input: { program: 'tests/e2e/bundled-program.ts', ...beside },
    external: ['sqlite-vec', 'pg-native'],
    plugins: [{ name: 'threads', transform: (code) => withBuiltThreads(code) }],
    onLog: () => undefined,
  });
  const extension = format === 'esm' ? 'js' : 'cjs';
  await made.write({ dir: join(folder, 'out'), format, entryFileNames: `[name].${extension}` });
  await made.close();
  const program = join(folder, 'out', `program.${extension}`);
  const store = mkdtempSync(join(folder, 'store-'));
  const said = execFileSync(process.execPath, [program, join(store, 'ledger.db')], {
    cwd: folder,
    timeout: 120_000,
  });
  expect(JSON.parse(`${said}`)).toEqual({
    committed: ['committed'],
    erased: 'committed',
    left: 0,
    threads,
  });
});

test('the package names the files of its threads by literals that exist', () => {
  const built = builtPackages();
  const found = globSync('*/{bin,src}/**/*.js', { cwd: built }).flatMap((file) =>
    [
      ...readFileSync(join(built, file), 'utf8').matchAll(
        /new URL\("([^"]*-worker\.[jt]s)", import\.meta\.url\)/g,
      ),
    ].map(([, path = '']) => join(dirname(file), path)),
  );
  expect(found.map((file) => basename(file, '.js'))).toEqual(
    expect.arrayContaining(Object.keys(THREADS)),
  );
  expect(found.length).toBeGreaterThan(Object.keys(THREADS).length);
  expect(found.filter((file) => !existsSync(join(built, file)))).toEqual([]);
});
