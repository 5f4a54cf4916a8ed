import { AssizeError } from './errors.ts';

export type CopyErrorCode =
  /**
   * The value was made by another copy of the package. Install one copy (`npm ls assize`), and
   * import it everywhere.
   */
  'other_copy';

/**
 * A value that another copy of the package made. Nothing was done; the evidence names both copies
 * where they are known.
 */
export class CopyError extends AssizeError<CopyErrorCode> {
  override readonly name = 'CopyError';
}

interface Copy {
  /** The location of the package. */
  readonly at: string;
}

/** All loaded copies share this symbol, so each can recognise values of another copy. */
const MADE_BY: unique symbol = Symbol.for('assize.made-by') as never;

/** Identifies this copy alone, even if the same files are loaded twice. */
const HERE: Copy = Object.freeze({ at: String(import.meta.url).replace(/\/src\/base\/[^/]*$/, '') });

/**
 * Marks a value that only this copy of the package may use. Values compared by identity, such as
 * the stars of a footprint, are unknown to every other copy and would be ignored there. An object
 * that is spread from it, or inherits from it, has the mark too.
 */
export function madeHere<T extends object>(value: T): T {
  return Object.defineProperty(value, MADE_BY, { value: HERE, enumerable: true });
}

/**
 * @throws CopyError `other_copy` unless this copy created the value. `what`: the start of a
 * sentence about it
 */
export function requireMadeHere(value: unknown, what: string): void {
  const copy = copyOf(value);
  if (copy !== HERE) throw ofOtherCopy(copy, what);
}

/**
 * For values that callers may implement.
 *
 * @throws CopyError `other_copy` if another copy created the value
 */
export function refuseOtherCopy(value: unknown, what: string): void {
  const copy = copyOf(value);
  if (copy !== undefined && copy !== HERE) throw ofOtherCopy(copy, what);
}

function copyOf(value: unknown): Copy | undefined {
  return (value as { readonly [MADE_BY]?: Copy } | null | undefined)?.[MADE_BY];
}

function ofOtherCopy(copy: Copy | undefined, what: string): CopyError {
  const by = copy === undefined ? '' : ` but by the one at ${copy.at}`;
  return new CopyError(
    'other_copy',
    `${what} was not made by this copy of the package assize, at ${HERE.at},${by === '' ? '' : `${by},`} and copies do not mix: rules could be passed over. Nothing was done. Have one copy installed (npm ls assize), import it everywhere, and run the project's own npx assize.`,
    { evidence: { what, here: HERE.at, ...(copy !== undefined && { made_by: copy.at }) } },
  );
}
