/** The frameworks that the package accepts are those with which its tests run. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { FRAMEWORKS, testedVersions } from '../support/frameworks/versions.ts';

const root = join(import.meta.dirname, '../..');
const packages = Object.values(FRAMEWORKS).flat();

/** Ends before the next major version, or before the next minor one of a version 0. */
function end(version: string): string {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 0 ? `${major + 1}.0.0` : `0.${minor + 1}.0`;
}

test.each(packages)('the range of %s is from its oldest to its newest version', (name) => {
  const { oldest = '', newest = '', range } = testedVersions(name);
  expect(oldest).toMatch(/^\d+\.\d+\.\d+$/);
  expect(newest).toMatch(/^\d+\.\d+\.\d+$/);
  const isCaret = end(oldest) === end(newest);
  const tested = isCaret ? `^${oldest}` : `>=${oldest} <${end(newest)}`;
  expect([tested, undefined]).toContain(range);
});

test.each(Object.entries(FRAMEWORKS))('%s.md names the versions of its tests', (guide, names) => {
  const peers = names.filter((name) => testedVersions(name).range !== undefined);
  const said = peers.map(
    (name) => `\`${name}\` ${testedVersions(name).oldest} and ${testedVersions(name).newest}`,
  );
  const page = readFileSync(join(root, 'docs/guide', `${guide}.md`), 'utf8');
  expect(peers.length).toBeGreaterThan(0);
  expect(page.replaceAll('\n', ' ')).toContain(
    `The oldest and newest versions in tests: ${said.join(', ')}.`,
  );
});
