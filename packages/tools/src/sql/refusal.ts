import { whyOf } from 'assize/internal/effects';

/**
 * Codes of drivers: an SQLSTATE of five characters, or a name such as `SQLITE_CONSTRAINT_CHECK`.
 */
const CODE = /^[A-Z0-9][A-Z0-9_]{0,47}$/;

/**
 * The reason of a database's refusal: the driver's code, after `sql_`. The driver's message may
 * contain values, so it is not used. Undefined if the error has no code.
 */
export function refusal(error: unknown): string | undefined {
  const said = whyOf(error);
  if (said !== undefined) return said;
  const { code, errcode } = (error ?? {}) as {
    readonly code?: unknown;
    readonly errcode?: unknown;
  };
  // The code of node:sqlite only names SQLite. The number is SQLite's own result code.
  if (Number.isSafeInteger(errcode)) return `sql_${errcode}`;
  return typeof code === 'string' && CODE.test(code) ? `sql_${code.toLowerCase()}` : undefined;
}
