import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Maximum length of a test title, and of a comment line with its indent. */
const TITLE_MAX = 72;
const COLUMNS_MAX = 100;

/** Words that stand for a noun, with the advice to name it. */
const UNNAMED = /\b(whoever|whomever|nobody|somebody|anybody|that one)\b/i;
const ADVICE = 'name the function, the caller, the transaction';

/** A comment, or a literal that may contain the marks of one. */
const COMMENT = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`/g;

/** The first argument of `test`, `it`, `describe` or `law`, also after `.each(…)`. */
const TITLE = /(?:\b(?:test|it|describe|law)|[\])])\(\s*(?:'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`)\s*,/g;

const files = execFileSync('git', ['ls-files', '*.ts'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((file) => file !== '' && !file.endsWith('prose.test.ts'))
  .map((file) => ({ file, text: readFileSync(join(root, file), 'utf8') }));
const sources = files.filter(({ file }) => file.startsWith('src/') && !file.endsWith('.test.ts'));

test(`test titles have at most ${TITLE_MAX} characters`, () => {
  const long = titles().filter(({ title }) => title.length > TITLE_MAX);
  expect(long).toEqual([]);
});

test(`test titles have concrete subjects: ${ADVICE}`, () => {
  expect(titles().filter(({ title }) => UNNAMED.test(title))).toEqual([]);
});

test(`comments of src have concrete subjects: ${ADVICE}`, () => {
  const found = sources.flatMap(({ file, text }) =>
    commentsOf(text)
      .filter((comment) => UNNAMED.test(comment))
      .map((comment) => ({ file, comment })),
  );
  expect(found).toEqual([]);
});

test(`comment lines of src have at most ${COLUMNS_MAX} columns`, () => {
  const found = sources.flatMap(({ file, text }) =>
    text
      .split('\n')
      .map((line, i) => ({ at: `${file}:${i + 1}`, line }))
      .filter(({ line }) => /^\s*(\/\/|\/?\*)/.test(line) && line.length > COLUMNS_MAX && !line.includes('://')),
  );
  expect(found).toEqual([]);
});

/** The titles in test files and in the published suites of laws. */
function titles(): { readonly file: string; readonly title: string }[] {
  return files
    .filter(({ file }) => file.endsWith('.test.ts') || file.startsWith('src/testing/'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(TITLE)].map(([, quoted, template]) => ({ file, title: quoted ?? template ?? '' })),
    );
}

function commentsOf(text: string): string[] {
  return [...text.matchAll(COMMENT)].flatMap(([, comment]) => (comment === undefined ? [] : [comment]));
}
