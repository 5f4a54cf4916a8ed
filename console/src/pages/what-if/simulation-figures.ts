import type { Simulation } from './use-simulation.ts';

/** One figure of the record and of each variant. */
export interface FigureRow {
  readonly label: string;
  /** Absent: the record has no such figure. */
  readonly record?: string;
  /** In the order of the variants. */
  readonly values: readonly string[];
}

type Rules = Simulation['recorded']['rulings']['rules'];

/** The rows of the table, and those of the rules that any of them met. */
export function figuresOf({ recorded, variants }: Simulation): {
  readonly figures: readonly FigureRow[];
  readonly rules: readonly FigureRow[];
} {
  const { turns, rulings, calls } = recorded;
  const of = (
    label: string,
    record: number | undefined,
    figureOf: (variant: (typeof variants)[number]) => number,
  ) => ({
    label,
    ...(record !== undefined && { record: shown(record) }),
    values: variants.map((variant) => shown(figureOf(variant))),
  });
  const made = Object.values(calls).reduce((sum, count) => sum + count, 0);
  const names = [rulings.rules, ...variants.map(({ rules }) => rules)].flatMap((rules) =>
    Object.keys(rules),
  );
  return {
    figures: [
      // A trajectory without a run of agents has entries, and no turns.
      of('Turns', turns === 0 ? undefined : turns, ({ medians }) => medians.turns),
      of('Committed', rulings.committed, ({ medians }) => medians.committed),
      of('Rejected', rulings.rejected, ({ medians }) => medians.rejected),
      of('Escalated', rulings.escalated, ({ medians }) => medians.escalated),
      of('Approved', rulings.approved, ({ medians }) => medians.approved),
      of('Calls', made, ({ medians }) => medians.calls),
      of('Questions', undefined, ({ medians }) => medians.questions),
      of('Tokens', undefined, ({ medians }) => medians.input_tokens + medians.output_tokens),
      of('Questions asked now', undefined, ({ medians }) => medians.asked),
      of(
        'Tokens asked now',
        undefined,
        ({ medians }) => medians.asked_input_tokens + medians.asked_output_tokens,
      ),
    ],
    rules: [...new Set(names)].sort().map((rule) => ({
      label: rule,
      record: ruleText(rulings.rules, rule),
      values: variants.map(({ medians }) => ruleText(medians.rules, rule)),
    })),
  };
}

function ruleText(rules: Rules, rule: string): string {
  const { rejected, escalated } = (Object.hasOwn(rules, rule) ? rules[rule] : undefined) ?? {
    rejected: 0,
    escalated: 0,
  };
  const parts = [
    rejected > 0 ? `${rejected} rejected` : '',
    escalated > 0 ? `${escalated} escalated` : '',
  ];
  return parts.filter((part) => part !== '').join(', ');
}

function shown(count: number): string {
  return count.toLocaleString('en');
}
