import { AssizeError } from './errors.ts';
import { isRecord } from './objects.ts';

/**
 * A mistake of the caller that a compiler would have found. Nothing was done; the evidence names
 * the `argument`.
 */
export class ArgumentError extends AssizeError<never> {
  override readonly name = 'ArgumentError';
}

/**
 * Checks a value's form. Returns `undefined` if the value fits. Otherwise returns the expected
 * form, and the place of the fault.
 */
export type ArgumentSchema = (value: unknown) => ArgumentIssue | undefined;

/** The place of a fault in an argument, and the form that the value there must have. */
export interface ArgumentIssue {
  /** '' for the value itself, or `.member` and so on. */
  readonly at: string;
  readonly wanted: string;
}

/** Makes the error of a refused argument. */
export type ArgumentRefusal = (
  message: string,
  details: { readonly evidence: { readonly argument: string } },
) => AssizeError;

function formOf(wanted: string, fits: (value: unknown) => boolean): ArgumentSchema {
  const unfit: ArgumentIssue = { at: '', wanted };
  return (value) => (fits(value) ? undefined : unfit);
}

function wholeFrom(min: number, max: number = Number.MAX_SAFE_INTEGER): ArgumentSchema {
  const unfit = {
    at: '',
    wanted: `a whole number from ${min}${max === Number.MAX_SAFE_INTEGER ? '' : ` to ${max}`}`,
  };
  return (value) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : unfit;
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
  whole: wholeFrom(0),
  /** A whole number from `min`, and at most `max` if that is given. */
  wholeFrom,
  flag: formOf('true or false', (value) => typeof value === 'boolean'),
  code: formOf('a function', (value) => typeof value === 'function'),
  object: formOf('an object', isRecord),

  /** A custom form, if no other form fits. */
  of: formOf,

  /** One of these texts. */
  oneOf(texts: readonly string[]): ArgumentSchema {
    const known: ReadonlySet<unknown> = new Set(texts);
    const unfit = { at: '', wanted: `${texts.slice(0, -1).join(', ')} or ${texts.at(-1)}` };
    return (value) => (known.has(value) ? undefined : unfit);
  },

  /** All of these forms. A form is only asked if the value fits those before it. */
  all(...forms: readonly ArgumentSchema[]): ArgumentSchema {
    return (value) => {
      for (let i = 0; i < forms.length; i++) {
        const unfit = forms[i]!(value);
        if (unfit !== undefined) return unfit;
      }
      return undefined;
    };
  },

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
    return (value) =>
      isRecord(value) ? unfitAmong(value, Object.keys(value), () => of) : NO_OBJECT;
  },

  /**
   * An object with no other fields than these, and with none of them undefined. For arguments that
   * widen the effect by their absence: a typing error or an unset variable cannot omit one.
   * `needed`: the required fields.
   */
  only(names: readonly string[], needed: readonly string[] = []): ArgumentSchema {
    const unfit = noOtherField(names);
    return (value) => {
      const unknown = unfit(value);
      if (unknown !== undefined) return unknown;
      const isUndefined = (name: string): boolean =>
        (value as Readonly<Record<string, unknown>>)[name] === undefined;
      const missing = needed.find(isUndefined);
      if (missing !== undefined) return below(missing, NEEDED_MEMBER);
      const empty = names.find((name) => name in (value as object) && isUndefined(name));
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
    const unfit = noOtherField(names);
    return (value) =>
      unfit(value) ?? unfitAmong(value as object, names, (name) => known[name] as ArgumentSchema);
  },

  /**
   * An object with no other fields than these, of any form. The type parameter is the type of the
   * object, so a field that is added there must be added here.
   */
  known<Of extends object = never>(
    names: { readonly [Name in Of extends unknown ? keyof Of : never]: true },
  ): ArgumentSchema {
    return noOtherField(Object.keys(names));
  },

  /** An object with these members. Other members are not checked. */
  members(forms: Readonly<Record<string, ArgumentSchema>>): ArgumentSchema {
    const names = Object.keys(forms);
    return (value) =>
      isRecord(value)
        ? unfitAmong(value, names, (name) => forms[name] as ArgumentSchema)
        : NO_OBJECT;
  },

  /**
   * An object that a function checks, member by member with `at`. For forms on the path of every
   * append and proposal: it is several times as fast as `members`, whose reads the engine cannot
   * specialise.
   */
  row<Row extends object>(unfitIn: (row: Row) => ArgumentIssue | undefined): ArgumentSchema {
    return (value) => (isRecord(value) ? unfitIn(value as Row) : NO_OBJECT);
  },

  /** The fault of the value, at a member of this name. */
  at(name: string | number, unfit: ArgumentIssue | undefined): ArgumentIssue | undefined {
    return unfit === undefined ? undefined : below(name, unfit);
  },
});

function noOtherField(names: readonly string[]): ArgumentSchema {
  const known: ReadonlySet<string> = new Set(names);
  const unknown: ArgumentIssue = {
    at: '',
    wanted: `left out, because it is not a known field (${names.join(', ')})`,
  };
  return (value) => {
    if (!isRecord(value)) return NO_OBJECT;
    // Inherited fields too: they are read like own fields.
    for (const name in value) if (!known.has(name)) return below(name, unknown);
    return undefined;
  };
}

const NO_OBJECT: ArgumentIssue = { at: '', wanted: 'an object' };
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
 * the caller passes through. `refusal` makes the error of a function that has a code of its own.
 *
 * @throws ArgumentError `bad_argument`, or the error of `refusal`
 */
export function checkArgument(
  of: ArgumentSchema,
  value: unknown,
  argument: string,
  refusal: ArgumentRefusal = badArgument,
): void {
  const unfit = of(value);
  if (unfit === undefined) return;
  const place = `${argument}${unfit.at}`;
  throw refusal(`The argument ${place} must be ${unfit.wanted}; nothing was done.`, {
    evidence: { argument: place },
  });
}

const badArgument: ArgumentRefusal = (message, details) =>
  new ArgumentError('bad_argument', message, details);
