import { type Policy, parseRuleTable, type RuleTable, ruleTable } from '#authority';
import { isAssizeError } from '#base';
import { rulesPolicy } from '#domains/gateway';
import { cedarPolicy } from '#integrations/cedar';
import { CliError } from '../errors.ts';
import { readJson, readText } from '../files/input-file.ts';
import { isRulesFile, rulesFileIn } from './rules-files.ts';

export interface PolicyFiles {
  readonly policy?: string;
  readonly schema?: string;
}

/**
 * The policy of a file. A name with Cedar's ending is a Cedar policy, with a schema that is JSON if
 * its name ends so. A YAML file is a rules file, of which this is the part that denies without
 * state. Any other file is a rule table in JSON.
 *
 * @throws CliError; CedarError `missing_peer`
 */
export async function policyFrom({ policy: path, schema }: PolicyFiles): Promise<Policy | undefined> {
  const isCedar = path?.endsWith('.cedar') === true;
  if (schema !== undefined && !isCedar)
    throw new CliError('usage', 'The option --schema needs a Cedar policy. Pass --policy FILE.cedar.');
  if (path === undefined) return undefined;
  if (isRulesFile(path)) return rulesPolicy(rulesFileIn(path).rules);
  if (!isCedar) return ruleTable(ruleTableIn(path));
  if (schema === undefined) throw new CliError('usage', 'A Cedar policy needs a schema. Pass --schema FILE.');
  const declared = schema.endsWith('.json') ? (readJson(schema) as object) : readText(schema);
  const policies = readText(path);
  return cedarPolicy({ policies, schema: declared as string, id: path }).catch((cause: unknown) => {
    throw inFile(path, cause);
  });
}

/** The rule table of a JSON file. @throws CliError */
export function ruleTableIn(path: string): RuleTable {
  const json = readJson(path);
  try {
    return parseRuleTable(json);
  } catch (cause) {
    throw inFile(path, cause);
  }
}

/** The description of a policy, with its file. */
function inFile(path: string, cause: unknown): unknown {
  if (!isAssizeError(cause) || !['bad_policy', 'bad_schema'].includes(cause.code)) return cause;
  return new CliError('bad_input', `${path}: ${cause.message}`, { cause });
}
