import { issueWrit, type Writ, type WritGrant } from '#authority';
import { hashText, type KeyPair } from '#canon';
import type { Tool } from '#effects';
import { BELIEVE_ACTION, type Domain } from '#kernel';

/** The agent of a program that names none. */
export const DEFAULT_AGENT = 'agent:default';

/** Fixed, so that the same grant is the same writ in every process. */
export const DEFAULT_PERIOD: Pick<WritGrant, 'not_before' | 'expires'> = {
  not_before: '2020-01-01T00:00:00.000000Z',
  expires: '2100-01-01T00:00:00.000000Z',
};

export interface DefaultWritTerms {
  readonly agent: string;
  readonly trajectory: string;
  readonly domain: Domain;
  readonly tools?: readonly Tool[];
}

/**
 * A writ for development: every action of the domain in every role, and every tool, in one
 * trajectory. It grants no erasure, halt or revocation.
 *
 * The same terms make the same writ, byte for byte. A proposal with an idempotency key that is
 * repeated by another process is therefore the same proposal.
 *
 * @throws AuthorityError `bad_writ` for a name that no writ can have
 */
export function defaultWrit(
  root: KeyPair,
  { agent, trajectory, domain, tools = [] }: DefaultWritTerms,
): Writ {
  const actions = [
    ...Object.keys(domain.actions),
    BELIEVE_ACTION,
    ...tools.map(({ name }) => name),
  ];
  return issueWrit(
    {
      issuer: root.publicKey,
      subject: agent,
      trajectory,
      actions: [...new Set(actions)].sort(),
      scopes: ['**'],
      ...DEFAULT_PERIOD,
      max_depth: 0,
      nonce: `development:${hashText(`${trajectory}\n${agent}`).slice(0, 16)}`,
    },
    root.privateKey,
  );
}
