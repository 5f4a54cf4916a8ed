import { isColumn, isObject } from '../entries/basic-forms.ts';

/** The properties of a value that the checks of its references need. The value itself can go. */
export interface HeldFacts {
  readonly isObject: boolean;
  readonly isList: boolean;
  /** The member `parent`, as a writ has it. */
  readonly parent: unknown;
  /** Absent for a value without a salt. */
  readonly salted?: {
    readonly isPartition: boolean;
    readonly isOfBranch: boolean;
    readonly isColumn: boolean;
  };
}

const SALT = /^[0-9a-f]{32}$/;

export function heldFactsOf(held: unknown): HeldFacts {
  const own = { isObject: isObject(held), isList: Array.isArray(held) };
  if (!isObject(held)) return { ...own, parent: undefined };
  const { salt, value, ...more } = held;
  const hasSalt =
    typeof salt === 'string' &&
    SALT.test(salt) &&
    'value' in held &&
    Object.keys(more).length === 0;
  const salted = {
    isPartition: isPartition(value),
    isOfBranch: isOfBranch(value),
    isColumn: isColumn(value),
  };
  return { ...own, parent: held['parent'], ...(hasSalt && { salted }) };
}

function isOfBranch(value: unknown): boolean {
  return isObject(value) && 'branch' in value;
}

function isPartition(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { space, subject, predicate, branch = 'none', ...more } = value;
  return [space, subject, predicate, branch].every(isColumn) && Object.keys(more).length === 0;
}
