import { dim, green, line, type Output, red, shortJson, yellow } from '@assize/command';
import type { Amounts } from 'assize/internal/authority';
import { counted, shortId } from 'assize/internal/views';
import type {
  Parting,
  RulingCounts,
  SampleResult,
  Simulation,
  Step,
  VariantParting,
  VariantResult,
} from '#agents';

/** A simulation as text: a row for the record and each variant, the rules met, the partings. */
export function printSimulation(out: Output, simulation: Simulation): void {
  const { trajectoryId, at, recorded, variants, partings } = simulation;
  const samples = counted(variants[0]?.samples.length ?? 0, 'sample');
  out.line(
    line`${trajectoryId} from seq ${at.seq} (${shortId(at.id)}), ${samples} of each variant${ofSamples(variants)}:`,
  );
  out.line(line``);
  out.table(
    COLUMNS.map((title) => ({ title })),
    [recordRow(simulation), ...variants.map(variantRow)],
  );
  printRules(out, recorded.rulings.rules, variants);
  out.line(line``);
  for (const variant of variants) printParting(out, variant);
  for (const parting of partings) out.line(dim(variantsPart(parting)));
  for (const sample of faulty(variants)) out.line(red(faultText(sample)));
  if (recorded.leftOut > 0)
    out.line(
      yellow(`The branches do not have ${counted(recorded.leftOut, 'entry')} of other writers.`),
    );
}

const COLUMNS = [
  ...['variant', 'outcomes', 'turns', 'committed', 'rejected', 'escalated', 'approved', 'calls'],
  ...['questions', 'tokens', 'asked now', 'tokens now', 'spent'],
];

/** How the samples of a variant become one row. */
function ofSamples(variants: readonly VariantResult[]): string {
  if (variants.every(({ samples }) => samples.length === 1)) return '';
  const cut =
    faulty(variants).length > 0 ? ', of those that failed or have no answer up to there' : '';
  return `, medians of all samples${cut}`;
}

function recordRow({ recorded: { turns, rulings, calls, spent } }: Simulation): string[] {
  const { committed, rejected, escalated, approved } = rulings;
  const made = Object.values(calls).reduce((sum, n) => sum + n, 0);
  return [
    'the record',
    '',
    ...[turns, committed, rejected, escalated, approved, made].map(String),
    ...['', '', '', ''],
    amounts(spent),
  ];
}

function variantRow({ name, outcomes, medians, samples }: VariantResult): string[] {
  const ended = Object.entries(outcomes).filter(([, n]) => n > 0);
  const outcome = ended
    .map(([kind, n]) => (samples.length === 1 ? kind : `${n} ${kind}`))
    .join(', ');
  const { turns, committed, rejected, escalated, approved, calls, questions, asked } = medians;
  const tokens = medians.inputTokens + medians.outputTokens;
  const tokensNow = medians.askedInputTokens + medians.askedOutputTokens;
  const figures = [
    turns,
    committed,
    rejected,
    escalated,
    approved,
    calls,
    questions,
    tokens,
    asked,
    tokensNow,
  ];
  return [name, outcome, ...figures.map(String), amounts(medians.spent)];
}

function amounts(spent: Amounts): string {
  return Object.entries(spent)
    .map(([unit, amount]) => `${amount} ${unit}`)
    .join(', ');
}

/** Rejected and escalated proposals by rule, as the rows above. */
function printRules(
  out: Output,
  before: RulingCounts['rules'],
  variants: readonly VariantResult[],
): void {
  const all = [before, ...variants.map(({ medians }) => medians.rules)];
  const names = [
    ...new Set(
      [before, ...variants.map(({ rules }) => rules)].flatMap((rules) => Object.keys(rules)),
    ),
  ].sort();
  if (names.length === 0) return;
  out.line(line``);
  out.table(
    ['rule', 'the record', ...variants.map(({ name }) => name)].map((title) => ({ title })),
    names.map((rule) => [rule, ...all.map((rules) => ruleText(rules[rule]))]),
  );
}

function ruleText(met: RulingCounts['rules'][string] | undefined): string {
  const { rejected = 0, escalated = 0 } = met ?? {};
  const parts = [rejected > 0 && `${rejected} rejected`, escalated > 0 && `${escalated} escalated`];
  return parts.filter((part) => part !== false).join(', ');
}

function printParting(out: Output, { name, samples }: VariantResult): void {
  const parted = samples.filter(({ parts }) => parts !== undefined);
  if (parted.length === 0) {
    out.line(green(`${name} has the rulings of the record.`));
    return;
  }
  const [first] = parted as [SampleResult];
  const often =
    samples.length === 1
      ? ''
      : ` in ${counted(parted.length, 'sample')}, first in sample ${first.sample}`;
  out.line(
    line`${name} parts from the record${often}${atTurn(first.parts as Parting)}: ${sides(first.parts as Parting)}.`,
  );
}

function variantsPart(parting: VariantParting): string {
  const [one, other] = parting.variants;
  return `${one} and ${other} part in sample ${parting.sample}${atTurn(parting)}.`;
}

function atTurn({ turn }: Parting): string {
  return turn === undefined ? '' : ` at turn ${turn}`;
}

function sides({ one, other }: Parting): string {
  return `${stepText(one)}, now ${stepText(other)}`;
}

function stepText(step: Step | undefined): string {
  if (step === undefined) return 'the end';
  const { action, args, ruling, rule, reason } = step;
  const why = rule ?? reason;
  return `${action} ${shortJson(args)} ${ruling}${why === undefined ? '' : ` (${why})`}`;
}

function faulty(variants: readonly VariantResult[]): SampleResult[] {
  return variants.flatMap(({ samples }) => samples.filter(({ fault }) => fault !== undefined));
}

function faultText({ variant, sample, fault }: SampleResult): string {
  const { code, detail, tool, input } = fault as NonNullable<SampleResult['fault']>;
  const call = tool === undefined ? '' : ` ${tool} ${shortJson(input ?? null)}:`;
  return `${variant}, sample ${sample}: ${code}:${call} ${detail}`;
}
