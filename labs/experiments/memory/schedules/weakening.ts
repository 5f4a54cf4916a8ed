import type { Strategy } from 'assize/internal/memory/strategy.ts';
import { level, levelText, requirementOf } from '../isolation/index.ts';
import { find, type Visible } from './detect.ts';
import { type Discipline, type Execution, execute } from './execute.ts';
import type { Grid, Row } from './row.ts';
import { type Schedule, schedule } from './schedule.ts';

/** The operators of the paper (Table 2). */
export const OPERATORS = ['lww', 'evi', 'await', 'rule'] as const satisfies readonly Strategy[];
export type Operator = (typeof OPERATORS)[number];

/** The failures that weakening the precondition of an operator exposes (Table 9). */
export const EXPOSED: Readonly<Record<Operator, readonly Visible[]>> = {
  lww: ['P0', 'P1'],
  evi: ['A5A'],
  await: ['callback'],
  rule: ['P3'],
};

/** Whether an execution has what the operator's precondition is there to prevent. */
export function isExposed(operator: Operator, execution: Execution): boolean {
  return EXPOSED[operator].some((anomaly) => find(anomaly, execution).length > 0);
}

/**
 * The operator's step in transaction 1, and the step of another transaction in between, on rows
 * that only this step has. This is the minimal history of Table 9.
 */
export function stepOf(operator: Operator, place: number): Schedule {
  const other = place + 2;
  switch (operator) {
    case 'lww':
      return schedule(`w1[x${place}] w${other}[x${place}] a${other}`);
    case 'evi':
      return schedule(
        `r1[a${place}] w${other}[a${place}] w${other}[b${place}] c${other} r1[b${place}]`,
      );
    case 'await':
      return schedule(`w1[x${place}] cb1(h${place})`);
    case 'rule':
      return schedule(`r1[policy:*] w${other}[policy:${place}] c${other} r1[policy:*]`);
  }
}

/**
 * Table 9. It has no figures: each operator's history under a weaker level, and under the
 * declared level.
 */
export function weakening(): Grid {
  const rows = OPERATORS.flatMap((operator) => {
    const { tag, to } = WEAKENED[operator];
    const { declared } = requirementOf(operator);
    return [rowOf(operator, tag, to, 1), rowOf(operator, tag, declared, 0)];
  });
  return { name: 'weakening', source: 'Table 9', isExact: true, rows };
}

const WEAKENED: Readonly<Record<Operator, { readonly tag: string; readonly to: Discipline }>> = {
  lww: { tag: 'LWW-RU', to: 'none' },
  evi: { tag: 'EVI-RC', to: level('RC') },
  await: { tag: 'AWAIT-NOCB', to: level('RC') },
  rule: { tag: 'RULE-SI', to: level('SI') },
};

function rowOf(operator: Operator, tag: string, under: Discipline, expected: number): Row {
  const execution = execute([...stepOf(operator, 0), { tx: 1, kind: 'commit' }], under);
  return {
    cell: { history: tag, operator, level: under === 'none' ? under : levelText(under) },
    expected,
    found: Number(isExposed(operator, execution)),
  };
}
