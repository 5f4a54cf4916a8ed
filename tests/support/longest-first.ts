import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/** Files that take longest, those first that take most. One that is begun last is waited for while all else is idle. */
export const LONGEST: readonly string[] = [
  'tests/crash/keys.test.ts',
  'tests/properties/theorems.test.ts',
  'tests/properties/mutants.test.ts',
  'tests/properties/confinement.test.ts',
  'tests/faults/files-crash.test.ts',
  'tests/properties/confinement-with-counselor.test.ts',
  'tests/crash/sqlite-kill.test.ts',
  'tests/crash/tools-kill.test.ts',
  'tests/crash/postgres-kill.test.ts',
  'src/effects/protocol.test.ts',
  'tests/e2e/python-verifier.test.ts',
  'tests/crash/sqlite-damage.test.ts',
  'tests/properties/bad-input.test.ts',
  'src/stores/postgres/effects.test.ts',
  'src/faults/experiments/tasks.test.ts',
  'tests/crash/faults.test.ts',
  'tests/properties/budget.test.ts',
  'tests/e2e/package.test.ts',
  'tests/e2e/guides.test.ts',
  'tests/e2e/domains-guide.test.ts',
  'src/stores/postgres/store.test.ts',
  'domains/moderation/life-cycle.test.ts',
  'domains/disclosure/walk.test.ts',
  'tests/properties/backtest.test.ts',
  'tests/crash/effects-kill.test.ts',
  'src/faults/experiments/isolation.test.ts',
  'src/faults/experiments/experiments.test.ts',
  'src/faults/experiments/beyond-the-paper.test.ts',
  'domains/airline/benchmark.test.ts',
  'tests/corruption/ledger.test.ts',
];

/** Without results of an earlier run, as after a clean install, files would be taken by their size, which says nothing of their time. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const paths = LONGEST.map((file) => join(import.meta.dirname, '../..', file));
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = paths.indexOf(moduleId);
      return at === -1 ? paths.length : at;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
