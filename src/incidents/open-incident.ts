import { randomBytes } from 'node:crypto';
import type { Writ } from '#authority';
import { arg, checkArgument } from '#base';
import { contentHash } from '#canon';
import { INCIDENTS } from '#domains/incident';
import type { Hash } from '#ledger';
import type { Assize } from '#runtime';
import { IncidentError } from './errors.ts';
import { ensureIncidents } from './incident-trajectory.ts';
import type { ResponsePlan } from './plan-response.ts';

/** A writ for one action in a trajectory, which covers the scope. */
export type WritFor = (action: string, scope: string, trajectoryId: string) => Promise<Writ>;

export interface OpenIncident {
  readonly plan: ResponsePlan;
  /** The reason of the response. It stays in the ledger. */
  readonly because: string;
  /** The name of the opener. */
  readonly openedBy: string;
  readonly writFor: WritFor;
  /** Default: `incidents`. It is created at its first use. */
  readonly trajectoryId?: string;
  /** The same key proposes the same plan once. */
  readonly idempotencyKey?: string;
}

/** A proposed incident, which waits for a person. */
export interface ProposedIncident {
  readonly incident: string;
  readonly trajectoryId: string;
  /** The id under which the plan is approved or rejected. */
  readonly pending: Hash;
}

const OPEN = arg.members({
  plan: arg.members({ start: arg.object, steps: arg.list(arg.object), remains: arg.list(arg.object) }),
  because: arg.text,
  openedBy: arg.text,
  writFor: arg.code,
  trajectoryId: arg.optional(arg.text),
  idempotencyKey: arg.optional(arg.text),
});

/**
 * Proposes a plan. It is committed when a person other than the holder of the writ approves it, and
 * no step is carried out before.
 *
 * @throws IncidentError `no_incident_trajectory`, `incident_refused`; the errors of
 * `Assize.create`, `Assize.open` and `Trajectory.propose`; ArgumentError `bad_argument`
 */
export async function openIncident(assize: Assize, input: OpenIncident): Promise<ProposedIncident> {
  checkArgument(OPEN, input, 'input');
  const { plan, because, openedBy, writFor, trajectoryId = INCIDENTS, idempotencyKey } = input;
  const trajectory = await ensureIncidents(assize, trajectoryId);
  const incident =
    idempotencyKey === undefined ? randomHex() : contentHash([openedBy, idempotencyKey]).slice(0, DIGITS);
  const ruling = await trajectory.propose({
    action: 'open',
    role: { name: 'opener', params: { incident } },
    args: { start: plan.start, because, openedBy, steps: plan.steps, remains: plan.remains },
    writ: await writFor('open', `role:opener:${incident}`, trajectoryId),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  } as never);
  if (ruling.ruling === 'escalated') return { incident, trajectoryId, pending: ruling.entry.id };
  throw new IncidentError(
    'incident_refused',
    `The plan was not proposed: ${'detail' in ruling ? ruling.detail : ruling.ruling}.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}

const DIGITS = 12;

function randomHex(): string {
  return randomBytes(DIGITS / 2).toString('hex');
}
