/** The pictures of the documentation: each exists, is shown, is small, and says what it shows. */
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
/** More would make the package large and a page slow. */
const BYTES_MAX = 150_000;

const images = globSync('docs/images/*', { cwd: root }).sort();
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root })].map((page) => ({
  page,
  text: readFileSync(join(root, page), 'utf8'),
}));

/** The pictures that a page shows, as paths from the root. */
function shownIn({ page, text }: (typeof pages)[number]): string[] {
  const links = [...text.matchAll(/(?:\]\(|src="|srcset=")([^)"\s]+\.(?:png|webp))/g)];
  return links.map(([, link = '']) => join(page, '..', link));
}

test('each picture that a page shows exists, and each picture is shown', () => {
  const shown = new Set(pages.flatMap(shownIn));
  expect([...shown].sort()).toEqual(images);
  expect(images.length).toBeGreaterThan(7);
});

test('each picture is a PNG of a few bytes', () => {
  for (const image of images) {
    const signature = readFileSync(join(root, image)).subarray(1, 4).toString('latin1');
    expect([image, signature]).toEqual([image, 'PNG']);
    expect([image, statSync(join(root, image)).size]).toEqual([
      image,
      expect.toSatisfy((size) => size < BYTES_MAX),
    ]);
  }
});

test('each picture has words for readers who do not see it', () => {
  for (const { page, text } of pages) {
    const spoken = [
      ...[...text.matchAll(/!\[([^\]]*)\]\([^)]+\.png\)/g)].map(([, words]) => words),
      ...[...text.matchAll(/<img [^>]*>/g)].map(([tag]) => /alt="([^"]*)"/.exec(tag)?.[1]),
    ];
    for (const words of spoken)
      expect([page, words?.length]).toEqual([page, expect.toSatisfy((n) => n > 20)]);
  }
});

test('README.md begins with the inbox, in both schemes', () => {
  const start = pages[0]!.text.split('\n').slice(0, 8).join('\n');
  expect(start).toMatch(
    /<source media="\(prefers-color-scheme: dark\)" srcset="docs\/images\/inbox-dark\.png"/,
  );
  expect(start).toContain('src="docs/images/inbox-light.png"');
});
