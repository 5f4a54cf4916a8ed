import { CliError } from '@assize/command';

/** Each `name=value` as a member with a text. Undefined without one. @throws CliError */
export function metadataOf(given: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (given.length === 0) return undefined;
  return Object.fromEntries(
    given.map((each) => {
      const [, name, value] = /^([^=]+)=(.*)$/s.exec(each) ?? [];
      if (name === undefined || value === undefined)
        throw new CliError(
          'usage',
          `The option --metadata has ${JSON.stringify(each)}. Pass NAME=VALUE.`,
        );
      return [name, value];
    }),
  );
}
