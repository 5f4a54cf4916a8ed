import { join } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The slowest test files, slowest first. If a slow file starts last, the other workers wait for it.
 */
const LONGEST = [
  'tests/crash/keys.test.ts',
  'tests/properties/confinement.test.ts',
  'tests/e2e/package.test.ts',
  'tests/properties/theorems.test.ts',
  'tests/crash/sqlite-kill.test.ts',
  'src/stores/postgres/effects/effects.test.ts',
  'tests/properties/confinement-with-counselor.test.ts',
  'experiments/effects/experiments/own-experiments.test.ts',
  'src/tools/sql/staged-sql-release.test.ts',
  'tests/properties/mutants.test.ts',
  'src/stores/postgres/facts/facts.test.ts',
  'experiments/effects/experiments/isolation.test.ts',
  'experiments/effects/experiments/experiments.test.ts',
  'tests/crash/tools-kill.test.ts',
  'tests/crash/sql-kill.test.ts',
  'tests/crash/mixed-kill.test.ts',
  'tests/corruption/ledger.test.ts',
  'src/effects/protocol.test.ts',
  'tests/properties/memory-grid.test.ts',
  'tests/e2e/cli.test.ts',
  'experiments/tests/cli-adjudicate.test.ts',
  'tests/e2e/cli-ledger.test.ts',
  'tests/properties/budget.test.ts',
  'tests/faults/files-crash.test.ts',
  'src/domains/disclosure/walk.test.ts',
  'tests/crash/beliefs-kill.test.ts',
  'experiments/effects/experiments/tasks.test.ts',
  'tests/properties/bad-input.test.ts',
  'tests/properties/deep-replay.test.ts',
  'tests/crash/postgres-kill.test.ts',
  'tests/e2e/guides.test.ts',
  'ontology/tests/ontology-guide.test.ts',
  'tests/properties/runs.test.ts',
  'tests/properties/shipped-domains.test.ts',
  'tests/crash/faults.test.ts',
  'src/stores/postgres/store.test.ts',
  'src/stores/sqlite/fault.test.ts',
  'src/stores/postgres/open.test.ts',
  'tests/crash/sqlite-damage.test.ts',
  'src/testing/faulty-store.test.ts',
  'experiments/tests/cli-faults.test.ts',
  'src/runtime/memory/erase-facts.test.ts',
  'src/runtime/memory/erase-facts-traces.test.ts',
  'src/stores/postgres/writer/group-commit.test.ts',
  'domains/airline/benchmark.test.ts',
  'tests/e2e/cli-memory.test.ts',
  'tests/e2e/cli-memory-import.test.ts',
  'tests/faults/effects-crash.test.ts',
  'experiments/tests/cli-anomalies.test.ts',
  'tests/e2e/domains-guide.test.ts',
  'tests/properties/backtest.test.ts',
  'tests/properties/attenuation.test.ts',
  'src/effects/frontier.test.ts',
  'domains/moderation/life-cycle.test.ts',
  'tests/types/wrong.test.ts',
].map((file) => join(import.meta.dirname, '../..', file));

/**
 * Without results of an earlier run, as after a clean install, files would be sorted by size, which
 * does not predict their time.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.indexOf(moduleId);
      return at === -1 ? LONGEST.length : at;
    };
    return sorted.sort((a, b) => rank(a) - rank(b));
  }
}
