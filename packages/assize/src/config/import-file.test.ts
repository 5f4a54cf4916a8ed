import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { importFile, whyNotLoaded } from './import-file.ts';
import { readConfig } from './read-config.ts';

/** A module with a fault in its third line. Another file imports it. */
const FAULTS: readonly (readonly [title: string, name: string, line: string, why: string])[] = [
  ['a syntax error in TypeScript', 'domain.ts', 'export const a = (;', 'Expression expected'],
  ['an enum', 'domain.ts', 'enum X { A }', 'TypeScript enum is not supported'],
  ['a syntax error in JavaScript', 'domain.mjs', 'export const a = (;', "Unexpected token ';'"],
  [
    'an export that is missing',
    'domain.ts',
    "import { nope } from './other.mjs'; nope;",
    "export named 'nope'",
  ],
  ['an error of its own', 'domain.ts', "throw new TypeError('boom');", 'boom'],
];

function folderWith(name: string, line: string): (file: string) => string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'assize-import-')));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const at = (file: string): string => join(folder, file);
  writeFileSync(at('other.mjs'), 'export const ok = 1;\n');
  writeFileSync(at(name), `\n\n${line}\n`);
  writeFileSync(at('assize.config.mjs'), `import './${name}';\nexport default {};\n`);
  return at;
}

test.each(FAULTS)('%s is reported with its file and line', async (_, name, line, why) => {
  const at = folderWith(name, line);
  const place = `${at(name)}:3: `;
  const config = await readConfig(at('assize.config.mjs')).catch((error: unknown) => error);
  expect(config).toMatchObject({ code: 'bad_config', message: expect.stringContaining(place) });
  expect(String(config)).toContain(why);
  const thrown = await importFile(at(name)).catch((error: unknown) => error);
  expect(whyNotLoaded(thrown)).toContain(place);
});

test('a value with no place, or a place in its text, is reported unchanged', async () => {
  const at = folderWith('domain.mjs', "throw 'no';");
  expect(whyNotLoaded(await importFile(at('domain.mjs')).catch((thrown: unknown) => thrown))).toBe(
    'no',
  );
  const hostile = Object.defineProperty(new Error('x'), 'stack', { value: 3 });
  expect(whyNotLoaded(hostile)).toBe('x');
  const missing = folderWith('domain.mjs', "import './none.mjs';");
  const why = whyNotLoaded(
    await importFile(missing('domain.mjs')).catch((thrown: unknown) => thrown),
  );
  expect(why).toContain(missing('none.mjs'));
  expect(why).toContain(missing('domain.mjs'));
});
