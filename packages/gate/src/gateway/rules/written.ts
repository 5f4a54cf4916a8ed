import type { Json } from 'assize/internal/base';
import { type Presentation, presentation } from 'assize/internal/kernel';
import { z } from 'zod';
import { agentName, toolPattern } from '../name-forms.ts';
import { plainRules } from './faults.ts';
import { flowText } from './flow-text.ts';
import { rules as normalRules, type Rule, type Rules } from './rules.ts';

/** The written form: `assize.yaml`. One value may stand for a list of one. */

const oneOrMore = <T extends z.ZodType>(item: T): z.ZodUnion<[T, z.ZodArray<T>]> =>
  z.union([item, z.array(item).min(1)]);

const shape = normalRules.shape;
const ruleShape = shape.rules.element.shape;
const patterns = oneOrMore(toolPattern);
const texts = oneOrMore(z.string());

const tool = shape.tools.element.omit({ name: true }).extend({
  reads: texts.optional(),
  writes: texts.optional(),
  hosts: texts.optional(),
  present: presentation.optional(),
});

const rule = z.strictObject({
  id: ruleShape.id,
  allow: patterns.optional(),
  deny: patterns.optional(),
  ask: patterns.optional(),
  class: oneOrMore(z.enum(['read', 'reversible', 'irreversible'])).optional(),
  agents: oneOrMore(agentName).optional(),
  path: texts.optional(),
  host: texts.optional(),
  amount: ruleShape.amount,
  where: ruleShape.where,
  approvals: ruleShape.approvals,
  minutes: ruleShape.minutes,
  standing: ruleShape.standing,
  because: ruleShape.because,
  mode: ruleShape.mode,
  until: ruleShape.until,
});

const limitShape = shape.limits.element.shape;
const limit = shape.limits.element.extend({
  tools: patterns,
  each: oneOrMore(z.enum(['agent', 'tool'])).optional(),
  id: limitShape.id,
});

const readFirst = shape.read_before_write.element.extend({
  tools: patterns,
  path: texts.optional(),
});

const turn = shape.turns.unwrap().element.extend({ tools: patterns });

const CALL = z.string().regex(/^[^*]+\/[^*]+$/, 'write server/tool');

const reaches = z.array(z.string()).optional();

const step = z.strictObject({
  call: CALL.optional(),
  args: z.record(z.string(), z.unknown()).optional(),
  /** The parts of the call, as hooks find them. */
  parts: z
    .array(z.strictObject({ call: CALL, args: z.record(z.string(), z.unknown()), reaches }))
    .optional(),
  /** The places that the call may reach beside those that it names. */
  reaches,
  /** The folder that `${project}` stands for. */
  project: z.string().optional(),
  agent: agentName.optional(),
  /** An instant, or a time after the step before, such as `+90m`. */
  at: z.string().optional(),
  expect: z.enum(['allow', 'deny', 'ask']).optional(),
  rule: z.string().optional(),
  approved_by: oneOrMore(z.string()).optional(),
  outcome: z.enum(['done', 'failed', 'unknown', 'open']).optional(),
  /** Asks for a standing approval instead of a call. */
  stand: z
    .strictObject({
      tools: patterns,
      uses: z.int().min(1),
      amounts: z.record(z.string(), z.int().min(0)).optional(),
      hours: z.number().positive(),
    })
    .optional(),
});

const oneCase = z.strictObject({ name: z.string().min(1), steps: z.array(step).min(1) });
export type WrittenCase = z.infer<typeof oneCase>;
export type WrittenStep = z.infer<typeof step>;

export const casesFile: z.ZodObject<{ cases: z.ZodArray<typeof oneCase> }> = z.strictObject({
  cases: z.array(oneCase),
});

export const written = z.strictObject({
  id: shape.id,
  mode: shape.mode,
  until: shape.until,
  agents: oneOrMore(agentName).optional(),
  default: shape.default.optional(),
  unknown: shape.unknown.optional(),
  trust: shape.trust.optional(),
  tools: z.record(z.string(), tool).optional(),
  rules: z.array(rule).optional(),
  limits: z.array(limit).optional(),
  read_before_write: z.array(readFirst).optional(),
  turns: z.array(turn).optional(),
  standing: z
    .strictObject({
      uses: shape.standing.shape.uses.optional(),
      hours: shape.standing.shape.hours.optional(),
      amounts: shape.standing.shape.amounts.optional(),
    })
    .optional(),
  cases: z.array(oneCase).optional(),
});
export type Written = z.infer<typeof written>;

type Path = readonly (string | number)[];

/** The rules that a file says, and the written place of each place of their normal form. */
export interface Normal {
  readonly rules: Rules;
  /** By tool. A presentation makes no tool known to the rules. */
  readonly presented: Readonly<Record<string, Presentation>>;
  readonly written: (path: Path) => Path;
}

/** The normal form of a file that fits the schema. */
export function normalised(file: Written): Normal {
  const all = Object.entries(file.tools ?? {});
  const presented = all.flatMap(([name, { present }]) => (present ? [[name, present]] : []));
  const tools = all.filter(([, { present, ...spec }]) => !present || Object.keys(spec).length > 0);
  const rules: Rules = {
    id: file.id,
    ...present(file, ['mode', 'until']),
    ...lists(file, ['agents']),
    default: file.default ?? 'ask',
    unknown: file.unknown ?? 'ask',
    trust: [...(file.trust ?? [])],
    tools: tools.map(([name, spec]) => ({
      name,
      ...present(spec, ['class', 'amounts', 'root', 'names_only', 'undo']),
      ...lists(spec, ['reads', 'writes', 'hosts']),
    })) as Rules['tools'],
    rules: (file.rules ?? []).map(
      (each) =>
        ({
          id: each.id,
          effect: effectOf(each),
          tools: listOf(each[effectOf(each)]),
          ...lists(each, ['class', 'agents', 'path', 'host']),
          ...present(each, [
            'amount',
            'where',
            'approvals',
            'minutes',
            'standing',
            'because',
            'mode',
            'until',
          ]),
        }) as Rule,
    ),
    limits: (file.limits ?? []).map((each) => ({
      ...present(each, ['id', 'per', 'max', 'unit', 'because', 'mode', 'until']),
      ...lists(each, ['tools', 'each']),
    })) as Rules['limits'],
    read_before_write: (file.read_before_write ?? []).map((each) => ({
      ...present(each, ['id', 'hours', 'because', 'mode', 'until']),
      ...lists(each, ['tools', 'path']),
    })) as Rules['read_before_write'],
    ...(file.turns !== undefined && {
      turns: file.turns.map((each) => ({
        ...present(each, ['id', 'minutes', 'because', 'mode', 'until']),
        ...lists(each, ['tools']),
      })) as Rules['turns'],
    }),
    standing: {
      uses: file.standing?.uses ?? 100,
      hours: file.standing?.hours ?? 24,
      amounts: { ...file.standing?.amounts },
    },
  };
  return {
    rules,
    presented: Object.fromEntries(presented),
    written: ([list, index, member, ...rest]) => {
      if (list === 'tools' && typeof index === 'number') {
        const name = tools[index]?.[0] as string;
        return member === undefined || member === 'name'
          ? ['tools', name]
          : ['tools', name, member, ...rest];
      }
      const of = list === 'rules' && typeof index === 'number' ? file.rules?.[index] : undefined;
      const key = of !== undefined && member === 'tools' ? effectOf(of) : member;
      return [list, index, key, ...rest].filter((part) => part !== undefined);
    },
  };
}

type Named = Readonly<Record<string, Json>>;

/** The text of a rules file that has these rules, with one line for each rule and tool. */
export function fileText(rules: Rules): string {
  const { id, tools, ...more } = plainRules(rules) as { readonly tools: readonly Named[] } & Named;
  const specs = tools.map(({ name, ...spec }) => [name, spec]);
  return Object.entries({ id, ...more, tools: Object.fromEntries(specs) as Named })
    .map(([name, value]) => {
      const lines = Array.isArray(value)
        ? value.map((each) => `  - ${flowText(writtenOf(each as Json))}\n`)
        : Object.entries(typeof value === 'object' ? (value as Named) : {}).map(
            ([key, each]) => `  ${flowText(key)}: ${flowText(each)}\n`,
          );
      return lines.length === 0
        ? `${name}: ${flowText(value as Json)}\n`
        : `${name}:\n${lines.join('')}`;
    })
    .join('');
}

/** The line of a rule in the text of a file. */
export function ruleLine(rules: Rules, id: string): string | undefined {
  const { limits, read_before_write, turns = [] } = rules;
  const found = [rules.rules, limits, read_before_write, turns].flat().find((one) => one.id === id);
  return found && flowText(writtenOf(found as Json));
}

/** A rule of the normal form as a file has it. */
function writtenOf(each: Json): Json {
  if (typeof each !== 'object') return each;
  const { id, effect = 'tools', tools, ...more } = each as Named;
  return { id, [effect as string]: tools, ...more } as Json;
}

/** The one effect of a written rule. */
export function effectOf(each: z.infer<typeof rule>): Rule['effect'] {
  return each.allow !== undefined ? 'allow' : each.deny !== undefined ? 'deny' : 'ask';
}

/** The effects that a written rule names. */
export function effectsOf(rule: {
  readonly allow?: unknown;
  readonly deny?: unknown;
  readonly ask?: unknown;
}): string[] {
  return (['allow', 'deny', 'ask'] as const).filter((effect) => rule[effect] !== undefined);
}

export function listOf<T>(value: T | readonly T[] | undefined): readonly T[] {
  return value === undefined ? [] : Array.isArray(value) ? value : [value as T];
}

function present(from: object, members: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(from).filter(([key, value]) => members.includes(key) && value !== undefined),
  );
}

function lists(from: object, members: readonly string[]): object {
  return Object.fromEntries(
    Object.entries(present(from, members)).map(([key, value]) => [key, listOf(value as unknown)]),
  );
}
