/** The programs of examples/programs: each runs by itself, and prints what their README shows. */
import { execFileSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { linkMastra } from '../support/mastra/link-mastra.ts';
import { hasMastra } from '../support/mastra/packages.ts';

const folder = join(import.meta.dirname, '../../examples/programs');
const readme = readFileSync(join(folder, 'README.md'), 'utf8');
const programs = readdirSync(folder).filter((name) => name.endsWith('.ts'));

/** Subpaths that an example may import. */
const PUBLIC =
  /^(assize(\/(effects|memory|stores))?|@assize\/(agents|audit|gate|testing|tools\/[a-z]+|ai-sdk|langchain|mastra|openai-agents))$/;

test('the README shows every program once', () => {
  const shown = [...readme.matchAll(/^```text (\S+)$/gm)].map(([, name]) => `${name}.ts`);
  expect(shown.sort()).toEqual([...programs].sort());
});

/** The program of a framework that is installed apart from the rest. */
const APART = 'mastra-agent.ts';
const apart = hasMastra ? APART : `${APART} (absent without npm ci --prefix peers)`;

test.each(programs.filter((name) => name !== APART))(
  '%s prints the output that the README shows',
  (name) => {
    printsAsShown(name, join(folder, name));
  },
);

test.skipIf(!hasMastra)(`${apart} prints the output that the README shows`, () => {
  const here = mkdtempSync(join(tmpdir(), 'assize-mastra-example-'));
  onTestFinished(() => rmSync(here, { recursive: true }));
  linkMastra(here);
  copyFileSync(join(folder, APART), join(here, APART));
  printsAsShown(APART, join(here, APART));
});

function printsAsShown(name: string, file: string): void {
  // Elsewhere than in the clone, so that a program that writes beside itself is found out.
  const printed = execFileSync(process.execPath, [file], {
    cwd: tmpdir(),
    encoding: 'utf8',
    env: { ...process.env, NO_COLOR: '1' },
  });
  const shown = readme.split(`\`\`\`text ${name.replace(/\.ts$/, '')}\n`)[1]?.split('```')[0];
  expect(printed).toBe(shown);
}

test.each(programs)('%s imports public names only, and has at most 120 lines', (name) => {
  const text = readFileSync(join(folder, name), 'utf8');
  const imported = [...text.matchAll(/from '(@?assize[^']*)'/g)].map(([, from]) => from!);
  expect(imported.filter((from) => !PUBLIC.test(from))).toEqual([]);
  expect(text.trimEnd().split('\n').length).toBeLessThanOrEqual(120);
});
