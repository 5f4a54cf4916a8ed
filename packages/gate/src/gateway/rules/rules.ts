import { z } from 'zod';
import { agentName, ruleId, serverName, toolPattern, unitName } from '../name-forms.ts';

/**
 * Rules in their normal form: what `assize.yaml` says without its shorthands and its cases. This
 * form is recorded by `configure`.
 */

export const CLASSES = ['read', 'reversible', 'irreversible'] as const;
/** How far the effect of a tool can be undone. An unknown tool counts as irreversible. */
export type ToolClass = (typeof CLASSES)[number];

/** `observe`: the rules judge each call, and their answer is recorded and not obeyed. */
const MODES = ['observe', 'enforce'] as const;
export const DAY: z.ZodISODate = z.iso.date('is not a day; write one such as 2026-12-14');

/** On one rule, before the mode of the file. `until`: the day from which an observed rule holds. */
const modal = { mode: z.enum(MODES).optional(), until: DAY.optional() };

const TOOLS = z.array(toolPattern).min(1, 'is empty, so the rule would never apply');
const POINTERS = z.array(z.string());
const TEXT = z.string().min(1).max(2000);
const AMOUNT = z.int().min(0);

const toolSpec = z.strictObject({
  /** `server/tool`. */
  name: z.string(),
  /** Default: the class of the pinned definition, or irreversible. */
  class: z.enum(CLASSES).optional(),
  /** Pointers to the paths that a call reads and writes, and to URLs or hosts. */
  reads: POINTERS.optional(),
  writes: POINTERS.optional(),
  hosts: POINTERS.optional(),
  /** Pointers to whole amounts, by unit. */
  amounts: z.record(unitName, z.string()).optional(),
  /** The folder of relative paths. */
  root: z.string().optional(),
  /** Whether it uses only the names of what a folder has. Default: it may use every file below. */
  names_only: z.boolean().optional(),
  /** The tool that takes a call back. Arguments are pointers into `{args, result}` of the call. */
  undo: z.strictObject({ tool: z.string(), args: z.record(z.string(), z.string()) }).optional(),
});
export type ToolSpec = z.infer<typeof toolSpec>;

const condition = z.strictObject({
  path: z.string(),
  exists: z.boolean().optional(),
  is: z.unknown().optional(),
  not: z.unknown().optional(),
  in: z.array(z.unknown()).optional(),
  not_in: z.array(z.unknown()).optional(),
  any: z.array(z.unknown()).optional(),
  all: z.array(z.unknown()).optional(),
  only: z.array(z.unknown()).optional(),
  min: z.number().optional(),
  max: z.number().optional(),
  matches: z.string().optional(),
});

const rule = z.strictObject({
  id: ruleId,
  effect: z.enum(['allow', 'deny', 'ask']),
  tools: TOOLS,
  class: z.array(z.enum(CLASSES)).min(1).optional(),
  agents: z.array(z.string()).min(1).optional(),
  /** Folders or files: an `allow` needs every path of the call below one, the others some path. */
  path: z.array(z.string()).min(1).optional(),
  host: z.array(z.string()).min(1).optional(),
  amount: z
    .strictObject({ unit: unitName, min: AMOUNT.optional(), max: AMOUNT.optional() })
    .optional(),
  where: z.array(condition).min(1).optional(),
  /** For `ask`: how many people must approve. */
  approvals: z.int().min(1).max(2).optional(),
  /** For `ask`: how long the question waits, and no longer than the server lets any wait. */
  minutes: z
    .int()
    .min(1)
    .max(7 * 1_440)
    .optional(),
  /** For `ask`: whether a standing approval can answer. Default: if one approval is enough. */
  standing: z.boolean().optional(),
  because: TEXT.optional(),
  ...modal,
});
export type Rule = z.infer<typeof rule>;

export const WINDOWS = ['minute', 'hour', 'day'] as const;

const limit = z.strictObject({
  id: ruleId,
  tools: TOOLS,
  per: z.enum(WINDOWS),
  /** Counted apart for each of these. Default: all calls together. */
  each: z.array(z.enum(['agent', 'tool'])).optional(),
  max: AMOUNT,
  /** The unit that is summed. Default: calls are counted. */
  unit: unitName.optional(),
  because: TEXT.optional(),
  ...modal,
});
export type Limit = z.infer<typeof limit>;

const readFirst = z.strictObject({
  id: ruleId,
  tools: TOOLS,
  /** The folders or files of the rule. Default: every path. */
  path: z.array(z.string()).min(1).optional(),
  /** How old the reading may be. Default: 24. */
  hours: z.int().min(1).max(24).optional(),
  because: TEXT.optional(),
  ...modal,
});
export type ReadFirst = z.infer<typeof readFirst>;

const turn = z.strictObject({
  id: ruleId,
  tools: TOOLS,
  /** How long a run may be silent before it loses its turn. Default: 10. */
  minutes: z
    .number()
    .min(0.01)
    .max(24 * 60)
    .optional(),
  because: TEXT.optional(),
  ...modal,
});
/** A rule by which runs take turns. */
export type TurnRule = z.infer<typeof turn>;

const LISTED = 1_000;

export const rules = z.strictObject({
  id: ruleId,
  ...modal,
  /** The agents of an observing file, whose calls are only observed. Default: all. */
  agents: z.array(agentName).min(1).max(LISTED).optional(),
  /** The answer if no rule applies to a known tool. */
  default: z.enum(['allow', 'ask', 'deny']),
  /** The answer for a tool that neither the file nor a pin knows. */
  unknown: z.enum(['ask', 'deny']),
  /** Servers whose first pins and annotations count without an approval. */
  trust: z.array(serverName).max(LISTED),
  tools: z.array(toolSpec).max(LISTED),
  rules: z.array(rule).max(LISTED),
  limits: z.array(limit).max(LISTED),
  read_before_write: z.array(readFirst).max(LISTED),
  /** The tools whose places one run holds at a time. Optional: recorded rules may lack it. */
  turns: z.array(turn).max(LISTED).optional(),
  /** The largest standing approval that may be asked for. */
  standing: z.strictObject({
    uses: z.int().min(1).max(1_000),
    hours: z
      .int()
      .min(1)
      .max(24 * 31),
    amounts: z.record(unitName, AMOUNT),
  }),
});
export type Rules = z.infer<typeof rules>;

/** Without rules every call of a tool asks. */
export const NO_RULES: Rules = {
  id: 'none',
  default: 'ask',
  unknown: 'ask',
  trust: [],
  tools: [],
  rules: [],
  limits: [],
  read_before_write: [],
  standing: { uses: 100, hours: 24, amounts: {} },
};

/** Ids of the answers that no written rule gives. */
export const BUILT_IN: Readonly<Record<'default' | 'unknown' | 'changed', string>> = {
  default: 'default',
  unknown: 'unknown-tool',
  changed: 'changed-definition',
};

/** The rules as they are when nothing is only observed any more. */
export function enforcing({ mode: _, until: __, agents: ___, ...rules }: Rules): Rules {
  const enforced = <T extends Pick<Rule, 'mode' | 'until'>>(list: readonly T[]): T[] =>
    list.map(({ mode: _, until: __, ...each }) => each as T);
  return {
    ...rules,
    rules: enforced(rules.rules),
    limits: enforced(rules.limits),
    read_before_write: enforced(rules.read_before_write),
    ...(rules.turns !== undefined && { turns: enforced(rules.turns) }),
  };
}
