import { AssizeError } from './errors.ts';

/** What every public function throws for an argument that is not even of the type that it says, where it has no code of its own. */
export type ArgumentErrorCode = 'bad_argument';

/** A mistake of the caller that a compiler would have found; nothing was done. The evidence says which `argument`. */
export class ArgumentError extends AssizeError<ArgumentErrorCode> {
  override readonly name = 'ArgumentError';
}

/** What an argument must be; `undefined` when it is, and else what is wanted, and where inside. */
export type Form = (value: unknown, at: string) => Unfit | undefined;

interface Unfit {
  /** The argument, or `argument.member`. */
  readonly at: string;
  readonly wanted: string;
}

function formOf(wanted: string, fits: (value: unknown) => boolean): Form {
  return (value, at) => (fits(value) ? undefined : { at, wanted });
}

/** Forms of arguments, for `requireForm`. They look at types alone; what a value means is judged where it is used. */
export const form = Object.freeze({
  /** Whatever; for what has a refusal of its own. */
  any: formOf('anything', () => true),
  text: formOf('a text', (value) => typeof value === 'string'),
  bytes: formOf('bytes (Uint8Array)', (value) => value instanceof Uint8Array),
  textOrBytes: formOf(
    'a text, or bytes (Uint8Array)',
    (value) => typeof value === 'string' || value instanceof Uint8Array,
  ),
  /** A number of any kind, or a bigint. */
  number: formOf('a number', (value) => typeof value === 'number' || typeof value === 'bigint'),
  whole: formOf('a whole number from 0', (value) => Number.isSafeInteger(value) && (value as number) >= 0),
  code: formOf('a function', (value) => typeof value === 'function'),
  object: formOf('an object', isObject),
  /** A list, or anything else that can be gone through; not a text. */
  iterable: formOf('a list', (value) => typeof value === 'object' && value !== null && Symbol.iterator in value),

  optional(of: Form): Form {
    return (value, at) => (value === undefined ? undefined : of(value, at));
  },

  /** An array, each item of which is so. */
  list(of: Form): Form {
    return (value, at) => {
      if (!Array.isArray(value)) return { at, wanted: 'a list' };
      // Not `find`, so that holes are looked at too.
      for (let i = 0; i < value.length; i++) {
        const unfit = of(value[i], `${at}.${i}`);
        if (unfit !== undefined) return unfit;
      }
      return undefined;
    };
  },

  /** An object, each member of which is so. */
  record(of: Form): Form {
    return (value, at) =>
      isObject(value)
        ? form.members(Object.fromEntries(Object.keys(value).map((name) => [name, of])))(value, at)
        : form.object(value, at);
  },

  /** An object with these members. Others are not looked at. */
  members(forms: Readonly<Record<string, Form>>): Form {
    return (value, at) => {
      if (!isObject(value)) return { at, wanted: 'an object' };
      for (const [name, of] of Object.entries(forms)) {
        const unfit = of((value as Record<string, unknown>)[name], `${at}.${name}`);
        if (unfit !== undefined) return unfit;
      }
      return undefined;
    };
  },
});

/**
 * Refuses an argument of another form; to be asked first, when nothing was done yet. What a getter of the caller throws meanwhile
 * is his, and passes through.
 * @throws ArgumentError `bad_argument`
 */
export function requireForm(of: Form, value: unknown, argument: string): void {
  const unfit = of(value, argument);
  if (unfit === undefined) return;
  throw new ArgumentError('bad_argument', `The argument ${unfit.at} must be ${unfit.wanted}; nothing was done.`, {
    evidence: { argument: unfit.at },
  });
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
