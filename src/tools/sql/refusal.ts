import { whyOf } from '#effects';

/** As drivers have them: an SQLSTATE of five, or a name such as `SQLITE_CONSTRAINT_CHECK`. */
const CODE = /^[A-Z0-9][A-Z0-9_]{0,47}$/;

/**
 * A word for why a database has refused something: the code that its driver gives, after `sql_`. A message of it may have values, so
 * none of that is in it. Undefined where there is no code.
 */
export function refusal(error: unknown): string | undefined {
  const said = whyOf(error);
  if (said !== undefined) return said;
  const { code, errcode } = (error ?? {}) as { readonly code?: unknown; readonly errcode?: unknown };
  // That of node:sqlite says no more than that it is one of SQLite; the number is SQLite's own.
  if (Number.isSafeInteger(errcode)) return `sql_${errcode}`;
  return typeof code === 'string' && CODE.test(code) ? `sql_${code.toLowerCase()}` : undefined;
}
