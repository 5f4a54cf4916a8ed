import type { Json } from 'assize/internal/base';
import { MiningError } from '../errors.ts';
import type { MinedRule } from '../rule.ts';
import { statementOf } from '../statement.ts';

const FORMS = { code: 'as code', rules: 'to a rules file' } as const;

/** The error of a rule without a place in a form. `why`: the reason, and another way if any. */
export function notExpressible(
  rule: MinedRule,
  form: keyof typeof FORMS,
  why: string,
): MiningError {
  const message = `The rule “${statementOf(rule)}” cannot be written ${FORMS[form]}: ${why}.`;
  return new MiningError('not_expressible', message, {
    evidence: { rule: rule as unknown as Json, form },
  });
}
