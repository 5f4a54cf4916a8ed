import { attenuate, type Writ } from '#authority';
import { keysOf } from './rows.ts';
import { writFor } from './runtime.ts';

/** Siblings that each hold, and each try to spend, more than half of their parent's grant. */
export const SIBLINGS = 50;
export const GRANT = 100;
export const SHARE = 60;

export const lead = keysOf(11);
export const granted: Writ = writFor(lead.publicKey, { trajectory: 't', budget: { usd: GRANT } });

export function siblingOf(n: number): Writ {
  return attenuate(
    granted,
    { subject: `sibling ${n}`, nonce: `${n}`, budget: { usd: SHARE } },
    lead.privateKey,
  );
}
