import type { Writ } from 'assize/internal/authority';
import { arg, checkArgument, type Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import { type Hash, type PendingPayload, readRow } from 'assize/internal/ledger';
import type { Assize } from 'assize/internal/runtime';
import { incident as incidentDomain } from '#incident-domain';
import { IncidentError } from './errors.ts';
import { openedIn, statusOf } from './incident-status.ts';
import { ensureIncidentTrajectory, type IncidentTrajectory } from './incident-trajectory.ts';
import type { ResponsePlan } from './plan-response.ts';

/** A writ that covers the scope for one action in a trajectory. */
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

/** A proposed incident. Its id is a hash of the plan. */
export interface ProposedIncident {
  readonly incident: string;
  readonly trajectoryId: string;
  /**
   * `proposed` by this call. `waiting` or `approved`: the same plan was proposed before and is not
   * closed, so nothing was proposed.
   */
  readonly status: 'proposed' | 'waiting' | 'approved';
  /** The id under which the plan is approved or rejected. Absent for an approved one. */
  readonly pending?: Hash;
}

const OPEN = arg.members({
  plan: arg.members({
    start: arg.object,
    steps: arg.list(arg.object),
    remains: arg.list(arg.object),
  }),
  because: arg.text,
  openedBy: arg.text,
  writFor: arg.code,
  trajectoryId: arg.optional(arg.text),
  idempotencyKey: arg.optional(arg.text),
});

/**
 * Proposes a plan. It is committed when a person other than the holder of the writ approves it, and
 * no step is carried out before. If an open incident has the same plan, nothing is proposed, and
 * that incident is returned.
 *
 * @throws IncidentError `wrong_state`, `incident_refused`; the errors of `Assize.create`,
 * `Assize.open` and `Trajectory.propose`; ArgumentError `bad_argument`
 */
export async function openIncident(assize: Assize, input: OpenIncident): Promise<ProposedIncident> {
  checkArgument(OPEN, input, 'input');
  const { plan, because, openedBy, writFor, trajectoryId = INCIDENTS, idempotencyKey } = input;
  requireSteps(plan);
  const args = { start: plan.start, because, openedBy, steps: plan.steps, remains: plan.remains };
  requireFitting(args, trajectoryId);
  const trajectory = await ensureIncidentTrajectory(assize, trajectoryId);
  const { incident, open } = await nameFor(plan, trajectory);
  if (open !== undefined) return { incident, trajectoryId, ...open };
  const ruling = await trajectory.propose({
    action: 'open',
    role: { name: 'opener', params: { incident } },
    args,
    writ: await writFor('open', `role:opener:${incident}`, trajectoryId),
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  } as never);
  if (ruling.ruling === 'escalated') {
    // An earlier call with the key may have proposed another plan.
    const { payload } = readRow(ruling.entry);
    const opened = openedIn(payload as PendingPayload) ?? incident;
    return { incident: opened, trajectoryId, status: 'proposed', pending: ruling.entry.id };
  }
  // Another process proposed the same plan at the same time.
  const { incident: same, open: other } = await nameFor(plan, trajectory);
  if (other !== undefined) return { incident: same, trajectoryId, ...other };
  throw new IncidentError(
    'incident_refused',
    `The plan was not proposed: ${'detail' in ruling ? ruling.detail : ruling.ruling}.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}

/** @throws IncidentError `wrong_state` */
function requireSteps({ steps, remains }: ResponsePlan): void {
  if (steps.length > 0) return;
  const rest =
    remains.length === 0
      ? 'Nothing remains to be done'
      : 'Follow the advice of the items that remain';
  throw new IncidentError(
    'wrong_state',
    `The response has no step that is still needed. ${rest}.`,
    {
      evidence: { remains: remains.length },
    },
  );
}

/**
 * A plan that the domain would refuse leaves no rejection in the ledger.
 *
 * @throws IncidentError `incident_refused`
 */
function requireFitting(args: object, trajectoryId: string): void {
  const [issue] = incidentDomain.actions['open']?.args.safeParse(args).error?.issues ?? [];
  if (issue === undefined) return;
  throw new IncidentError(
    'incident_refused',
    `The plan was not proposed: ${issue.path.join('.')}: ${issue.message}. Correct it, and propose it again.`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}

const DIGITS = 12;

type Open = Pick<ProposedIncident, 'status' | 'pending'>;

/** The name of a plan: its hash, with a number if incidents of the same plan are closed. */
async function nameFor(
  { start, steps, remains }: ResponsePlan,
  trajectory: IncidentTrajectory,
): Promise<{ readonly incident: string; readonly open?: Open }> {
  const hash = contentHash({ start, steps, remains } as unknown as Json).slice(0, DIGITS);
  for (let n = 1; ; n++) {
    const incident = n === 1 ? hash : `${hash}-${n}`;
    const found = await statusOf(trajectory, incident);
    if (found === undefined) return { incident };
    if (found.is === 'waiting')
      return { incident, open: { status: 'waiting', pending: found.approval } };
    if (found.is === 'approved') return { incident, open: { status: 'approved' } };
  }
}
