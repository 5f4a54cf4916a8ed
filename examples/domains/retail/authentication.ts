import type { RetailRecords } from './schema.ts';

/** A call as it was recorded; its arguments are those of the agent, unchecked. */
interface Call {
  readonly name: string;
  readonly arguments: { readonly [name: string]: unknown };
}

/**
 * The user that these calls authenticated: the first user that was located by email, or by name and
 * zip code (policy.md). Undefined before that. A user that is located later is not the subject of
 * the conversation.
 */
export function authenticatedUser(
  calls: readonly Call[],
  { users }: Pick<RetailRecords, 'users'>,
): string | undefined {
  for (const call of calls) {
    const found = Object.keys(users).find((id) => isLocatedBy(call, users[id]));
    if (found !== undefined) return found;
  }
  return undefined;
}

function isLocatedBy(
  { name, arguments: args }: Call,
  user: RetailRecords['users'][string] | undefined,
): boolean {
  if (user === undefined) return false;
  switch (name) {
    case 'find_user_id_by_email':
      return same(user.email, args['email']);
    case 'find_user_id_by_name_zip':
      return (
        same(user.name.first_name, args['first_name']) &&
        same(user.name.last_name, args['last_name']) &&
        user.address.zip === args['zip']
      );
    default:
      return false;
  }
}

function same(known: string, given: unknown): boolean {
  return typeof given === 'string' && known.toLowerCase() === given.toLowerCase();
}
