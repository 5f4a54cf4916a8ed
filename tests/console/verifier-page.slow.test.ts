/** The page that verifies proof bundles, as it is built. */
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { bundleVerifiers, consoleSources } from '../../packages/cli/src/files/built-console.ts';

const root = join(import.meta.dirname, '../..');
const { page } = (await bundleVerifiers()) as { readonly page: string };

function only(pattern: RegExp): string {
  const found = [...page.matchAll(pattern)];
  expect(found.length).toBe(1);
  return found[0]![1] as string;
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

test('its policy allows its own script and style, and no request', () => {
  const policy = only(/http-equiv="Content-Security-Policy" content="([^"]*)"/g);
  const script = only(/<script>([\s\S]*?)<\/script>/g);
  const style = only(/<style>([\s\S]*?)<\/style>/g);
  expect(script.length).toBeGreaterThan(10_000);
  expect(policy.split('; ')).toEqual([
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    "base-uri 'none'",
    "form-action 'none'",
  ]);
});

test('a file that ends within its script says that it is not verified', () => {
  const [body = ''] = page.split('<script');
  expect(body).toContain('Not verified: this file is not complete');
});

test('it is one file of less than 125 kB, with one empty place for a bundle', () => {
  expect(only(/<script type="application\/json" id="bundle">([^<]*)<\/script>/g)).toBe('');
  expect(page).not.toMatch(/\s(?:src|href)="/);
  expect(Buffer.byteLength(page)).toBeLessThan(125_000);
});

test('a change of any of its sources builds it again', () => {
  const sources = new Set(consoleSources(root));
  const own = globSync(['console/verify/**/*.{ts,css,html}', 'scripts/verifier-page.ts'], {
    cwd: root,
  });
  expect(own.length).toBeGreaterThan(40);
  expect(own.filter((name) => !sources.has(join(root, name)))).toEqual([]);
});
