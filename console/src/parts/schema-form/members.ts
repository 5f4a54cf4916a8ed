import { type Resolved, resolved } from './schema.ts';

/** A part of a value with its schema. */
export interface Member {
  readonly name: string;
  readonly part: Resolved;
  readonly value: unknown;
  readonly isRequired: boolean;
  /** Whether the schema names it. Others are edited as JSON. */
  readonly isKnown: boolean;
}

type Members = Readonly<Record<string, unknown>>;

/** The members of an object: those of the schema in its order, then those that it does not name. */
export function membersOf(part: Resolved, value: Members): readonly Member[] {
  const { properties = {}, required = [], additionalProperties } = part.schema;
  const known = Object.entries(properties).map(([name, member]) => ({
    name,
    part: resolved(member, part),
    value: own(value, name),
    isRequired: required.includes(name),
    isKnown: true,
  }));
  const others = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  return [
    ...known,
    ...others.map((name) => ({
      name,
      part: resolved(additionalProperties, part),
      value: value[name],
      isRequired: false,
      isKnown: false,
    })),
  ];
}

/** The object with another member. `undefined` removes it. The order of the members stays. */
export function withMember(value: Members, name: string, next: unknown): Members {
  if (next === undefined)
    return Object.fromEntries(Object.entries(value).filter(([each]) => each !== name));
  const isThere = Object.hasOwn(value, name);
  const entries = Object.entries(value).map(
    ([each, old]) => [each, each === name ? next : old] as const,
  );
  // A definition, so that a member named __proto__ is one.
  return Object.fromEntries(isThere ? entries : [...entries, [name, next]]);
}

export function withItem(
  value: readonly unknown[],
  index: number,
  next: unknown,
): readonly unknown[] {
  return value.map((item, n) => (n === index ? next : item));
}

export function withoutItem(value: readonly unknown[], index: number): readonly unknown[] {
  return value.filter((_, n) => n !== index);
}

function own(value: Members, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}
