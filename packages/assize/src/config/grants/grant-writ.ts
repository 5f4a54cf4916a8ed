import { hkdfSync } from 'node:crypto';
import { type Amounts, issueWrit, segment, writId } from '#authority';
import { contentHash, generateKeys, type Instant, type KeyPair } from '#canon';
import type { Hash } from '#ledger';
import type { WritChain } from '#runtime';
import type { ResolvedGrant } from '../resolved-config.ts';
import type { GrantRow, GrantTerms } from './grant-rows.ts';

/** Start and end of the writs that carry a whole grant. */
const EARLIEST: Instant = '2000-01-01T00:00:00.000000Z';
export const LATEST: Instant = '9000-01-01T00:00:00.000000Z';

/** A whole grant as a writ, with the key that signs its parts. */
export interface GrantWrit extends WritChain {
  readonly id: Hash;
  readonly key: KeyPair;
}

/** The terms of a grant for an agent in a trajectory of a domain. */
export function termsOf(agent: string, grant: ResolvedGrant, domain: string): GrantTerms {
  const { trajectories: _, scopes = defaultScopes(agent, domain), ...terms } = grant;
  return { ...terms, scopes };
}

/** In the gateway domain `agent:ada` acts as `ada` alone: the limits there are for each agent. */
function defaultScopes(agent: string, domain: string): string[] {
  return domain === 'gateway'
    ? [`role:agent:${segment(agent.replace(/^agent:/, ''))}`, 'tool:**']
    : ['**'];
}

/**
 * The writ of a row. Its subject is a key that only processes with the root key derive, so that
 * these processes alone sign its parts.
 */
export function grantWrit(root: KeyPair, row: GrantRow): GrantWrit {
  const { principal, trajectory, terms, generation, carried } = row;
  const place = contentHash({ principal, trajectory, terms: { ...terms }, generation, carried });
  const seed = Buffer.from(root.privateKey, 'hex');
  const key = generateKeys(
    new Uint8Array(hkdfSync('sha256', seed, '', `assize/grant/v1\n${place}`, 32)),
  );
  const writ = issueWrit(
    {
      issuer: root.publicKey,
      subject: key.publicKey,
      trajectory,
      actions: [...terms.actions],
      scopes: [...terms.scopes],
      budget: less(terms.budget, carried),
      require_approval: [...terms.requireApproval],
      not_before: EARLIEST,
      expires: LATEST,
      max_depth: terms.maxDepth + 1,
      nonce: `grant ${place}`,
    },
    root.privateKey,
  );
  return { id: writId(writ), writ, chain: [], key };
}

/**
 * The amounts that a new grant takes over: spent under withdrawn grants of the same principal, and
 * not taken over by another grant yet. So an edit of the configuration gives no budget back.
 */
export function carriedBy(own: readonly GrantRow[], budget: Amounts): Amounts {
  const carried: Record<string, number> = {};
  for (const [unit, amount] of Object.entries(budget)) {
    const spent = own.reduce((sum, { withdrawn = {} }) => sum + amountOf(withdrawn, unit), 0);
    const taken = own.reduce(
      (sum, row) => sum + (row.withdrawn === undefined ? amountOf(row.carried, unit) : 0),
      0,
    );
    const left = Math.min(amount, spent - taken);
    if (left > 0) carried[unit] = left;
  }
  return carried;
}

function less(budget: Amounts, carried: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(budget).map(([unit, amount]) => [unit, amount - amountOf(carried, unit)]),
  );
}

/** Units may have any name, also names that every object inherits. */
function amountOf(amounts: Amounts, unit: string): number {
  return Object.hasOwn(amounts, unit) ? (amounts[unit] as number) : 0;
}
