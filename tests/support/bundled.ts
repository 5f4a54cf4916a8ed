import { existsSync, globSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { rolldown } from 'rolldown';
import { withBuiltThreads } from '../../scripts/bundle.ts';

const root = join(import.meta.dirname, '../..');
/**
 * The variable with the folder for the programs of a run. The folder is in the repository, where
 * libraries that load their own files are found.
 */
const KEPT = 'ASSIZE_BUNDLED';

/** Once for all processes of a run. */
export default function keepBundled(): void {
  const folder = mkdtempSync(join(root, 'dist-bundled-'));
  process.env[KEPT] = folder;
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
}

/**
 * A program as one file, for tests that start it many times. Loading it from hundreds of sources
 * takes four times as long, and longer than the work of such a process.
 */
export async function bundled(program: string): Promise<string> {
  const folder = join(process.env[KEPT]!, basename(program, '.ts'));
  if (!existsSync(folder)) {
    const mine = `${folder}-${process.pid}`;
    const threads = Object.fromEntries(
      globSync('packages/{assize,server}/src/**/*worker.ts', { cwd: root }).map((file) => [
        basename(file, '.ts'),
        file,
      ]),
    );
    const made = await rolldown({
      cwd: root,
      platform: 'node',
      // Its threads are looked for beside it, under their own names.
      input: { program, ...threads },
      external: ['sqlite-vec', 'pg-native', '@dbos-inc/dbos-sdk', '@restatedev/restate-sdk'],
      plugins: [{ name: 'threads', transform: (code) => withBuiltThreads(code) }],
    });
    await made.write({
      dir: mine,
      entryFileNames: '[name].js',
      chunkFileNames: '[name]-[hash].js',
    });
    await made.close();
    try {
      renameSync(mine, folder);
    } catch (error) {
      rmSync(mine, { recursive: true });
      // Others may have been faster.
      if (!existsSync(folder)) throw error;
    }
  }
  return join(folder, 'program.js');
}
