/**
 * Makes the pictures of docs/images: `npm run screenshots`. The tests of the pages make all
 * pictures in a folder of their own, and those that a page of the documentation shows are kept.
 */
import { execFileSync } from 'node:child_process';
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const TESTS = ['screenshots', 'frameworks', 'first-incident'].map(
  (name) => `tests/console/${name}.long.test.ts`,
);
/** The width in pixels of the pictures that the documentation shows, in their names or alone. */
const WIDTH = 1280;

const made = mkdtempSync(join(tmpdir(), 'assize-screenshots-'));
try {
  const vitest = join(root, 'node_modules/vitest/vitest.mjs');
  execFileSync(process.execPath, [vitest, 'run', '--mode', 'long', ...TESTS], {
    ...{ cwd: root, stdio: 'inherit' },
    env: { ...process.env, ASSIZE_SCREENSHOTS: made },
  });
  mkdirSync(join(root, 'docs/images'), { recursive: true });
  for (const name of shownNames()) {
    const files = [`${name}-${WIDTH}.png`, `${name}.png`].map((file) => join(made, file));
    const found = files.find(existsSync);
    if (found !== undefined) copyFileSync(found, join(root, 'docs/images', `${name}.png`));
    else console.error(`docs/images/${name}.png stays as it was: its test was skipped.`);
  }
} finally {
  rmSync(made, { recursive: true });
}

/** The names of pictures in the documentation, without their endings. */
function shownNames(): ReadonlySet<string> {
  const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })];
  const texts = pages.map((page) => readFileSync(join(root, page), 'utf8'));
  return new Set(
    texts.flatMap((text) =>
      [...text.matchAll(/\bimages\/([\w-]+)\.png/g)].map(([, name = '']) => name),
    ),
  );
}
