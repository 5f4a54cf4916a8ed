/**
 * The rules of the chain have the same ids in the sources, the reference and the Python verifier.
 */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { RULES } from '#ledger';

const root = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(root, file), 'utf8');
const ids = Object.keys(RULES);

/** The paragraphs and items of sections 5.2 to 5.11. */
const chain = /^### 5\.2 [\s\S]*?(?=^## 6\.)/m.exec(read('docs/reference/ledger.md'))?.[0] ?? '';

test('the reference states the same rules, in the same order', () => {
  expect(matches(chain, /`([a-z-]+\.[a-z-]+)`: /g)).toEqual(ids);
});

test('a numbered rule of the reference begins with its id, if it can be broken', () => {
  const rules = matches(chain, /^\d+\. (.*)$/gm);
  expect(rules.length).toBeGreaterThan(60);
  expect(rules.filter((rule) => !/^`[a-z-]+\.[a-z-]+`: /.test(rule))).toEqual([
    expect.stringMatching(/^If no such memory exists/),
  ]);
});

test('the verifier in Python has the same rules, in the same order', () => {
  const source = read('verifiers/python/verify.py');
  const table = /^RULES = frozenset\("""\n([\s\S]*?)"""/m.exec(source)?.[1] ?? '';
  expect(table.split(/\s+/).filter((id) => id !== '')).toEqual(ids);
  expect(ids.filter((id) => !source.includes(`"${id}"`))).toEqual([]);
});

test('the sources check every rule', () => {
  const texts = globSync('packages/assize/src/ledger/{entry,rules,replay}/*.ts', { cwd: root })
    .filter((file) => !file.endsWith('.test.ts'))
    .map(read);
  expect(ids.filter((id) => !texts.some((text) => text.includes(`'${id}'`)))).toEqual([]);
});

function matches(text: string, what: RegExp): string[] {
  return [...text.matchAll(what)].map(([, found = '']) => found);
}
