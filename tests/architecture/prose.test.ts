import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');

/** Maximum length of a test title, and of a comment line with its indent. */
const TITLE_MAX = 72;
const COLUMNS_MAX = 100;

/** Words that stand for a noun, with the advice to name it. */
const UNNAMED = /\b(whoever|whomever|nobody|somebody|anybody|that one)\b/i;
const ADVICE = 'name the function, the caller, the transaction';

/** Phrases that read as translated. "There is no", "no longer" and "no more" are plain. */
const TRANSLATED =
  /(?<!there )\b(?:is|are|was|were) (?:no (?!longer\b|more\b)|none\b)|\b(?:(?<!each )of which|anew|besides|as far as|at once)\b/i;
const PLAIN = '"is not a", "again", "other than", "immediately" or "concurrently"';

/** Folders whose strings are final: schemas, recorded results and golden ledgers. */
const FINAL = /\/schema\/|^labs\/experiments\/|^tests\/golden\//;

/** The highest number of clauses with ", which" in 10,000 words of comments. */
const WHICH_MAX = 1;

/** A sentence at the start of a comment whose subject is a free relative. */
const FREE_RELATIVE = /^(?:\/\/|\/\*\*?)[\s*]*(?:What|Which|Who|How much|So many)\b/;

/** A comment of one or more lines, or a literal that may contain the marks of one. */
const COMMENT =
  /(\/\/[^\n]*(?:\n\s*\/\/[^\n]*)*|\/\*[\s\S]*?\*\/)|('(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`)/g;

/** The first argument of `test`, `it`, `describe` or `law`, also after `.each(…)`. */
const TITLE =
  /(?:\b(?:test|it|describe|law)|[\])])\(\s*(?:'((?:\\.|[^'\\\n])*)'|`((?:\\.|[^`\\])*)`)\s*,/g;

const FOLDERS = ['packages', 'console', 'labs', 'bench', 'scripts', 'tests', 'examples'];
const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && /(?<!prose\.test|openapi\.d)\.tsx?$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !path.includes('node_modules'))
    .map((path) => ({ file: relative(root, path), text: readFileSync(path, 'utf8') })),
);

test(`test titles have at most ${TITLE_MAX} characters`, () => {
  const long = titles().filter(({ title }) => title.length > TITLE_MAX);
  expect(long).toEqual([]);
});

test(`test titles have concrete subjects: ${ADVICE}`, () => {
  expect(titles().filter(({ title }) => UNNAMED.test(title))).toEqual([]);
});

test(`comments have concrete subjects: ${ADVICE}`, () => {
  const found = files.flatMap(({ file, text }) =>
    commentsOf(text)
      .filter((comment) => UNNAMED.test(comment.replace(/`[^`]*`/g, '')))
      .map((comment) => ({ file, comment })),
  );
  expect(found).toEqual([]);
});

test('comments do not begin with what, which, who, how much or so many', () => {
  const found = files.flatMap(({ file, text }) =>
    commentsOf(text)
      .filter((comment) => FREE_RELATIVE.test(comment))
      .map((comment) => ({ file, comment })),
  );
  expect(found).toEqual([]);
});

test(`comments and strings are in plain English: write ${PLAIN}`, () => {
  const found = files.flatMap(({ file, text }) =>
    [...commentsOf(text), ...(FINAL.test(file) ? [] : stringsOf(text))]
      .filter((prose) => TRANSLATED.test(prose.replace(/\s[\s*/]*/g, ' ')))
      .map((prose) => ({ file, prose })),
  );
  expect(found).toEqual([]);
});

test(`comments have at most ${WHICH_MAX} ", which" in 10,000 words`, () => {
  const prose = files.flatMap(({ text }) => commentsOf(text)).join(' ');
  const words = prose.match(/[a-z]+/gi)?.length ?? 0;
  const clauses = prose.match(/,[\s*/]+which\b/g)?.length ?? 0;
  expect((10_000 * clauses) / words).toBeLessThanOrEqual(WHICH_MAX);
});

test(`comment lines have at most ${COLUMNS_MAX} columns`, () => {
  // The templates of a scaffold contain comments of the generated files.
  const found = files
    .filter(({ file }) => file !== 'labs/ontology/test-source.ts')
    .flatMap(({ file, text }) =>
      text
        .split('\n')
        .map((line, i) => ({ at: `${file}:${i + 1}`, line }))
        .filter(
          ({ line }) =>
            /^\s*(\/\/|\/?\*)/.test(line) && line.length > COLUMNS_MAX && !line.includes('://'),
        ),
    );
  expect(found).toEqual([]);
});

/** The titles in test files and in the published suites of laws. */
function titles(): { readonly file: string; readonly title: string }[] {
  return files
    .filter(({ file }) => file.endsWith('.test.ts') || file.startsWith('packages/testing/src/'))
    .flatMap(({ file, text }) =>
      [...text.matchAll(TITLE)].map(([, quoted, template]) => ({
        file,
        title: quoted ?? template ?? '',
      })),
    );
}

function commentsOf(text: string): string[] {
  return [...text.matchAll(COMMENT)].flatMap(([, comment]) =>
    comment === undefined ? [] : [comment],
  );
}

/** The literals that hold prose, without the values in templates. */
function stringsOf(text: string): string[] {
  return [...text.matchAll(COMMENT)].flatMap(([, , literal]) =>
    literal?.includes(' ') ? [literal.replace(/\$\{[^}]*\}/g, '…')] : [],
  );
}
