import { CliError, type Feature, readJson, readText } from '@assize/command';
import { isAssizeError } from 'assize/internal/base';

/** Policies in files with the ending of Cedar, with a schema that is JSON if its name ends so. */
export const cedar: Feature = {
  name: 'cedar',
  policyForm: {
    reads: (path) => path.endsWith('.cedar'),
    read: async (path, schema) => {
      if (schema === undefined)
        throw new CliError('usage', 'A Cedar policy needs a schema. Pass --schema FILE.');
      const { cedarPolicy } = await import('./cedar-policy.ts');
      const declared = schema.endsWith('.json') ? (readJson(schema) as object) : readText(schema);
      return cedarPolicy({ policies: readText(path), schema: declared as string, id: path }).catch(
        (cause: unknown) => {
          if (!isAssizeError(cause, 'bad_input')) throw cause;
          throw new CliError('bad_input', `${path}: ${cause.message}`, { cause });
        },
      );
    },
  },
};
