import { contentHash } from 'assize/internal/canon';
import { z } from 'zod';
import { compiledRules, rulesText } from '../judge/compiled-rules.ts';
import { figuresOf, readGroup, sumsOf } from '../judge/figures.ts';
import { faultsOf, plainRules } from '../rules/faults.ts';
import { DAY, enforcing, NO_RULES, type Rules, rules } from '../rules/rules.ts';
import type { CallRow, GatewayState } from '../schema.ts';

const trial = z.strictObject({ rules, until: DAY });

/** By whom, from which rules in force, and with which report rules are promoted. */
const promoted = z.strictObject({ by: z.string(), from: z.string(), report: z.string() });

/** The arguments of the action `configure`. */
export const configureArgs: z.ZodObject<{
  rules: typeof rules;
  runs: z.ZodArray<z.ZodString>;
  trial: z.ZodOptional<typeof trial>;
  promoted: z.ZodOptional<typeof promoted>;
}> = z.strictObject({
  rules,
  /** The registered tools that Assize calls. */
  runs: z.array(z.string()).max(1_000),
  /** Rules that judge each call beside these until a day, and never act. */
  trial: trial.optional(),
  /** For rules that were observed or tried before. */
  promoted: promoted.optional(),
});
export type Configuration = z.infer<typeof configureArgs>;

/** The digest that compares the rules of a state with those of a file. */
export function rulesDigest(given: Rules): string {
  return contentHash({ engine: 'assize/gateway/v1', rules: plainRules(given) });
}

/** The parts of the state that a configuration decides. */
export function configured(
  { rules: given, runs, trial }: Configuration,
  calls: Readonly<Record<string, CallRow>>,
): Pick<GatewayState, 'rules' | 'limits' | 'used'> {
  const used = figuresOf(given.limits, calls);
  const floors = new Map(given.limits.map(({ id }) => [id, {} as Record<string, number>]));
  for (const [text, sum] of sumsOf(used)) {
    const { limit, group } = readGroup(text);
    const max = given.limits.find(({ id }) => id === limit)?.max ?? 0;
    if (sum > max) (floors.get(limit) as Record<string, number>)[group] = sum;
  }
  return {
    rules: {
      ...textOf(given),
      runs: [...new Set(runs)].sort(),
      ...(trial !== undefined && { trial: { ...textOf(trial.rules), until: trial.until } }),
    },
    limits: Object.fromEntries(
      given.limits.map(({ id, max }) => [id, { max, floors: floors.get(id) ?? {} }]),
    ),
    used: Object.fromEntries(used),
  };
}

function textOf(given: Rules): Pick<GatewayState['rules'], 'id' | 'digest' | 'text'> {
  return { id: given.id, digest: rulesDigest(given), text: rulesText(given) };
}

/**
 * Puts rules in force. Figures are counted again from the recorded calls, so a changed limit counts
 * the calls of its present window. A figure above a lowered maximum stays, and cannot grow.
 */
export function applyConfigure(state: GatewayState, given: Configuration): void {
  const [fault] = [given.rules, given.trial?.rules ?? NO_RULES].flatMap(faultsOf);
  if (fault !== undefined) throw new Error(`rules at /${fault.path.join('/')}: ${fault.problem}`);
  if (given.promoted !== undefined) requireJudged(state, given.rules, given.promoted.from);
  const { rules: now, limits, used } = configured(given, state.calls);
  state.rules = now;
  replaceMembers(state.limits, limits);
  replaceMembers(state.used, used);
}

/** Only rules that have judged calls are promoted, over the rules of their report. */
function requireJudged(
  { rules: { digest, text, trial } }: GatewayState,
  given: Rules,
  from: string,
): void {
  if (from !== digest)
    throw new Error(
      'the rules in force are other ones than those of the report; make a new report',
    );
  const judged = [trial?.digest, rulesDigest(enforcing(compiledRules(text).rules))];
  if (!judged.includes(rulesDigest(enforcing(given))))
    throw new Error(
      `the rules ${given.id} were neither observed nor tried; restart the server after an edit, so that they judge calls first`,
    );
}

/** Makes the members of a record equal to the given ones, and touches only those that differ. */
function replaceMembers<T>(record: Record<string, T>, members: Readonly<Record<string, T>>): void {
  for (const key of Object.keys(record)) if (!Object.hasOwn(members, key)) delete record[key];
  for (const [key, value] of Object.entries(members))
    if (JSON.stringify(record[key]) !== JSON.stringify(value)) record[key] = value;
}
