import { AssizeError } from './errors.ts';

export type DuplicatePackageErrorCode =
  /**
   * The value was made by another copy of the package. Install one copy (`npm ls assize`), and
   * import it everywhere.
   */
  'duplicate_package';

/**
 * A value that another copy of the package made. Nothing was done; the evidence names both copies
 * where they are known.
 */
export class DuplicatePackageError extends AssizeError<DuplicatePackageErrorCode> {
  override readonly name = 'DuplicatePackageError';
}

interface PackageCopy {
  /** The location of the package. */
  readonly at: string;
}

/** All loaded copies share this symbol, so each can recognise values of another copy. */
const MADE_BY: unique symbol = Symbol.for('assize.made-by') as never;

/** Identifies this copy alone, even if the same files are loaded twice. */
const HERE: PackageCopy = Object.freeze({
  at: String(import.meta.url).replace(/\/src\/(?:base|chunks)\/[^/]*$/, ''),
});

/**
 * Marks a value that only this copy of the package may use. Values compared by identity, such as
 * the stars of a footprint, are unknown to every other copy and would be ignored there. An object
 * that is spread from it, or inherits from it, has the mark too.
 */
export function markOwnPackage<T extends object>(value: T): T {
  return Object.defineProperty(value, MADE_BY, { value: HERE, enumerable: true });
}

/**
 * @throws DuplicatePackageError `duplicate_package` unless this copy created the value. `what`: the
 * start of a sentence about it
 */
export function requireOwnPackage(value: unknown, what: string): void {
  const copy = copyOf(value);
  if (copy !== HERE) throw duplicatePackageError(copy, what);
}

/**
 * For values that callers may implement.
 *
 * @throws DuplicatePackageError `duplicate_package` if another copy created the value
 */
export function refuseDuplicatePackage(value: unknown, what: string): void {
  const copy = copyOf(value);
  if (copy !== undefined && copy !== HERE) throw duplicatePackageError(copy, what);
}

function copyOf(value: unknown): PackageCopy | undefined {
  return (value as { readonly [MADE_BY]?: PackageCopy } | null | undefined)?.[MADE_BY];
}

function duplicatePackageError(copy: PackageCopy | undefined, what: string): DuplicatePackageError {
  const by = copy === undefined ? '' : ` but by the one at ${copy.at}`;
  return new DuplicatePackageError(
    'duplicate_package',
    `${what} was not created by this copy of the package assize, at ${HERE.at},${by === '' ? '' : `${by},`} and mixed copies could skip rules. Nothing was done. Install one copy (npm ls assize), import it everywhere, and run the project's own npx assize.`,
    { evidence: { what, here: HERE.at, ...(copy !== undefined && { made_by: copy.at }) } },
  );
}
