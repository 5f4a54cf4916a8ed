import { join, relative, sep } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

const root = join(import.meta.dirname, '../..');

/**
 * Short files that take long. Without times of an earlier run, Vitest starts the largest files
 * first. So these files would start last, and most workers would end before them.
 */
export const LONGEST: readonly string[] = [
  'tests/e2e/guides.slow.test.ts',
  'tests/attacks/server.slow.test.ts',
  'tests/crash/stuck-serve.slow.test.ts',
  'tests/corruption/tamper-matrix.slow.test.ts',
  'tests/properties/handed-out.slow.test.ts',
  'tests/console/states.slow.test.ts',
  'tests/e2e/tour.slow.test.ts',
  'tests/e2e/server-guides.slow.test.ts',
  'tests/e2e/cli-passwords.slow.test.ts',
  'tests/properties/mixed-schedules.slow.test.ts',
  'src/stores/postgres/effects/effects.slow.test.ts',
  'src/stores/postgres/store.slow.test.ts',
  'tests/crash/stuck.slow.test.ts',
  'tests/crash/serve-stop.slow.test.ts',
  'tests/crash/serve-kill.slow.test.ts',
  'tests/e2e/tools-guide.slow.test.ts',
  'tests/console/screenshots.slow.test.ts',
  'src/tools/browser/submit-tool.test.ts',
  'src/tools/browser/browser-tools.test.ts',
  'src/runtime/transactions/limits/answer-size.test.ts',
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
