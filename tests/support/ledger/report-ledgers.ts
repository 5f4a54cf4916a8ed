import { MemoryStore } from '@assize/testing/memory';
import { z } from 'zod';
import { writId } from '#authority';
import { defineDomain, escalate, pass, reject } from '#kernel';
import { integrateLog, type LedgerStore, type LogStore, logHead } from '#ledger';
import type { AssizeOptions, Trajectory } from '#runtime';
import { cosign } from '../../../packages/assize/src/merkle/cosignature.ts';
import { formatSignatures, parseNote } from '../../../packages/assize/src/merkle/note.ts';
import { addCosignatures } from '../../../packages/assize/src/merkle/open-checkpoint.ts';
import { signCheckpoint } from '../../../packages/assize/src/merkle/sign-checkpoint.ts';
import { LOG, WITNESSES } from './merkle-fixtures.ts';
import { keysOf } from './rows.ts';
import { HandClock, intent, runtimeOver, writFor } from './runtime.ts';

/**
 * Claims, each decided by one doctor. A doctor approves the own claim only with an override. The
 * domain has the name of the gateway's, so that `configure` and `pin` count as changes of rules.
 */
const claims = defineDomain({
  name: 'gateway',
  version: '7',
  freeze: 'footprint',
  state: z.object({
    asked: z.number(),
    approved: z.number(),
    claimant: z.string(),
    by: z.string(),
    rules: z.number(),
  }),
  initial: { asked: 0, approved: 0, claimant: '', by: '', rules: 0 },
  counselors: { doctor: (principal) => /^(agent:)?dr-/i.test(principal) },
  processes: { claiming: { writes: ['/asked', '/claimant'] }, ruling: { writes: ['/rules'] } },
  roles: { clerk: { processes: ['claiming'] }, keeper: { processes: ['ruling'] } },
  actions: {
    claim: {
      process: 'claiming',
      args: z.object({ claimant: z.string() }),
      apply: (state, { claimant }) => {
        state.asked += 1;
        state.claimant = claimant;
      },
    },
    configure: {
      process: 'ruling',
      args: z.object({}),
      apply: (state) => {
        state.rules += 1;
      },
    },
    pin: {
      process: 'ruling',
      args: z.object({}),
      apply: (state) => {
        state.rules += 1;
      },
    },
  },
  invariants: ({ invariant }) => [
    invariant(
      'ASKED',
      ['/asked', '/approved', '/by'],
      ({ asked, approved }) => (asked <= approved ? pass : escalate(`${asked} are asked for`)),
      {
        channel: 'doctor',
        onApprove: (state, { counselor }) => {
          state.approved = state.asked;
          state.by = counselor;
        },
      },
    ),
    invariant(
      'NO_SELF',
      ['/by', '/claimant'],
      ({ by, claimant }) =>
        by !== '' && by === claimant ? reject(`${claimant} approves the own claim`) : pass,
      { overridable: true },
    ),
  ],
  memory: { predicates: { is: { cardinality: 'single-valued', strategy: 'lww' } } },
});
export const AGENT_WRIT = writFor('agent');
export const WARDEN_WRIT = writFor('warden', {
  actions: ['assize.halt', 'assize.revoke'],
  scopes: ['halt:**', 'writ:**'],
});
export const WATCHDOG_WRIT = writFor('agent:watchdog', {
  actions: ['assize.halt'],
  scopes: ['halt:**'],
});
const MINUTE = 60_000;

/** A ledger of claims that doctors decide about. */
export class ClaimsLedger {
  readonly store: MemoryStore = new MemoryStore();
  readonly clock: HandClock = new HandClock();
  readonly trajectory: Trajectory;
  readonly #options: Partial<AssizeOptions>;

  static async begin(options: Partial<AssizeOptions> = {}): Promise<ClaimsLedger> {
    const ledger = new ClaimsLedger(options);
    (ledger as { trajectory: Trajectory }).trajectory = await ledger.#runtime().create(claims, {
      trajectoryId: 't',
      writs: [AGENT_WRIT, WARDEN_WRIT, WATCHDOG_WRIT],
    });
    return ledger;
  }

  private constructor(options: Partial<AssizeOptions>) {
    this.#options = options;
    this.trajectory = undefined as never;
  }

  #runtime() {
    const approvals = { timeoutMs: 60 * MINUTE, ...this.#options.approvals };
    return runtimeOver(this.store, [claims], {
      ...this.#options,
      approvals,
      ports: { clock: this.clock },
    });
  }

  /** A claim that waits for a doctor. Returns the id of the pending entry. */
  async claim(claimant = 'nobody', writ = AGENT_WRIT): Promise<string> {
    this.clock.forward(MINUTE);
    const asked = intent('claim', { claimant }, writ, { role: 'clerk' } as never);
    const ruling = await this.trajectory.propose(asked);
    if (ruling.ruling !== 'escalated') throw new Error(ruling.ruling);
    return ruling.pending;
  }

  /** A claim that a doctor decides about after some minutes. */
  async decided(
    principal: string,
    by: { minutes?: number; reason?: string; rejects?: true } = {},
    writ = AGENT_WRIT,
  ): Promise<void> {
    const pending = await this.claim('nobody', writ);
    await this.decide(pending, principal, by);
  }

  async decide(
    pending: string,
    principal: string,
    {
      minutes = 1,
      rejects,
      ...more
    }: { minutes?: number; reason?: string; rejects?: true; override?: true } = {},
  ): Promise<void> {
    this.clock.forward(minutes * MINUTE);
    const by = { principal, method: 'test', ...more };
    if (rejects === true) await this.trajectory.approvals.reject(pending, { reason: 'no', ...by });
    else await this.trajectory.approvals.approve(pending, by);
  }

  async change(action: 'configure' | 'pin'): Promise<void> {
    await this.trajectory.propose(intent(action, {}, AGENT_WRIT, { role: 'keeper' } as never));
  }

  async halt(reason = 'strange claims', writ = WARDEN_WRIT): Promise<void> {
    await this.trajectory.halt({ reason, writ: writId(writ), principal: writ.subject });
  }

  /** Another trajectory, without a claim. */
  async other(): Promise<void> {
    await this.#runtime().create(claims, { trajectoryId: 'other', writs: [AGENT_WRIT] });
  }

  async resume(): Promise<void> {
    await this.trajectory.resume({
      reason: 'understood',
      writ: writId(WARDEN_WRIT),
      principal: 'warden',
    });
  }
}

/** The signer of a ledger whose entries are signed. */
export const SIGNER = keysOf(5);

/** A checkpoint of all entries, as a report takes it. */
export async function checkpointOf(
  store: LedgerStore & LogStore,
  witnesses = WITNESSES.slice(0, 1),
) {
  await integrateLog(store);
  const signed = signCheckpoint(await logHead(store), LOG);
  const cosignatures = witnesses.map((key) => cosign(parseNote(signed).text, key, 1_774_256_400));
  return {
    signed:
      witnesses.length === 0
        ? signed
        : addCosignatures(signed, formatSignatures(cosignatures), witnesses),
    log: { origin: LOG.name, keys: [LOG] },
    witnesses: WITNESSES.slice(0, 1),
  };
}
