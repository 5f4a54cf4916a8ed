import { arg, checkArgument } from 'assize/internal/base';
import type { LedgerStore } from 'assize/internal/ledger';
import type { BlastRadius } from '#blast';
import { type RemainingItem, type ResponseStep, STEPS_MAX } from '#incident-domain';
import { AffectedTrajectories } from './affected-trajectories.ts';
import { IncidentError } from './errors.ts';
import { gatewayItems } from './gateway-items.ts';
import { planHalts } from './plan-halts.ts';
import { type HoldersIn, planRevocations } from './plan-revocations.ts';
import { planWithdrawals } from './plan-withdrawals.ts';
import {
  approverItems,
  effectItems,
  endedItems,
  pendingItems,
  toolItems,
} from './remaining-work.ts';

export interface PlanOptions {
  /** `affected`: halt trajectories in which affected work goes on. Default: `affected`. */
  readonly halts?: 'affected' | 'none';
  /**
   * The principals that hold writs under another name than the ledger has, by the id of the writ,
   * such as the holders of grants. Default: none.
   */
  readonly holdersIn?: HoldersIn;
}

/** A response: the steps in their order, and the consequences that no step undoes. */
export interface ResponsePlan {
  readonly start: BlastRadius['start'];
  readonly steps: readonly ResponseStep[];
  readonly remains: readonly RemainingItem[];
}

const PLAN_OPTIONS = arg.options<PlanOptions>({
  halts: arg.optional(arg.oneOf(['affected', 'none'])),
  holdersIn: arg.optional(arg.code),
});
const RADIUS = arg.members({
  start: arg.object,
  entries: arg.list(arg.object),
  facts: arg.list(arg.object),
  ended: arg.list(arg.object),
  statements: arg.list(arg.object),
  calls: arg.list(arg.object),
  pending: arg.list(arg.text),
});

/**
 * Plans the response to an incident from its blast radius. Reads the ledger, and writes nothing.
 * Pass a radius that was found by reading all entries: the response acts on it, and an index is a
 * cache. Writs are revoked first. Statements are withdrawn before trajectories are halted, because
 * a halted trajectory states nothing.
 *
 * @throws IncidentError `not_found`, `too_large`; LedgerFault for a trajectory that does not
 * verify; ArgumentError `bad_argument`
 */
export async function planResponse(
  store: LedgerStore,
  radius: BlastRadius,
  options: PlanOptions = {},
): Promise<ResponsePlan> {
  checkArgument(RADIUS, radius, 'radius');
  checkArgument(PLAN_OPTIONS, options, 'options');
  const { halts = 'affected', holdersIn = async () => new Map() } = options;
  if (radius.entries.length === 0)
    throw new IncidentError('not_found', 'No entry derives from the start. Name another start.');
  const trajectories = new AffectedTrajectories(store);
  const revocations = await planRevocations(radius, { store, trajectories, holdersIn });
  const steps: readonly ResponseStep[] = [
    ...revocations.steps,
    ...(await planWithdrawals(radius, trajectories)),
    ...(halts === 'none' ? [] : await planHalts(radius, trajectories)),
  ];
  const remains = [
    ...revocations.remains,
    ...approverItems(radius),
    ...toolItems(radius),
    ...(await pendingItems(radius, steps, trajectories)),
    ...endedItems(radius),
    ...effectItems(radius),
    ...(await gatewayItems(store, radius, trajectories)),
  ];
  requireSmall(steps.length + remains.length);
  return { start: radius.start, steps, remains };
}

function requireSmall(steps: number): void {
  if (steps <= STEPS_MAX) return;
  throw new IncidentError(
    'too_large',
    `The response has ${steps} steps and remaining items, and an incident has at most ${STEPS_MAX}. Narrow the start by its period, or follow fewer derivations.`,
    { evidence: { steps, most: STEPS_MAX } },
  );
}
