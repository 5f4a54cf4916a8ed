import { type Caller, makerOf, ServerError } from '@assize/command/operation';
import type { WritChain } from 'assize/host';
import type { Instant } from 'assize/internal/canon';
import type { ServerService } from '../service.ts';

const OWN_NAME = /^[A-Za-z0-9_.@+-]{1,64}$/;

/**
 * Checks the name of a principal that gets a part of a caller's authority: a name below that of the
 * caller, such as `agent:scout/helper` below `agent:scout`. So no caller takes the name of another
 * principal.
 *
 * @throws ServerError `forbidden`
 */
export function requireSubPrincipal(
  { name }: Caller,
  { names }: Pick<ServerService, 'names'>,
  subject: string,
): void {
  const isBelow = subject.startsWith(`${name}/`) && OWN_NAME.test(subject.slice(name.length + 1));
  if (!isBelow)
    throw new ServerError(
      'forbidden',
      `${name} cannot give authority to ${subject}. Choose a name below its own, such as ${name}/helper, of letters, digits and _.@+-`,
    );
  names.requireFree(subject);
}

/** A token for the holder of a part of the caller's authority. The answer has its text, once. */
export async function limitedToken(
  { caller, service }: { readonly caller: Caller; readonly service: ServerService },
  principal: string,
  writ: WritChain,
  period: { readonly created: Instant; readonly expires: Instant },
): Promise<{ readonly token: string; readonly token_id: string; readonly expires: Instant }> {
  const terms = { principal, kinds: ['agent'] as const, ...period, by: makerOf(caller), writ };
  const { token, row } = await service.tokens.create(terms);
  return { token, token_id: row.id, expires: period.expires };
}

export function nothingToPassOn({ name }: Caller, trajectoryId: string): ServerError {
  return new ServerError(
    'forbidden',
    `${name} has no grant to pass on in ${trajectoryId}. Raise \`maxDepth\` of a grant in the configuration.`,
  );
}
