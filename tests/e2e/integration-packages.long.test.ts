/**
 * Each integration in a project that has the packed package and the packages of its framework
 * alone: the program of its guide holds a call and makes it once, with the newest and the oldest
 * version.
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { FRAMEWORKS, hasOldest, OLDEST_MODULES } from '../support/frameworks/versions.ts';
import { hasMastra, MASTRA_MODULES } from '../support/mastra/packages.ts';
import { projectWithPackage } from '../support/packed.ts';
import { runGuide } from '../support/run-guide.ts';

const MASTRA = 'mastra';
const guides = Object.keys(FRAMEWORKS);
let project: string;

beforeAll(() => {
  project = projectWithPackage();
});
afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

/** Runs the guide with the packages of its framework from this folder. */
function expectHeldOnce(guide: string, modules: string): void {
  const folders = new Set((FRAMEWORKS[guide] ?? []).map((each) => each.replace(/\/.*/, '')));
  const apart = Object.fromEntries([...folders].map((each) => [each, join(modules, each)]));
  const { commands, printed, shown } = runGuide(`${guide}.md`, {
    packages: [],
    apart,
    project,
    timeoutMs: 300_000,
  });
  expect(commands.length).toBeGreaterThan(3);
  expect(printed).toEqual(shown);
}

test('the packed gate needs no framework', () => {
  expectHeldOnce('gate', '');
});

test.each(guides.filter((guide) => guide !== MASTRA))(
  '%s runs from the package with the newest version',
  (guide) => {
    expectHeldOnce(guide, join(import.meta.dirname, '../../node_modules'));
  },
);

describe.skipIf(!hasMastra)('Mastra (absent without npm ci --prefix peers)', () => {
  test('mastra runs from the package with the newest version', () => {
    expectHeldOnce(MASTRA, MASTRA_MODULES);
  });
});

describe.skipIf(!hasOldest)('oldest versions (absent without npm ci --prefix peers/oldest)', () => {
  test.each(guides)('%s runs from the package with the oldest version', (guide) => {
    expectHeldOnce(guide, OLDEST_MODULES);
  });
});
