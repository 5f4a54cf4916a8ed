import type { ConformanceReport } from './run-conformance.ts';
import { SCENARIOS } from './scenarios/all.ts';

export interface UnjudgedDriver {
  /** The name in the table. The driver has not told its own. */
  readonly driver: string;
  readonly reason: string;
  /** The names of the scenarios that were to be run. Default: all. */
  readonly scenarios?: readonly string[] | undefined;
}

/** The report on a driver that could not be run: each scenario is an error. */
export function unjudgedReport({ driver, reason, scenarios }: UnjudgedDriver): ConformanceReport {
  const [control] = SCENARIOS;
  const chosen = SCENARIOS.filter(
    (each) => each === control || scenarios?.includes(each.name) !== false,
  );
  const verdicts = chosen.map(({ name: scenario }) => ({
    ...{ scenario, verdict: 'error' as const, reasons: [reason], findings: [], effects: [] },
  }));
  return { driver, versions: {}, verdicts, isConforming: false };
}
