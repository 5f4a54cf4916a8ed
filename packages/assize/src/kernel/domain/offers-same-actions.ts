import { z } from 'zod';
import type { ActionSpec, Domain } from './domain.ts';

/**
 * Whether two versions of a domain offer a role the same actions: by name, in the same order, with
 * the same descriptions and argument schemas. `only`: these actions of the role; null: all.
 */
export function offersSameActions(
  one: Domain,
  other: Domain,
  role: string,
  only: readonly string[] | null = null,
): boolean {
  return one.hash === other.hash || offered(one, role, only) === offered(other, role, only);
}

function offered({ actions, roles }: Domain, role: string, only: readonly string[] | null): string {
  const processes = Object.hasOwn(roles, role) ? roles[role]?.processes : undefined;
  const own = Object.entries(actions as Readonly<Record<string, ActionSpec>>).filter(
    ([name, { process }]) =>
      processes?.includes(process) === true && (only === null || only.includes(name)),
  );
  return JSON.stringify(
    own.map(([name, { description = null, args }]) => [
      name,
      description,
      z.toJSONSchema(args, { io: 'input', unrepresentable: 'any' }),
    ]),
  );
}
