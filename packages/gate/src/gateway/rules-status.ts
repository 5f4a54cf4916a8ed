import { rulesInForce } from './judge/compiled-rules.ts';
import type { Rules } from './rules/rules.ts';
import type { GatewayState } from './schema.ts';

/** The part of some rules that is only observed at a time. */
export interface Observation {
  /** The first day (UTC) on which all rules hold. */
  readonly until: string;
  /** The agents whose calls a file only observes. Absent: those of every agent. */
  readonly agents?: readonly string[];
  /** The rules that are only observed by themselves. Absent: the file observes. */
  readonly rules?: readonly string[];
}

/** Undefined where every rule holds. */
export function observationOf(
  { mode, until = '', agents, ...lists }: Rules,
  now: string,
): Observation | undefined {
  if (mode === 'observe' && now < until)
    return { until, ...(agents !== undefined && { agents: [...agents] }) };
  const observed = [lists.rules, lists.limits, lists.read_before_write, lists.turns ?? []]
    .flat()
    .filter((each) => now < (each.until ?? ''));
  if (observed.length === 0) return undefined;
  const days = observed.map((each) => each.until ?? '').sort();
  return { until: days.at(-1) as string, rules: observed.map(({ id }) => id) };
}

/** `observing until 2026-12-14`. */
export function observingText({ until, agents, rules }: Observation): string {
  const which = [
    ...(agents === undefined ? [] : [`calls of ${agents.join(', ')}`]),
    ...(rules === undefined ? [] : [`rules ${rules.join(', ')}`]),
  ];
  return ['observing', ...which, `until ${until}`].join(' ');
}

/** The rules in force in a state, with what of them only judges at a time. */
export function rulesStatus(
  { rules }: Pick<GatewayState, 'rules'>,
  now: string,
): {
  readonly id: string;
  readonly digest: string;
  readonly observing?: Observation;
  readonly trial?: { readonly id: string; readonly digest: string; readonly until: string };
} {
  const { id, digest, trial } = rules;
  const observing = observationOf(rulesInForce({ rules }), now);
  return {
    ...{ id, digest },
    ...(observing !== undefined && { observing }),
    ...(trial !== undefined &&
      now < trial.until && {
        trial: { id: trial.id, digest: trial.digest, until: trial.until },
      }),
  };
}
