import { isSame } from '../bytes/canonical.ts';

/** The first of some members that two objects do not have the same. Absent equals absent. */
export function differentMember(
  a: object,
  b: object,
  names: readonly string[],
): string | undefined {
  return names.find((name) => !isSame(memberOf(a, name), memberOf(b, name)));
}

function memberOf(value: object, name: string): unknown {
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}
