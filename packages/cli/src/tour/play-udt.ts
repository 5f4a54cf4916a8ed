/** The world `udt`: the record of a patient, with the scenes that `assize demo` tells. */
import type { Writ } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import type { RootKey } from 'assize/internal/config';
import { Assize, type Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import {
  actionsOf,
  DOCTOR,
  ENROLLED,
  PATIENT,
  PRINCIPALS,
  type Proposal,
  ROLES,
  SCENES,
} from '../commands/demo-scenes.ts';
import { nineOClock } from '../commands/demo-steps.ts';
import { udt } from '../domains/udt/index.ts';
import { openOrCreate, roleWrit } from './worlds.ts';

export const UDT_WORLD = 'udt';
const MINUTE_MICROS = 60_000_000;

/**
 * Proposes the story on its own days. A step that was ruled before gets its ruling again, so an
 * interrupted run is continued.
 */
export async function playUdt(store: Store, root: RootKey): Promise<void> {
  const clock = { at: nineOClock(ENROLLED) };
  const assize = new Assize({
    ...{ store, domains: [udt], anchors: [root.publicKey] },
    ports: { clock: { now: () => clock.at } },
  });
  try {
    const trajectory = await openOrCreate(assize, udt, {
      trajectoryId: UDT_WORLD,
      note: 'drug tests of a patient',
    });
    const writs = writsOf(root);
    for (const [scene, { day, steps }] of SCENES.entries()) {
      clock.at = nineOClock(day);
      for (const [i, step] of steps.entries()) {
        clock.at = addMicros(clock.at, MINUTE_MICROS);
        if (step === 'approval') await approvePending(trajectory);
        else await propose(trajectory, writs, step, `scene ${scene} step ${i}`);
      }
    }
  } finally {
    await assize.close();
  }
}

async function propose(
  trajectory: Trajectory,
  writs: ReadonlyMap<string, Writ>,
  { role, action, args }: Proposal,
  idempotencyKey: string,
): Promise<void> {
  const bound = { name: role, params: { patient: PATIENT } };
  await trajectory.propose({
    action,
    role: bound,
    args,
    writ: writs.get(role) as Writ,
    idempotencyKey,
  });
}

/** Nothing is pending if an earlier run came further. */
async function approvePending(trajectory: Trajectory): Promise<void> {
  for (const { id, payload } of trajectory.approvals.pending())
    await trajectory.approvals.approve(id, {
      principal: DOCTOR,
      method: 'tour',
      digest: payload.digest,
    });
}

function writsOf(root: RootKey): ReadonlyMap<string, Writ> {
  return new Map(
    ROLES.map((role) => [
      role,
      roleWrit(root, {
        subject: PRINCIPALS[role],
        trajectory: UDT_WORLD,
        actions: actionsOf(role),
        scopes: [`role:${role}:${PATIENT}`],
      }),
    ]),
  );
}
