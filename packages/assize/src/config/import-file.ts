import { spawnSync } from 'node:child_process';
// By its default, because an older Node lacks the name and has to say which Node to install.
import module from 'node:module';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { isInstance, thrownText } from '#base';

/** Runs a file as a module of this process, and resolves with its exports. */
export async function importFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  try {
    return await import(pathToFileURL(path).href);
  } catch (thrown) {
    // The engine shows the place of such an error only to a program that ends by it.
    if (isInstance(thrown, SyntaxError) && placeOf(thrown) === undefined) notePlace(thrown, path);
    throw thrown;
  }
}

/**
 * The fault of a file that could not be loaded, with the file and line. They can be those of an
 * import.
 */
export function whyNotLoaded(thrown: unknown): string {
  const text = thrownText(thrown);
  const place = isInstance(thrown, Error) ? placeOf(thrown) : undefined;
  return place === undefined || text.includes(place) ? text : `${place}: ${text}`;
}

/** `FILE:LINE` of an error: the line that cannot be parsed, or the first one that was running. */
function placeOf(error: Error): string | undefined {
  const stack = stackOf(error);
  const own = ownFolder();
  const head = /^((?:file:|\/|[A-Za-z]:\\).*):(\d+)\n/.exec(stack);
  const frames = [...stack.matchAll(/^ {4}at (?:.*\()?(file:.*?):(\d+):\d+\)?$/gm)];
  for (const [, file = '', line] of head === null ? frames : [head]) {
    const path = file.startsWith('file:') ? fileURLToPath(file) : file;
    if (!path.startsWith(own) && !path.includes(`${sep}node_modules${sep}`))
      return `${path}:${line}`;
  }
  return undefined;
}

/** The folder with the packages of Assize, whose lines say nothing to the author of a file. */
function ownFolder(): string {
  const manifest = module.findPackageJSON(import.meta.url);
  return join(manifest === undefined ? import.meta.dirname : dirname(manifest), '..', sep);
}

/** Anything can be thrown, also an error whose stack cannot be read. */
function stackOf(error: Error): string {
  try {
    return String(error.stack);
  } catch {
    return '';
  }
}

/**
 * Puts the place of a syntax error at the head of its stack, as other errors have it. A second
 * process tells it: it parses the same modules and, as one cannot be parsed, runs none of them.
 */
function notePlace(error: Error, path: string): void {
  const program = `import ${JSON.stringify(pathToFileURL(path).href)}`;
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  });
  const [head] = /^(?:file:|\/).*:\d+\n/.exec(stderr) ?? [];
  if (head !== undefined) error.stack = `${head}${error.stack}`;
}
