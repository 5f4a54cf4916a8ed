import { addMicros } from 'assize/internal/canon';
import type { FactRow } from 'assize/internal/memory/fact.ts';
import { OPEN_END } from 'assize/internal/memory/period.ts';
import { type Assertion, type PlanInput, planAssert } from 'assize/internal/memory/plan.ts';
import { mergeProvenance, Polynomial, writeToken } from 'assize/internal/memory/provenance';
import { answerOf } from 'assize/internal/memory/question.ts';
import { applyPlan } from 'assize/internal/memory/read.ts';
import { type Bytes, RandomDraws, requireCount } from './random-draws.ts';
import type { Grid, Row } from './row.ts';
import { OPERATORS, type Operator } from './weakening.ts';

/** The paper's values (Table 21). Their generator is not published. */
const PRINTED: Readonly<Record<Operator, readonly number[]>> = {
  lww: [0.08, 0.24, 0.08],
  evi: [0.46, 0.88, 0.6],
  await: [0.94, 0.4, 0.64],
  rule: [0.62, 0.52, 0.98],
};

/** The three workloads, and the operator that uses the reliable source of each. */
const MATCHED = { N1: 'await', N2: 'evi', N3: 'rule' } as const satisfies Readonly<
  Record<string, Operator>
>;
type Workload = keyof typeof MATCHED;
const WORKLOADS = Object.keys(MATCHED) as Workload[];

/** How often what knows the truth is wrong all the same. */
const NOISE = 0.05;

/**
 * Table 21: how often each operator ends with the true one of two contradicting facts. In each
 * workload one source knows the true fact, except for the noise: a human (N1), the confidence (N2),
 * a policy (N3). The two other sources know nothing, and the last assertion is wrong. The package's
 * own plans settle all contradictions.
 */
export function operatorAblation(random: Bytes, trials = 50): Grid {
  requireCount(trials, 'trials');
  const chance = new RandomDraws(random);
  const rows = OPERATORS.flatMap((operator) =>
    WORKLOADS.map((workload, i): Row => {
      let right = 0;
      for (let trial = 0; trial < trials; trial++)
        if (endsRight(operator, workload, chance)) right += 1;
      return {
        cell: { operator, workload },
        expected: knows(operator, workload),
        found: right / trials,
        reported: PRINTED[operator][i]!,
        because: 'its generator is not published',
      };
    }),
  );
  return { name: 'operator ablation', source: 'Table 21', isExact: false, rows };
}

/** How often what the operator goes by is right. */
function knows(operator: Operator, workload: Workload): number {
  if (operator === 'lww') return NOISE;
  return MATCHED[workload] === operator ? 1 - NOISE : 0.5;
}

function endsRight(operator: Operator, workload: Workload, chance: RandomDraws): boolean {
  const isRight = (by: Operator): boolean => chance.isSo(knows(by, workload));
  const [last, sure, person, policy] = [
    isRight('lww'),
    isRight('evi'),
    isRight('await'),
    isRight('rule'),
  ];
  const fact = (object: 'true' | 'false', nth: number): Assertion => ({
    claim: `${object} ${nth}`,
    object,
    valid: { from: AT, to: OPEN_END },
    confidence: sure === (object === 'true') ? 0.8 : 0.4,
    provenance: String(Polynomial.of(writeToken(nth))),
  });
  const told = last ? (['false', 'true'] as const) : (['true', 'false'] as const);
  let rows: readonly FactRow[] = [];
  for (const [nth, object] of told.entries())
    rows = settled(operator, rows, fact(object, nth), operator === 'await' ? person : policy);
  const believed = rows.filter(
    (row) => row.row_kind === 'current' && row.system_time_end === OPEN_END,
  );
  return believed.length === 1 && believed[0]!.object === 'true';
}

/** The rows after one commit. The judge elects the true fact if it is known. */
function settled(
  operator: Operator,
  rows: readonly FactRow[],
  said: Assertion,
  isKnown: boolean,
): readonly FactRow[] {
  const writing: PlanInput = {
    partition: { space: 'ablation', subject: 'alice', predicate: 'medication' },
    declaration: { cardinality: 'single-valued', strategy: operator, remainder: 'keep' },
    open: rows.filter((row) => row.row_kind === 'current' && row.system_time_end === OPEN_END),
    latest: rows.at(-1)?.system_time_start ?? null,
    at: addMicros(AT, rows.length),
    seq: rows.length + 1,
    merge: mergeProvenance,
  };
  const plan = planAssert(writing, [said]);
  if (plan.kind === 'plan') return applyPlan(rows, plan);
  const answers = plan.questions.map((question) =>
    answerOf(
      question,
      question.members.findIndex(({ object }) => (object === 'true') === isKnown),
    ),
  );
  const answered = planAssert({ ...writing, answers }, [said]);
  return answered.kind === 'plan' ? applyPlan(rows, answered) : rows;
}

const AT = '2026-04-15T00:00:00.000000Z';
