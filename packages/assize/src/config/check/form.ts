import { isAssizeError, nearestName } from '#base';

/** The place of a fault in a config, and the form that the value there must have. */
export interface Fault {
  /** As in a program: `principals["agent:scout"].grants[0]`. Empty for the config itself. */
  readonly path: string;
  readonly wanted: string;
}

/** Checks the value at a path. Undefined if the value fits. */
export type Form = (value: unknown, path: string) => Fault | undefined;

/** A form that a predicate decides. */
export function fits(wanted: string, is: (value: any) => boolean): Form {
  return (value, path) => (is(value) ? undefined : { path, wanted });
}

export const text: Form = fits(
  'a text that is not empty',
  (value) => typeof value === 'string' && value !== '',
);
export const flag: Form = fits('true or false', (value) => typeof value === 'boolean');
export const code: Form = fits('a function', (value) => typeof value === 'function');
export const anything: Form = () => undefined;

/** A whole number in a range, both ends included. The first text of a locale takes 20 ms. */
export function whole(min: number, max: number): Form {
  return (value, path) => {
    if (Number.isSafeInteger(value) && Number(value) >= min && Number(value) <= max)
      return undefined;
    return {
      path,
      wanted: `a whole number from ${min.toLocaleString('en')} to ${max.toLocaleString('en')}`,
    };
  };
}

/** The constant, or a value of the form. */
export function constantOr(constant: string, form: Form): Form {
  return (value, path) => {
    const fault = value === constant ? undefined : form(value, path);
    return fault && { path: fault.path, wanted: `${fault.wanted}, or '${constant}'` };
  };
}

export function oneOf(values: readonly string[]): Form {
  const wanted = `${values.slice(0, -1).join(', ')} or ${values.at(-1)}`;
  return fits(wanted, (value) => values.includes(value));
}

export function optional(form: Form): Form {
  return (value, path) => (value === undefined ? undefined : form(value, path));
}

/** The forms in their order. A later form may rely on the earlier ones. */
export function all(...forms: readonly Form[]): Form {
  return (value, path) => firstFault(forms, (form) => form(value, path));
}

/** A text that a function accepts. The function throws an AssizeError for any other text. */
export function accepted(what: string, read: (value: string) => unknown): Form {
  return all(text, (value, path) => {
    try {
      read(value as string);
      return undefined;
    } catch (error) {
      if (!isAssizeError(error)) throw error;
      const { problem } = error.evidence;
      return { path, wanted: typeof problem === 'string' ? `${what} (it ${problem})` : what };
    }
  });
}

export function list(form: Form, min = 0): Form {
  return (value, path) => {
    if (!Array.isArray(value)) return { path, wanted: 'a list' };
    if (value.length < min) return { path, wanted: `a list of at least ${min}` };
    // By index, because holes are checked too.
    return firstFault([...value.keys()], (i) => form(value[i], `${path}[${i}]`));
  };
}

/** An object with any names that fit, and values of one form. */
export function record(nameFault: (name: string) => string | undefined, form: Form): Form {
  return (value, path) => {
    if (!isPlain(value)) return { path, wanted: 'an object' };
    return firstFault(Object.entries(value), ([name, member]) => {
      const place = at(path, name);
      const wanted = nameFault(name);
      return wanted === undefined ? form(member, place) : { path: place, wanted };
    });
  };
}

/**
 * An object with these members and no other. The type parameter is the type of the object, so a
 * member that is added there must be added here.
 */
export function object<Of extends object = never>(
  forms: { readonly [Name in keyof Of]-?: Form },
): Form {
  const known: Readonly<Record<string, Form>> = forms;
  const names = Object.keys(known);
  return (value, path) => {
    if (!isPlain(value)) return { path, wanted: 'an object' };
    for (const name of Object.keys(value)) {
      if (!Object.hasOwn(known, name))
        return { path: at(path, name), wanted: unknownMember(name, names) };
    }
    return firstFault(names, (name) => (known[name] as Form)(value[name], at(path, name)));
  };
}

/** The first fault among items. */
export function firstFault<T>(
  items: readonly T[],
  faultOf: (item: T) => Fault | undefined,
): Fault | undefined {
  for (const item of items) {
    const fault = faultOf(item);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

/** The path of a member. */
export function at(path: string, name: string): string {
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) return `${path}[${JSON.stringify(name)}]`;
  return path === '' ? name : `${path}.${name}`;
}

function unknownMember(name: string, names: readonly string[]): string {
  const nearest = nearestName(name, names);
  return nearest === undefined
    ? `left out: no such member exists (known: ${names.join(', ')})`
    : `left out: no such member exists, and the nearest is ${nearest}`;
}

/** Not a class instance or a list, whose members could be hidden. */
function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
