import { issueWrit, type Writ, type WritGrant } from '#authority';
import { addMicros, generateKeys, type Instant, type KeyPair } from '#canon';
import type { Domain } from '#kernel';
import type { LedgerStore } from '#ledger';
import { type Clock, seededRandom } from '#oracle';
import { Assize, type AssizeOptions, type ProposalInput } from '#runtime';

/** The configured key. Its root writs count. */
export const operator: KeyPair = generateKeys(new Uint8Array(32).fill(7));

export const START: Instant = '2026-03-23T09:00:00.000000Z';

/** A root writ for everything, for as long as any test runs, unless said otherwise. */
export function writFor(subject: string, grant: Partial<WritGrant> = {}): Writ {
  return issueWrit(
    {
      issuer: operator.publicKey,
      subject,
      actions: ['**'],
      scopes: ['**'],
      not_before: '2026-01-01T00:00:00.000000Z',
      expires: '2027-01-01T00:00:00.000000Z',
      max_depth: 4,
      nonce: subject,
      ...grant,
    },
    operator.privateKey,
  );
}

/** A writ to decide about the effects of every tool. */
export function operatorWrit(by: string = 'ops'): Writ {
  const grant = {
    actions: ['assize.resolve_effect'],
    scopes: ['effect:**'],
    nonce: `operator ${by}`,
  };
  return writFor(by, grant);
}

/** A clock that a test sets; it stands until then. */
export class HandClock implements Clock {
  at: Instant = START;

  now(): Instant {
    return this.at;
  }

  forward(ms: number): void {
    this.at = addMicros(this.at, ms * 1_000);
  }
}

/** Authenticates the effect logs of tests. */
export const RECOVERY_KEY = 'the recovery key of all processes of a test';

/** A runtime with a clock and chance of its own, that does not pause. */
export function runtimeOver(
  store: LedgerStore,
  domains: readonly Domain[],
  options: Partial<AssizeOptions> = {},
): Assize {
  return new Assize({
    store,
    domains,
    anchors: [operator.publicKey],
    // The clock of a test is not the machine's clock that a store reads.
    maxClockAheadMs: 'unlimited',
    ...options,
    // Processes of one test share it.
    effects: { recoveryKey: RECOVERY_KEY, ...options.effects },
    // The time of a test may be long past when a command reads its store.
    approvals: { timeoutMs: 'never', ...options.approvals },
    ports: {
      clock: new HandClock(),
      random: seededRandom('runtime'),
      pause: async () => {},
      ...options.ports,
    },
  });
}

/** An intent of a role without parameters, in any domain. Tests of wrong intents must compile. */
export function intent(
  action: string,
  args: unknown,
  writ: Writ,
  rest: Partial<ProposalInput> = {},
): AnyIntent {
  return { action, role: 'worker', args, writ, ...rest };
}

type AnyIntent = Omit<ProposalInput, 'action' | 'role' | 'args'> & {
  readonly action: any;
  readonly role: any;
  readonly args: any;
};
