import { join, relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = join(import.meta.dirname, '../..');

/**
 * Short files that take long. Without times of an earlier run, Vitest starts the largest files
 * first. So these files would start last, and most workers would end before them.
 */
export const LONGEST: readonly string[] = [
  'tests/e2e/guides.long.test.ts',
  'tests/attacks/server.long.test.ts',
  'tests/corruption/tamper-matrix.long.test.ts',
  'tests/properties/handed-out.slow.test.ts',
  'tests/console/states.long.test.ts',
  'packages/cli/tests/tour.long.test.ts',
  'packages/server/tests/server-guides.long.test.ts',
  'packages/cli/tests/cli-passwords.long.test.ts',
  'tests/properties/mixed-schedules.slow.test.ts',
  'packages/postgres/src/effects/effects.slow.test.ts',
  'packages/postgres/src/store.slow.test.ts',
  'tests/crash/stuck.long.test.ts',
  'tests/crash/serve-stop.long.test.ts',
  'tests/crash/serve-kill.slow.test.ts',
  'packages/tools/tests/tools-guide.long.test.ts',
  'tests/console/screenshots.long.test.ts',
  'labs/browser/submit-tool.long.test.ts',
  'labs/browser/browser-tools.long.test.ts',
  'packages/assize/src/runtime/transactions/limits/answer-size.slow.test.ts',
];

/** Starts the longest files first, after those with a process of their own. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const places = new Map(sorted.map((file) => [file, placeOf(file)]));
    return sorted.sort((a, b) => places.get(a)! - places.get(b)!);
  }
}

function placeOf({ moduleId, project }: TestSpecification): number {
  if (project.config.isolate) return -1;
  const place = LONGEST.indexOf(relative(root, moduleId).replaceAll(sep, '/'));
  return place < 0 ? LONGEST.length : place;
}
