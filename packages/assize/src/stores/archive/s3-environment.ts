/** The variables that the tools of object stores read. */
export type S3Environment = Readonly<Record<string, string | undefined>>;

/**
 * The variables of this process. Keys are not settings of a store: they would end in a URL, a
 * config or a database.
 */
export function s3Environment(): S3Environment {
  return process.env;
}
