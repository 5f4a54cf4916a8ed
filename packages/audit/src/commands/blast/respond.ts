import {
  bold,
  CliError,
  EXIT,
  type ExitCode,
  line,
  type Output,
  type Session,
  withAssize,
  yellow,
} from '@assize/command';
import type { KeyPair } from 'assize/internal/canon';
import { findRootKey, GrantIssuer, INCIDENTS } from 'assize/internal/config';
import type { Store } from 'assize/internal/stores';
import { shortId } from 'assize/internal/views';
import type { BlastRadius } from '#blast';
import { stepText } from '#incident-domain';
import { openIncident, type ProposedIncident, planResponse, type ResponsePlan } from '#incidents';
import { printRemains, printSteps } from '../response-text.ts';
import { type ActingOptions, anchorKey, rootWrits } from './acting-options.ts';

export interface ResponseOptions extends ActingOptions {
  readonly plan?: boolean;
  readonly propose?: boolean;
  readonly because?: string;
  readonly halts: boolean;
}

/** @throws CliError `usage` */
export function requireResponseOptions({ plan, propose, because, key }: ResponseOptions): void {
  if (propose === true && plan === true)
    throw new CliError('usage', 'Pass --plan or --propose, not both.');
  if (propose === true && (because === undefined || because.trim() === ''))
    throw new CliError('usage', 'A response needs a reason for its approver. Pass --because TEXT.');
  if (propose !== true && because !== undefined)
    throw new CliError('usage', 'The option --because is for --propose. Pass it too.');
  if (propose !== true && plan !== true && key !== undefined)
    throw new CliError('usage', 'The option --key is for --plan and --propose. Pass one too.');
}

/** Plans the response to a radius, and proposes it with --propose. */
export async function respond(
  session: Session,
  store: Store,
  radius: BlastRadius,
  options: ResponseOptions,
): Promise<ExitCode> {
  const key =
    options.propose === true ? anchorKey(session, options, 'to propose a response') : undefined;
  const grants = grantsOf(key ?? keyToPlan(session, options), store);
  const plan = await planResponse(store, radius, {
    halts: options.halts ? 'affected' : 'none',
    ...(grants && { holdersIn: (id) => grants.holdersIn(id) }),
  });
  const proposed = key && (await propose(session, store, plan, options, key));
  if (session.json)
    session.out.document({
      ...proposedDocument(proposed),
      steps: plan.steps,
      remains: plan.remains,
    });
  else print(session.out, plan, proposed);
  return EXIT.ok;
}

/** A plan needs no key. With one, it also names the holders of grants. */
function keyToPlan(session: Session, options: ResponseOptions): KeyPair | undefined {
  return options.key === undefined
    ? findRootKey(session.storeUrl)
    : anchorKey(session, options, 'to plan');
}

/** Only the key that issued grants knows their holders. */
function grantsOf(key: KeyPair | undefined, store: Store): GrantIssuer | undefined {
  return key && new GrantIssuer(key, store, { principals: new Map() });
}

async function propose(
  { storeUrl }: Session,
  store: Store,
  plan: ResponsePlan,
  options: ResponseOptions,
  key: KeyPair,
): Promise<ProposedIncident> {
  const { as: openedBy, because = '', incidents: trajectoryId } = options;
  const writFor = rootWrits(store, openedBy, key);
  const incident = { plan, because, openedBy, trajectoryId, writFor };
  return withAssize(store, storeUrl, options, (assize) => openIncident(assize, incident));
}

function proposedDocument(proposed: ProposedIncident | undefined): object {
  if (proposed === undefined) return {};
  const { incident, trajectoryId, status, pending } = proposed;
  return {
    incident,
    trajectory_id: trajectoryId,
    status,
    ...(pending !== undefined && { pending }),
  };
}

function print(out: Output, plan: ResponsePlan, proposed: ProposedIncident | undefined): void {
  printSteps(
    out,
    plan.steps.map((step) => ({ text: stepText(step) })),
  );
  printRemains(out, plan.remains);
  if (proposed === undefined) return;
  const { incident, trajectoryId, status, pending } = proposed;
  if (status !== 'proposed')
    out.line(
      line`${yellow('Nothing was proposed')}: the open incident ${incident} has the same plan.`,
    );
  const where = trajectoryId === INCIDENTS ? '' : ` --incidents ${trajectoryId}`;
  const carry = `assize blast carry-out ${incident}${where}`;
  if (pending === undefined) {
    out.line(line`${bold(`incident ${incident}`)} is approved. Carry it out: ${carry}`);
    return;
  }
  out.line(
    line`${bold(`incident ${incident}`)} waits for a person: assize approve ${shortId(pending)} --as human:NAME`,
  );
  out.line(line`Then carry it out: ${carry}`);
}
