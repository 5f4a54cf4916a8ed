import { McpError } from '../errors.ts';
import type { LedgerApi, Standing } from './ledger-api.ts';

/** Whether a principal is a person who may approve. An agent never is. */
export function isPerson({ name, kinds }: Standing): boolean {
  return kinds.includes('counselor') && !kinds.includes('agent') && !name.startsWith('agent:');
}

/**
 * Refuses to offer decisions with another token than that of a person.
 *
 * @throws McpError `forbidden`, `server_refused`
 */
export async function requirePerson(api: LedgerApi): Promise<Standing> {
  const standing = await api.standing();
  if ('isRefused' in standing)
    throw new McpError('server_refused', `It is not known whose token this is. ${standing.text}`, {
      evidence: { code: standing.code },
    });
  if (isPerson(standing)) return standing;
  throw new McpError(
    'forbidden',
    `${standing.name} is ${standing.kinds.join(' and ')}. Only a person of the kind counselor decides: pass a token of one, or leave --decide out.`,
    { evidence: { principal: standing.name } },
  );
}
