import {
  covers,
  type Policy,
  parseRuleTable,
  type RuleTable,
  ruleTable,
} from 'assize/internal/authority';
import type { Domain } from 'assize/internal/kernel';
import { CliError, note } from '../errors.ts';
import { policyFormOf } from '../feature.ts';
import { parsedAt, readJson } from '../files/input-file.ts';
import { project } from './project.ts';

export interface PolicyFiles {
  readonly policy?: string;
  readonly schema?: string;
}

/**
 * The policy of a file, in a form of a feature. Any other file is a rule table in JSON.
 *
 * @throws CliError; the errors of the form
 */
export async function policyFrom({
  policy: path,
  schema,
}: PolicyFiles): Promise<Policy | undefined> {
  if (schema !== undefined && path?.endsWith('.cedar') !== true)
    throw new CliError(
      'usage',
      'The option --schema needs a Cedar policy. Pass --policy FILE.cedar.',
    );
  if (path === undefined) return undefined;
  const form = policyFormOf(path);
  return form === undefined ? ruleTable(ruleTableIn(path)) : form.read(path, schema);
}

/** The rule table of a JSON file. @throws CliError */
export function ruleTableIn(path: string): RuleTable {
  const json = readJson(path);
  return parsedAt(path, () => parseRuleTable(json));
}

/**
 * Tells the user of patterns in a rule table that match no action of the domain. A Cedar policy is
 * checked against its schema instead, and a rules file names tools.
 *
 * @throws CliError
 */
export function warnOfUnknownActions(path: string, { name, actions }: Domain): void {
  if (policyFormOf(path) !== undefined) return;
  const known = Object.keys(actions);
  const isKnown = (pattern: string): boolean =>
    pattern.startsWith(BUILT_IN) || known.some((action) => covers(pattern, action));
  for (const rule of ruleTableIn(path).rules) {
    const unknown = rule.actions.filter((pattern) => !isKnown(pattern));
    if (unknown.length > 0)
      note(
        `The rule ${rule.id} of ${path} names ${unknown.join(', ')}, and ${name} has no such action. Its actions: ${known.join(', ')}.`,
      );
  }
}

/** The names of the actions that every domain has begin with it. */
const BUILT_IN = 'assize.';

/**
 * The policy of the config: a policy, or the name of its file.
 *
 * @throws CliError
 */
export async function projectPolicy(): Promise<Policy | undefined> {
  const { policy, policyFile } = project() ?? {};
  return policyFile === undefined ? policy : policyFrom({ policy: policyFile });
}
