import type { Amounts } from 'assize/internal/ledger';
import type { RecordedToolCall } from 'assize/internal/runtime';
import type { Production } from './production.ts';
import { type SampleOutcome, type SampleResult, spentBy } from './sample-result.ts';
import { type Parting, partingOf, type Step } from './steps.ts';

/** Rulings by kind, and rulings of rules. */
export interface RulingCounts {
  readonly committed: number;
  readonly rejected: number;
  /** Approvals asked. */
  readonly escalated: number;
  /** Decisions of people. */
  readonly approved: number;
  readonly refused: number;
  /** How often each rule rejected or escalated, by rule. Proposals without a rule are left out. */
  readonly rules: {
    readonly [rule: string]: { readonly rejected: number; readonly escalated: number };
  };
}

/** The record after the shared entry, for comparison. */
export interface RecordedSummary {
  readonly turns: number;
  readonly rulings: RulingCounts;
  /** Calls by tool. */
  readonly calls: { readonly [tool: string]: number };
  readonly spent: Amounts;
  /** Entries of other writers. The branches do not have them. */
  readonly leftOut: number;
}

/** The samples of one variant. */
export interface VariantResult {
  readonly name: string;
  readonly outcomes: Readonly<Record<SampleOutcome, number>>;
  /**
   * Over all samples. One that failed or has no answer to a call counts with its part up to there.
   * The median of an even number is the lower one.
   */
  readonly medians: SampleFigures;
  /** How often each rule rejected or escalated in all samples. */
  readonly rules: RulingCounts['rules'];
  /** Calls of all samples by tool and source. */
  readonly calls: {
    readonly [tool: string]: { readonly record: number; readonly simulator: number };
  };
  /** The amounts of all samples, by unit. */
  readonly spent: Amounts;
  readonly samples: readonly SampleResult[];
}

export interface SampleFigures {
  readonly turns: number;
  readonly committed: number;
  readonly rejected: number;
  readonly escalated: number;
  readonly approved: number;
  readonly calls: number;
  /** Questions to models and services that were not answered by the record, and their tokens. */
  readonly questions: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Those asked now: `record` and the other samples had no answer. */
  readonly asked: number;
  readonly askedInputTokens: number;
  readonly askedOutputTokens: number;
  /** Amounts by unit. */
  readonly spent: Amounts;
  /** How often each rule rejected or escalated. */
  readonly rules: RulingCounts['rules'];
}

/** The figures that are single numbers. */
type Count = Exclude<keyof SampleFigures, 'spent' | 'rules'>;

/** The first sample-by-sample difference of two variants. */
export interface VariantParting extends Parting {
  readonly variants: readonly [string, string];
  readonly sample: number;
}

export function summaryOf({
  steps,
  callsAfter,
  turns,
  sharedTurns,
  leftOut,
}: Production): RecordedSummary {
  return {
    turns: turns.length - sharedTurns,
    rulings: countsOf(steps),
    calls: Object.fromEntries(
      [...Map.groupBy(callsAfter, toolOf)].map(([tool, calls]) => [tool, calls.length]),
    ),
    spent: spentBy(steps),
    leftOut,
  };
}

function toolOf({ tool }: Pick<RecordedToolCall, 'tool'>): string {
  return tool;
}

export function countsOf(steps: readonly Step[]): RulingCounts {
  const count = (ruling: Step['ruling']): number =>
    steps.filter((step) => step.ruling === ruling).length;
  return {
    committed: count('committed'),
    rejected: count('rejected'),
    escalated: count('escalated'),
    approved: count('approved'),
    refused: count('refused'),
    rules: rulesIn(steps),
  };
}

function rulesIn(steps: readonly Step[]): RulingCounts['rules'] {
  const met = steps.filter(
    ({ ruling, rule }) => rule !== undefined && (ruling === 'rejected' || ruling === 'escalated'),
  );
  const byRule = [...Map.groupBy(met, ({ rule }) => rule as string)].sort(([one], [other]) =>
    one < other ? -1 : 1,
  );
  return Object.fromEntries(
    byRule.map(([rule, of]) => {
      const rejected = of.filter(({ ruling }) => ruling === 'rejected').length;
      return [rule, { rejected, escalated: of.length - rejected }];
    }),
  );
}

export function variantResult(name: string, samples: readonly SampleResult[]): VariantResult {
  const outcomes = { done: 0, waits: 0, stuck: 0, limit: 0, no_answer: 0, failed: 0 };
  for (const { outcome } of samples) outcomes[outcome]++;
  const steps = samples.flatMap((sample) => sample.steps);
  const figures = samples.map(figuresOf);
  const median = (of: Count): number => medianOf(figures.map((one) => one[of]));
  return {
    name,
    outcomes,
    medians: {
      turns: median('turns'),
      committed: median('committed'),
      rejected: median('rejected'),
      escalated: median('escalated'),
      approved: median('approved'),
      calls: median('calls'),
      questions: median('questions'),
      inputTokens: median('inputTokens'),
      outputTokens: median('outputTokens'),
      asked: median('asked'),
      askedInputTokens: median('askedInputTokens'),
      askedOutputTokens: median('askedOutputTokens'),
      spent: medianAmounts(figures.map(({ spent }) => spent)),
      rules: medianRules(figures.map(({ rules }) => rules)),
    },
    rules: rulesIn(steps),
    calls: callsIn(samples),
    spent: spentBy(steps),
    samples,
  };
}

function figuresOf({ turns, steps, calls, spent, asked: questions }: SampleResult): SampleFigures {
  const { committed, rejected, escalated, approved, rules } = countsOf(steps);
  const { recorded: _, repeated, asked, ...tokens } = questions;
  return {
    ...{ turns, committed, rejected, escalated, approved, calls: calls.length, spent, rules },
    ...{ questions: repeated + asked, asked, ...tokens },
  };
}

/** The median of each unit. A sample without a unit spent 0 of it. */
function medianAmounts(spent: readonly Amounts[]): Amounts {
  return Object.fromEntries(
    namesIn(spent).map((unit) => [unit, medianOf(spent.map((one) => one[unit] ?? 0))]),
  );
}

function medianRules(rules: readonly RulingCounts['rules'][]): RulingCounts['rules'] {
  return Object.fromEntries(
    namesIn(rules).map((rule) => {
      const median = (of: 'rejected' | 'escalated'): number =>
        medianOf(rules.map((met) => met[rule]?.[of] ?? 0));
      return [rule, { rejected: median('rejected'), escalated: median('escalated') }];
    }),
  );
}

function namesIn(records: readonly object[]): string[] {
  return [...new Set(records.flatMap((record) => Object.keys(record)))].sort();
}

function callsIn(samples: readonly SampleResult[]): VariantResult['calls'] {
  const byTool = Map.groupBy(
    samples.flatMap(({ calls }) => calls),
    toolOf,
  );
  return Object.fromEntries(
    [...byTool].map(([tool, calls]) => {
      const record = calls.filter(({ from }) => from === 'record').length;
      return [tool, { record, simulator: calls.length - record }];
    }),
  );
}

/** The lower median. */
function medianOf(values: readonly number[]): number {
  return [...values].sort((one, other) => one - other)[Math.ceil(values.length / 2) - 1] as number;
}

/** For each pair of variants the first sample with different rulings, at its first such ruling. */
export function variantPartings(variants: readonly VariantResult[]): VariantParting[] {
  return variants.flatMap((first, i) =>
    variants.slice(i + 1).flatMap((second) => {
      for (const [sample, { steps }] of first.samples.entries()) {
        const parting = partingOf(steps, second.samples[sample]?.steps ?? []);
        if (parting !== undefined)
          return [{ variants: [first.name, second.name] as const, sample, ...parting }];
      }
      return [];
    }),
  );
}
