/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The variables of this process. Only the configuration reads them. */
export function ownEnvironment(): Environment {
  return process.env;
}
