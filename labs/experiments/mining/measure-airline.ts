import {
  type Candidate,
  judgeRule,
  type MiningOptions,
  type MiningRun,
  mine,
} from '@assize/gate/internal/mining';
import { type RecordedRun, runKey } from '../../../examples/domains/tau/index.ts';
import { AIRLINE_RULES, type PolicyRule, type Visible } from './airline-rules.ts';

/** A mined rule, with the rule of the policy that says the same, if there is one. */
export interface FoundRule
  extends Pick<Candidate, 'id' | 'statement' | 'support' | 'confidence' | 'p'> {
  readonly policy_rule: string | null;
  /** Over all runs, also those without reward. */
  readonly everywhere: { readonly calls: number; readonly broken: number };
}

/** The rules of the airline's policy that its successful runs show. */
export interface AirlineMining {
  readonly runs: number;
  readonly successful: number;
  readonly calls: number;
  readonly mined: readonly FoundRule[];
  /** The share of mined rules that the policy has. Null if none was mined. */
  readonly precision: number | null;
  /** Rules of the policy, and those found, by the place where they show. */
  readonly recall: Readonly<
    Record<Visible | 'all', { readonly rules: number; readonly found: number }>
  >;
  /** Ids of the rules that calls show, and that were not found. */
  readonly missed: readonly string[];
}

/**
 * Mines the runs with reward 1 alone, and compares the result with the policy. A call that the
 * tool refused was let through, and failed.
 *
 * @throws MiningError; ArgumentError `bad_argument`
 */
export function measureAirline(
  recorded: readonly RecordedRun[],
  options: MiningOptions = {},
): AirlineMining {
  const runs = recorded.map(miningRun);
  const successful = runs.filter((_, i) => recorded[i]?.reward === 1);
  const mined = mine(successful, options).map((candidate): FoundRule => {
    const { id, statement, support, confidence, p, rule } = candidate;
    const everywhere = judgeRule(rule, runs);
    return {
      ...{ id, statement, support, confidence, p },
      policy_rule: AIRLINE_RULES.find(({ isSaidBy }) => isSaidBy?.(rule) === true)?.id ?? null,
      everywhere: { calls: everywhere.support.calls, broken: everywhere.counter_example_count },
    };
  });
  const found = new Set(mined.map(({ policy_rule }) => policy_rule));
  const recallOf = (rules: readonly PolicyRule[]) => ({
    rules: rules.length,
    found: rules.filter(({ id }) => found.has(id)).length,
  });
  const at = (place: Visible) => AIRLINE_RULES.filter(({ visible }) => visible === place);
  return {
    runs: runs.length,
    successful: successful.length,
    calls: successful.reduce((sum, { calls }) => sum + calls.length, 0),
    mined,
    precision:
      mined.length === 0
        ? null
        : mined.filter(({ policy_rule }) => policy_rule !== null).length / mined.length,
    recall: {
      calls: recallOf(at('calls')),
      results: recallOf(at('results')),
      talk: recallOf(at('talk')),
      all: recallOf(AIRLINE_RULES),
    },
    missed: at('calls').flatMap(({ id }) => (found.has(id) ? [] : [id])),
  };
}

function miningRun(run: RecordedRun): MiningRun {
  return {
    id: runKey(run),
    calls: run.calls.map(({ name, arguments: args }, i) => ({
      tool: name,
      args,
      ruling: 'committed',
      outcome: run.outputs.get(i)?.startsWith('Error') === true ? 'failed' : 'done',
      principal: `agent:${run.model}`,
    })),
  };
}
