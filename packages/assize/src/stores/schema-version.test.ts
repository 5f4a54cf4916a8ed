import { expect, test } from 'vitest';
import type { OpenMode } from './options.ts';
import { checkVersion, migrationsIn, UNRELEASED_MAX, versionAfter } from './schema-version.ts';

const MODES: readonly OpenMode[] = ['create', 'existing', 'readonly'];
const SUPPORTED = versionAfter(3);

/** The error code of the rejection; undefined if the store can be opened. */
function rejected(version: number, mode: OpenMode): string | undefined {
  try {
    checkVersion('there', version, SUPPORTED, mode);
    return undefined;
  } catch (error) {
    const { code, evidence } = error as { code: string; evidence: unknown };
    expect(evidence).toEqual({ path: 'there', schema: version, supported: SUPPORTED });
    return code;
  }
}

test.each(MODES)('accepts the supported schema and rejects a newer one, mode %s', (mode) => {
  expect(rejected(SUPPORTED, mode)).toBeUndefined();
  expect(rejected(SUPPORTED + 1, mode)).toBe('store_other_schema');
});

test('a writer migrates an older schema, and a reader rejects it', () => {
  for (const version of [versionAfter(1), versionAfter(2)]) {
    expect(rejected(version, 'create')).toBeUndefined();
    expect(rejected(version, 'existing')).toBeUndefined();
    expect(rejected(version, 'readonly')).toBe('store_other_schema');
  }
});

test.each(MODES)('rejects every schema of a development version, mode %s', (mode) => {
  for (const version of [-1, 0, 1, UNRELEASED_MAX])
    expect(rejected(version, mode)).toBe('store_other_schema');
});

test('counts the migrations of a store by its version', () => {
  expect([0, 1, 2, 3].map((n) => migrationsIn(versionAfter(n)))).toEqual([0, 1, 2, 3]);
  expect(migrationsIn(0)).toBe(0);
});
