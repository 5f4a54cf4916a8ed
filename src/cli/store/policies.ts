import { type Policy, parseRuleTable, ruleTable } from '#authority';
import { isAssizeError } from '#base';
import { cedarPolicy } from '#integrations/cedar';
import { CliError } from '../errors.ts';
import { readJson, readText } from '../files/input-file.ts';

export interface PolicyFiles {
  readonly policy?: string;
  readonly schema?: string;
}

/**
 * The policy of a file. A name with Cedar's ending is a Cedar policy, with a schema that is JSON if
 * its name ends so. Any other file is a rule table in JSON.
 *
 * @throws CliError; CedarError `missing_peer`
 */
export async function policyFrom({ policy: path, schema }: PolicyFiles): Promise<Policy | undefined> {
  const isCedar = path?.endsWith('.cedar') === true;
  if (schema !== undefined && !isCedar)
    throw new CliError('usage', 'The option --schema needs a Cedar policy. Pass --policy FILE.cedar.');
  if (path === undefined) return undefined;
  if (!isCedar) return inFile(path, () => ruleTable(parseRuleTable(readJson(path))));
  if (schema === undefined) throw new CliError('usage', 'A Cedar policy needs a schema. Pass --schema FILE.');
  const declared = schema.endsWith('.json') ? (readJson(schema) as object) : readText(schema);
  const policies = readText(path);
  return inFile(path, () => cedarPolicy({ policies, schema: declared as string, id: path }));
}

/** The description of a policy, with its file. */
async function inFile(path: string, read: () => Policy | Promise<Policy>): Promise<Policy> {
  try {
    return await read();
  } catch (cause) {
    if (!isAssizeError(cause) || !['bad_policy', 'bad_schema'].includes(cause.code)) throw cause;
    throw new CliError('bad_input', `${path}: ${cause.message}`, { cause });
  }
}
