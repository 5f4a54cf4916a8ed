/** Test files that each need a process of their own, beside the longest, which have one each anyway. As patterns. */
export const ALONE: readonly string[] = [
  // Processes that are said to have ended or to hang: what they wait for may come much later, and is then nobody's.
  'src/runtime/effects/*.test.ts',
  'src/runtime/erase.test.ts',
  'src/stores/postgres/*.test.ts',
  'src/stores/*/effects.test.ts',
  'src/tools/{branches,files,shell}/*.test.ts',
  'tests/attacks/aliases.test.ts',
  'tests/crash/*.test.ts',
  'tests/e2e/*effects*.test.ts',
  'tests/faults/*.test.ts',
  'tests/properties/effects-*.test.ts',
  'tests/properties/files.test.ts',
  'tests/properties/forged.test.ts',
  // Put something else in the place of a module, or load modules anew.
  'src/authority/check.test.ts',
  'src/oracle/random.test.ts',
  'src/stores/sqlite/{fault,rewrite,writing-aside,writing-thread}.test.ts',
  'src/tables/plot.test.ts',
  'tests/e2e/cli-anomalies.test.ts',
  'tests/properties/copies.test.ts',
  // Hear of what nobody catches, or cut clocks and chance off, for the whole process.
  'src/anomalies/postgres/together.test.ts',
  'src/runtime/subscriptions.test.ts',
  'tests/properties/runs.test.ts',
];
