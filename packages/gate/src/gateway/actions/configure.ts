import { contentHash } from 'assize/internal/canon';
import { z } from 'zod';
import { rulesText } from '../judge/compiled-rules.ts';
import { figuresOf, readGroup, sumsOf } from '../judge/figures.ts';
import { faultsOf, plainRules } from '../rules/faults.ts';
import { DAY, NO_RULES, type Rules, rules } from '../rules/rules.ts';
import type { CallRow, GatewayState } from '../schema.ts';

const trial = z.strictObject({ rules, until: DAY });

/** The arguments of the action `configure`. */
export const configureArgs: z.ZodObject<{
  rules: typeof rules;
  runs: z.ZodArray<z.ZodString>;
  trial: z.ZodOptional<typeof trial>;
}> = z.strictObject({
  rules,
  /** The registered tools that Assize calls. */
  runs: z.array(z.string()).max(1_000),
  /** Rules that judge each call beside these until a day, and never act. */
  trial: trial.optional(),
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
  const { rules: now, limits, used } = configured(given, state.calls);
  state.rules = now;
  replaceMembers(state.limits, limits);
  replaceMembers(state.used, used);
}

/** Makes the members of a record equal to the given ones, and touches only those that differ. */
function replaceMembers<T>(record: Record<string, T>, members: Readonly<Record<string, T>>): void {
  for (const key of Object.keys(record)) if (!Object.hasOwn(members, key)) delete record[key];
  for (const [key, value] of Object.entries(members))
    if (JSON.stringify(record[key]) !== JSON.stringify(value)) record[key] = value;
}
