import {
  bold,
  dim,
  line,
  type Output,
  type Printable,
  red,
  shortJson,
  type Value,
  yellow,
} from '@assize/command';
import { counted } from 'assize/internal/views';
import type {
  ArchitectureComparison,
  ArchitectureFigures,
  ComparedStep,
  Violation,
} from '../index.ts';

/** A comparison as text: a row for each architecture, a schedule for each broken rule. */
export function printComparison(
  out: Output,
  comparison: ArchitectureComparison,
  { judge }: { readonly judge?: string },
): void {
  const { architectures, left_out: leftOut } = comparison;
  for (const text of introduction(comparison)) out.line(line`${text}`);
  out.line(line``);
  const hasModel = architectures.some(({ model }) => model !== undefined);
  out.table(
    columns(hasModel),
    architectures.map((figures) => row(figures, hasModel)),
  );
  for (const figures of architectures)
    for (const violation of figures.violations) printViolation(out, figures, violation);
  out.line(line``);
  if (leftOut.length > 0)
    out.line(yellow(`Left out, because they call tools: ${leftOut.join(', ')}.`));
  for (const text of unreadableAnswers(architectures)) out.line(yellow(text));
  if (judge === undefined)
    out.line(dim('Add an LLM judge with --judge openai:NAME, openai:NAME@URL or anthropic:NAME.'));
}

function introduction(comparison: ArchitectureComparison): readonly string[] {
  const {
    domain,
    agents,
    population,
    turns,
    cases,
    contended_cases: contended,
    schedules,
    exhaustive,
    seed,
  } = comparison;
  const agentsText = `${counted(population, `${agents} agent`)} with ${counted(turns, 'turn')} each`;
  const contendedText =
    agents === 'given' ? '' : `, ${contended} of them with proposals that break a rule together`;
  const chosen = exhaustive ? 'all schedules' : 'some schedules';
  return [
    `${domain.name}@${domain.version}: ${agentsText} in ${counted(cases, 'case')}${contendedText}.`,
    `${counted(schedules, 'schedule')} under each architecture: ${chosen} of each case, seed ${seed}.`,
  ];
}

const RIGHT = { align: 'right' } as const;

function columns(hasModel: boolean): { readonly title: string; readonly align?: 'right' }[] {
  const figures = ['proposals', 'committed', 'rejected', 'escalated', 'valid refused', 'broken'];
  return [
    { title: 'architecture' },
    ...figures.map((title) => ({ title, ...RIGHT })),
    ...(hasModel ? ['asked', 'recorded', 'tokens'].map((title) => ({ title, ...RIGHT })) : []),
    { title: 'broken rules' },
  ];
}

function row(figures: ArchitectureFigures, hasModel: boolean): Value[] {
  const {
    architecture,
    proposals,
    committed,
    rejected,
    escalated,
    refused_valid: refused,
    model,
  } = figures;
  const { broken_schedules: broken, violations } = figures;
  const rules = [...new Set(violations.map(({ rule }) => rule))].join(', ');
  const tokens = model === undefined ? '' : model.input_tokens + model.output_tokens;
  const asked = hasModel ? [model?.asked ?? '', model?.recorded ?? '', tokens] : [];
  return [
    architecture,
    proposals,
    committed,
    rejected,
    escalated,
    refused,
    broken,
    ...asked,
    rules || 'none',
  ];
}

/** Maximum number of characters of a state or of arguments. */
const SHOWN_MAX = 160;

function printViolation(
  out: Output,
  { architecture }: ArchitectureFigures,
  violation: Violation,
): void {
  const { rule, kind, schedules, reached_by: earlier, start, steps, after } = violation;
  out.line(line``);
  out.line(
    line`${bold(`${architecture} breaks ${rule}`)} in ${counted(schedules, 'schedule')}, ${KINDS[kind]}`,
  );
  if (earlier.length > 0)
    out.line(
      line`  after   ${earlier.map(({ agent, action }) => `${agent} ${action}`).join(', ')}`,
    );
  out.line(line`  state   ${shortJson(start, SHOWN_MAX)}`);
  const width = Math.max(...steps.map(({ agent }) => agent.length));
  for (const step of steps) out.line(stepLine(step, width));
  out.line(line`  state   ${shortJson(after, SHOWN_MAX)}`);
}

/** By the kind of a violation. */
const KINDS = {
  skew: 'as a skew: the proposal is right on the state that its agent read.',
  let_through: 'let through: the proposal breaks it on the state that its agent read too.',
} as const;

function stepLine(step: ComparedStep, width: number): Printable {
  const agent = step.agent.padEnd(width);
  if (step.does === 'read') return line`  ${agent}  reads`;
  const submitted = line`  ${agent}  submits ${step.action} ${shortJson(step.args, SHOWN_MAX)}: ${step.outcome}`;
  if (step.breaks !== undefined)
    return line`${submitted}, ${red(step.breaks.map(({ rule, detail }) => `breaks ${rule}: ${detail}`).join('; '))}`;
  return step.reason === undefined ? submitted : line`${submitted}, ${step.reason}`;
}

function unreadableAnswers(architectures: readonly ArchitectureFigures[]): readonly string[] {
  return architectures
    .filter(({ unreadable }) => unreadable > 0)
    .map(
      ({ architecture, unreadable }) =>
        `${architecture}: ${counted(unreadable, 'answer')} could not be read. An answer that cannot be read rejects.`,
    );
}
