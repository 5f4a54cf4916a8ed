import { issueWrit, type Writ } from 'assize/internal/authority';
import { addMicros, type Instant, type KeyPair, maxInstant } from 'assize/internal/canon';
import type { EntryRow } from 'assize/internal/ledger';
import { systemClock } from 'assize/internal/oracle';
import { readable } from 'assize/internal/views';
import { newNonce } from './writ-terms.ts';

/** Long enough to open a large trajectory. */
const VALID_FOR_MICROS = 5 * 60 * 1_000_000;

/** The action of one command call, and its principal. */
export interface EphemeralWritTerms {
  readonly action: string;
  readonly scopes: readonly string[];
  readonly principal: string;
}

/**
 * Root writs for one purpose in the trajectory of `head`, signed with the private key of an anchor.
 * The same writ is returned until half of its time is over.
 */
export function ephemeralWrits(head: EntryRow, what: EphemeralWritTerms, key: KeyPair): () => Writ {
  const headAt = readable(head)?.payload.at;
  let made: { readonly writ: Writ; readonly at: Instant } | undefined;
  return () => {
    const clock = systemClock.now();
    // The ledger's time never goes back, regardless of the clock.
    const at = maxInstant(clock, headAt ?? clock);
    if (made === undefined || at > addMicros(made.at, VALID_FOR_MICROS / 2))
      made = { at, writ: writAt({ from: headAt ?? at, at }, head.trajectory_id, what, key) };
    return made.writ;
  };
}

/** Same as `ephemeralWrits`, for immediate use. */
export function ephemeralWrit(head: EntryRow, what: EphemeralWritTerms, key: KeyPair): Writ {
  return ephemeralWrits(head, what, key)();
}

/** `from`: the ledger's time, because a clock that is ahead does not set an entry's time. */
function writAt(
  { from, at }: { readonly from: Instant; readonly at: Instant },
  trajectory: string,
  { action, scopes, principal }: EphemeralWritTerms,
  key: KeyPair,
): Writ {
  return issueWrit(
    {
      issuer: key.publicKey,
      subject: principal,
      trajectory,
      actions: [action],
      scopes: [...scopes],
      not_before: from,
      expires: addMicros(at, VALID_FOR_MICROS),
      max_depth: 0,
      nonce: newNonce(),
    },
    key.privateKey,
  );
}
