import { AssizeError } from './errors.ts';

/**
 * The code of every public function for an argument of the wrong type, if the function has no code
 * of its own.
 */
export type ArgumentErrorCode =
  /**
   * An argument is not of its documented type; nothing was done. Correct the argument. Evidence
   * `{argument}`.
   */
  'bad_argument';

/**
 * A mistake of the caller that a compiler would have found. Nothing was done; the evidence names
 * the `argument`.
 */
export class ArgumentError extends AssizeError<ArgumentErrorCode> {
  override readonly name = 'ArgumentError';
}

/**
 * Checks a value's form. Returns `undefined` if the value fits. Otherwise returns the expected
 * form, and the place of the fault.
 */
export type ArgumentSchema = (value: unknown) => ArgumentIssue | undefined;

interface ArgumentIssue {
  /** '' for the value itself, or `.member` and so on. */
  readonly at: string;
  readonly wanted: string;
}

function formOf(wanted: string, fits: (value: unknown) => boolean): ArgumentSchema {
  const unfit: ArgumentIssue = { at: '', wanted };
  return (value) => (fits(value) ? undefined : unfit);
}

function below(name: string | number, { at, wanted }: ArgumentIssue): ArgumentIssue {
  return { at: `.${name}${at}`, wanted };
}

/**
 * Forms of arguments, for `checkArgument`. They check types alone. The function that uses a value
 * checks its meaning.
 */
export const arg = Object.freeze({
  /** Any value, for an argument that has its own check. */
  any: formOf('anything', () => true),
  text: formOf('a text', (value) => typeof value === 'string'),
  bytes: formOf('bytes (Uint8Array)', (value) => value instanceof Uint8Array),
  textOrBytes: formOf(
    'a string, or bytes (Uint8Array)',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  /** A number of any kind, or a bigint. */
  number: formOf('a number', (value) => typeof value === 'number' || typeof value === 'bigint'),
  whole: formOf('a whole number from 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0),
  code: formOf('a function', (value) => typeof value === 'function'),
  object: formOf('an object', isObject),
  /** A list, or any other iterable object. A string is not accepted. */
  iterable: formOf('a list', (value) => typeof value === 'object' && value !== null && Symbol.iterator in value),

  /** A custom form, if no other form fits. */
  of: formOf,

  optional(of: ArgumentSchema): ArgumentSchema {
    return (value) => (value === undefined ? undefined : of(value));
  },

  /** An array with items that all have this form. */
  list(of: ArgumentSchema): ArgumentSchema {
    return (value) => {
      if (!Array.isArray(value)) return { at: '', wanted: 'a list' };
      // Not `find`, because holes must be checked too.
      for (let i = 0; i < value.length; i++) {
        const unfit = of(value[i]);
        if (unfit !== undefined) return below(i, unfit);
      }
      return undefined;
    };
  },

  /** An object with fields that all have this form. */
  record(of: ArgumentSchema): ArgumentSchema {
    return (value) => (isObject(value) ? unfitAmong(value, Object.keys(value), () => of) : NO_OBJECT);
  },

  /**
   * An object with no other fields than these, and with none of them undefined. For arguments that
   * widen the effect by their absence: a typing error or an unset variable cannot omit one.
   * `needed`: the required fields.
   */
  only(names: readonly string[], needed: readonly string[] = []): ArgumentSchema {
    return (value) => {
      if (!isObject(value)) return NO_OBJECT;
      // Inherited members too: they are read like own members.
      for (const name in value) if (!names.includes(name)) return below(name, NO_MEMBER);
      const isUndefined = (name: string): boolean => (value as Readonly<Record<string, unknown>>)[name] === undefined;
      const missing = needed.find(isUndefined);
      if (missing !== undefined) return below(missing, NEEDED_MEMBER);
      const empty = names.find((name) => name in value && isUndefined(name));
      return empty === undefined ? undefined : below(empty, UNDEFINED_MEMBER);
    };
  },

  /**
   * Options: an object with these members and no other, because a misspelled option would count as
   * absent. The type parameter is the type of the options, so a member that is added there must be
   * added here. Each form decides whether its member is required.
   */
  options<Options extends object = never>(
    forms: { readonly [Name in keyof Options]-?: ArgumentSchema },
  ): ArgumentSchema {
    const known: Readonly<Record<string, ArgumentSchema>> = forms;
    const names = Object.keys(known);
    const unknown: ArgumentIssue = {
      at: '',
      wanted: `left out, because it is not a known field (${names.join(', ')})`,
    };
    return (value) => {
      if (!isObject(value)) return NO_OBJECT;
      // Inherited members too: they are read like own members.
      for (const name in value) if (!Object.hasOwn(known, name)) return below(name, unknown);
      return unfitAmong(value, names, (name) => known[name] as ArgumentSchema);
    };
  },

  /** An object with these members. Other members are not checked. */
  members(forms: Readonly<Record<string, ArgumentSchema>>): ArgumentSchema {
    const names = Object.keys(forms);
    return (value) => (isObject(value) ? unfitAmong(value, names, (name) => forms[name] as ArgumentSchema) : NO_OBJECT);
  },
});

const NO_OBJECT: ArgumentIssue = { at: '', wanted: 'an object' };
const NO_MEMBER: ArgumentIssue = { at: '', wanted: 'left out, because it is not a known field' };
const NEEDED_MEMBER: ArgumentIssue = { at: '', wanted: 'given' };
const UNDEFINED_MEMBER: ArgumentIssue = { at: '', wanted: 'left out, or not undefined' };

function unfitAmong(
  object: object,
  names: readonly string[],
  formOfMember: (name: string) => ArgumentSchema,
): ArgumentIssue | undefined {
  for (const name of names) {
    const unfit = formOfMember(name)((object as Readonly<Record<string, unknown>>)[name]);
    if (unfit !== undefined) return below(name, unfit);
  }
  return undefined;
}

/**
 * Refuses an argument of another form. Call it first, before any effect. An error from a getter of
 * the caller passes through.
 *
 * @throws ArgumentError `bad_argument`
 */
export function checkArgument(of: ArgumentSchema, value: unknown, argument: string): void {
  const unfit = of(value);
  if (unfit === undefined) return;
  const place = `${argument}${unfit.at}`;
  throw new ArgumentError('bad_argument', `The argument ${place} must be ${unfit.wanted}; nothing was done.`, {
    evidence: { argument: place },
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
