import { BASIC, type Form, isObject } from './basic-forms.ts';
import { TABLES } from './tables.ts';

const known = new Map<string, Form>();

/** The form of a record of the tables, or of a single value. */
export function formOf(name: string): Form {
  let form = known.get(name);
  if (form === undefined) {
    form = BASIC[name] ?? recordOf(TABLES.get(name) as readonly string[]);
    known.set(name, form);
  }
  return form;
}

function recordOf(members: readonly string[]): Form {
  const all = members.map((member) => {
    const [name = '', form = ''] = member.split(':');
    return { name: name.replace('?', ''), isOptional: name.endsWith('?'), form: read(form) };
  });
  const forms = new Map(all.map(({ name, form }) => [name, form]));
  const required = all.filter(({ isOptional }) => !isOptional);
  return (value) => {
    if (!isObject(value)) return 'is not an object';
    const missing = required.find(({ name }) => !Object.hasOwn(value, name));
    if (missing !== undefined) return `has no member ${missing.name}`;
    return firstWrong(Object.entries(value), (name) => forms.get(name) ?? unknown);
  };
}

function read(text: string): Form {
  if (text.startsWith('[')) return listOf(formLater(text.slice(1, -1)));
  if (text.startsWith('{')) return mapOf(formLater(text.slice(1, -1)));
  if (text.includes('|')) return choiceOf(text.split('|'));
  return formLater(text);
}

/** A record may name one that is compiled later. */
function formLater(name: string): Form {
  return (value) => formOf(name)(value);
}

function listOf(form: Form): Form {
  return (value) =>
    Array.isArray(value)
      ? firstWrong(
          value.map((item, n) => [String(n), item]),
          () => form,
        )
      : 'is not a list';
}

function mapOf(form: Form): Form {
  return (value) =>
    isObject(value) ? firstWrong(Object.entries(value), () => form) : 'is not an object';
}

function choiceOf(choices: readonly string[]): Form {
  return (value) =>
    choices.includes(value as string) ? '' : `is not one of ${choices.join(', ')}`;
}

const unknown: Form = () => 'is not a member that the format has';

function firstWrong(
  entries: readonly (readonly [string, unknown])[],
  formFor: (name: string) => Form,
): string {
  for (const [name, value] of entries) {
    const wrong = formFor(name)(value);
    if (wrong !== '')
      return `${name}${wrong.startsWith('is') || wrong.startsWith('has') ? ' ' : '.'}${wrong}`;
  }
  return '';
}
