import { globSync, readFileSync } from 'node:fs';
import { dirname, isAbsolute, join, relative } from 'node:path';
import { rolldown } from 'rolldown';

const THREAD = /(?<=new URL\((['"]))\.\/([\w-]+-worker)\.ts(?=\1\s*,\s*import\.meta\.url\))/g;
const INTERNAL = /'(assize|@assize\/[\w-]+)\/internal(?:\/([\w./-]+))?'/g;

/**
 * A module as built, in which the files of threads are JavaScript. Sources name them by literal
 * URLs, and bundlers follow these. The caller can say where the file of a thread is, from the
 * module.
 */
export function withBuiltThreads(
  code: string,
  pathOf: (thread: string) => string = (name) => `./${name}.js`,
): string {
  return code.replace(THREAD, (_, _quote, name: string) => pathOf(name));
}

/** The files of each package that others import by its `./internal`, by the name of the package. */
export function internalEntries(root: string): ReadonlyMap<string, ReadonlySet<string>> {
  const found = new Map<string, Set<string>>();
  for (const file of globSync('packages/*/src/**/*.ts', { cwd: root }))
    for (const [, name = '', path] of readFileSync(join(root, file), 'utf8').matchAll(INTERNAL)) {
      const paths = found.get(name) ?? new Set();
      found.set(
        name,
        paths.add(
          path === undefined ? 'index.ts' : path.endsWith('.ts') ? path : `${path}/index.ts`,
        ),
      );
    }
  return found;
}

/**
 * Bundles the entries of a package, each at the path of its source, and the files of its threads.
 * Code of several entries is in chunks that they share, so every class is there once. Other
 * packages stay imports.
 */
export async function bundlePackage(
  folder: string,
  entries: readonly string[],
  to: string,
): Promise<void> {
  const made = await rolldown({
    cwd: folder,
    platform: 'node',
    input: Object.fromEntries(entries.map((file) => [file.replace(/\.ts$/, ''), file])),
    // The helpers of the transform are part of the code.
    external: (name) => !/^(?:[.#]|@oxc-project\/runtime\/)/.test(name) && !isAbsolute(name),
    transform: { target: 'es2024' },
    plugins: [
      {
        name: 'threads',
        transform(code, id) {
          for (const [, , name] of code.matchAll(THREAD))
            this.emitFile({
              type: 'chunk',
              id: join(dirname(id), `${name}.ts`),
              fileName: `src/chunks/${name}.js`,
            });
        },
        renderChunk(code, { fileName }) {
          const chunks = relative(dirname(fileName), 'src/chunks');
          const changed = withBuiltThreads(code, (name) => `./${join(chunks, name)}.js`);
          return changed === code ? null : { code: changed, map: null };
        },
      },
    ],
  });
  await made.write({
    dir: to,
    entryFileNames: '[name].js',
    chunkFileNames: 'src/chunks/[name].js',
    comments: { jsdoc: false },
  });
  await made.close();
}
