/**
 * One parent, `t`, with a `lead` that may spend a hundred, and the test helpers for its
 * delegations.
 */
import { expect } from 'vitest';
import { type Writ, writId } from '#authority';
import { isAssizeError } from '#base';
import type { LedgerStore } from '#ledger';
import {
  type AssizeOptions,
  type CreateOptions,
  type DelegationInput,
  type GrantToSign,
  type ProposalInput,
  type Ruling,
  type Trajectory,
  verifyStore,
} from '#runtime';
import { deskOf, FaultyStore, payloads } from './desk.ts';
import { keysOf } from './rows.ts';
import { HandClock, intent, runtimeOver, writFor } from './runtime.ts';

export const desk = deskOf();
export const apart = deskOf('footprint', 'apart');
export const lead = keysOf(11);
export const helper = keysOf(12);
export const third = keysOf(13);
export const granted = writFor(lead.publicKey, { trajectory: 't', budget: { usd: 100 } });
export const worker = writFor('agent');
export const DOCTOR = { principal: 'dr-who', method: 'test' } as const;

type Options = Partial<AssizeOptions> & { readonly create?: CreateOptions };

export async function begun(
  { create, ...options }: Options = {},
  store: FaultyStore = new FaultyStore(),
) {
  const clock = new HandClock();
  const assize = runtimeOver(store, [desk, apart], {
    ...options,
    ports: { clock, ...options.ports },
  });
  const trajectory = await assize.create(desk, {
    trajectoryId: 't',
    writs: [granted, worker],
    ...create,
  });
  return { store, clock, assize, trajectory };
}

export const reopened = (store: LedgerStore, id = 't'): Promise<Trajectory> =>
  runtimeOver(store, [desk, apart]).open(id);

/** Sixty of the lead's hundred, for `helper` in `c`. */
export function task(rest: Partial<DelegationInput & GrantToSign> = {}): DelegationInput {
  const { privateKey } = lead;
  const usual = {
    task: 'count',
    writ: granted,
    subject: 'helper',
    budget: { usd: 60 },
    childTrajectoryId: 'c',
    privateKey,
  };
  return { ...usual, ...rest } as DelegationInput;
}

export const pay = (usd: number, writ: ProposalInput['writ']): ProposalInput =>
  intent('pay', { usd }, writ as Writ);
export const nameOf = (ruling: Ruling): string =>
  ruling.ruling === 'rejected' ? ruling.reason : ruling.ruling;
export const pendingOf = (ruling: Ruling): string =>
  ruling.ruling === 'escalated' ? ruling.pending : '';

export async function codeOf(attempt: Promise<unknown>): Promise<string> {
  const error = await attempt.then(
    () => 'answered',
    (caught: unknown) => caught,
  );
  return isAssizeError(error) ? error.code : String(error);
}

/** The code of an error, with the knowledge that nothing was recorded. */
export async function refusal(
  store: LedgerStore,
  attempt: () => Promise<unknown>,
): Promise<string> {
  const before = await store.trajectories();
  const code = await codeOf(attempt());
  expect(await store.trajectories()).toEqual(before);
  return code;
}

/** The only delegation that is open. */
export function openOf(trajectory: Trajectory): string {
  const open = trajectory.delegations.open();
  expect(open).toHaveLength(1);
  return open[0]?.id as string;
}

/** The writ that started a child. */
export async function writOf(store: LedgerStore, child = 'c'): Promise<string> {
  const [root] = await payloads(store, child);
  return writId((root as unknown as { writs: Writ[] }).writs[0] as Writ);
}

export async function expectSound(store: LedgerStore): Promise<void> {
  for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
}

/** Checks the amount that can be spent under a writ of the trajectory, to the unit. */
export async function expectLeft(
  trajectory: Trajectory,
  usd: number,
  writ: ProposalInput['writ'] = granted,
): Promise<void> {
  expect(nameOf(await trajectory.propose(pay(usd + 1, writ)))).toBe('budget_exhausted');
  expect(nameOf(await trajectory.propose(pay(usd, writ)))).toBe('committed');
}
