import type { KeyPair } from '#canon';
import { findRootKey, GrantIssuer } from '#config';
import { INCIDENTS, stepText } from '#domains/incident';
import { openIncident, type ProposedIncident, planResponse, type ResponsePlan, type WritFor } from '#incidents';
import type { BlastRadius } from '#runtime';
import type { Store } from '#stores';
import { counted, shortId } from '#views';
import { CliError, EXIT, type ExitCode } from '../../errors.ts';
import type { OpeningOptions } from '../../files/options.ts';
import { ephemeralWrit } from '../../input/ephemeral-writ.ts';
import { readPrivateKey, requireAnchor } from '../../input/private-key.ts';
import { readAnchors } from '../../store/anchors.ts';
import { headOf } from '../../store/entries.ts';
import { rootKeyToAct } from '../../store/root-key.ts';
import { openAssize } from '../../store/runtime.ts';
import type { Session } from '../../store/session.ts';
import type { Output } from '../../terminal/output.ts';
import { bold, dim, line, yellow } from '../../terminal/printable.ts';

/** The options by which a command acts as an office. */
export interface OfficeOptions extends OpeningOptions {
  readonly key?: string;
  readonly as: string;
  readonly incidents: string;
}

export interface ResponseOptions extends OfficeOptions {
  readonly plan?: boolean;
  readonly propose?: boolean;
  readonly because?: string;
  readonly halts: boolean;
}

/** @throws CliError `usage` */
export function requireReason({ plan, propose, because, key }: ResponseOptions): void {
  if (propose === true && plan === true) throw new CliError('usage', 'Pass --plan or --propose, not both.');
  if (propose === true && (because === undefined || because.trim() === ''))
    throw new CliError('usage', 'A response has a reason, which the approver reads. Pass --because TEXT.');
  if (propose !== true && because !== undefined)
    throw new CliError('usage', 'The option --because is for --propose. Pass it too.');
  if (propose !== true && plan !== true && key !== undefined)
    throw new CliError('usage', 'The option --key is for --plan and --propose. Pass one too.');
}

/** The key of an anchor: of the file, or the root key of a local store. @throws CliError */
export function officeKey({ storeUrl }: Session, { key, anchors }: OfficeOptions, does: string): KeyPair {
  if (key === undefined) {
    if (findRootKey(storeUrl) !== undefined) return rootKeyToAct(storeUrl);
    throw new CliError(
      'usage',
      `The store has no root key ${does}. Pass --key FILE with the private key of an anchor.`,
    );
  }
  const pair = readPrivateKey(key, readAnchors(storeUrl, anchors));
  requireAnchor(storeUrl, anchors, pair, does);
  return pair;
}

/** Short-lived root writs, each for one action and scope in one trajectory. */
export function officeWrits(store: Store, principal: string, key: KeyPair): WritFor {
  return async (action, scope, trajectoryId) =>
    ephemeralWrit(await headOf(store, trajectoryId), { action, scopes: [scope], principal }, key);
}

/** Plans the response to a radius, and proposes it with --propose. */
export async function respond(
  session: Session,
  store: Store,
  radius: BlastRadius,
  options: ResponseOptions,
): Promise<ExitCode> {
  const key = options.propose === true ? officeKey(session, options, 'to propose a response') : undefined;
  const root =
    key ?? (options.key === undefined ? findRootKey(session.storeUrl) : officeKey(session, options, 'to plan'));
  // The root key alone knows the holders of grants.
  const grants = root && new GrantIssuer(root, store, { principals: new Map() });
  const plan = await planResponse(store, radius, {
    halts: options.halts ? 'affected' : 'none',
    ...(grants && { holdersIn: (id) => grants.holdersIn(id) }),
  });
  const proposed = key && (await propose(session, store, plan, options, key));
  if (session.json) session.out.document({ ...proposedDocument(proposed), steps: plan.steps, remains: plan.remains });
  else print(session.out, plan, proposed);
  return EXIT.ok;
}

async function propose(
  { storeUrl }: Session,
  store: Store,
  plan: ResponsePlan,
  options: ResponseOptions,
  key: KeyPair,
): Promise<ProposedIncident> {
  const { as: openedBy, because = '', incidents: trajectoryId } = options;
  const assize = await openAssize(store, storeUrl, options);
  try {
    return await openIncident(assize, {
      ...{ plan, because, openedBy, trajectoryId },
      writFor: officeWrits(store, openedBy, key),
    });
  } finally {
    await assize.close();
  }
}

function proposedDocument(proposed: ProposedIncident | undefined): object {
  if (proposed === undefined) return {};
  const { incident, trajectoryId, status, pending } = proposed;
  return { incident, trajectory_id: trajectoryId, status, ...(pending !== undefined && { pending }) };
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
    out.line(line`${yellow('Nothing was proposed')}: the open incident ${incident} has the same plan.`);
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

export function printSteps(out: Output, steps: readonly { readonly text: string; readonly outcome?: string }[]): void {
  out.line(steps.length === 0 ? line`No step is needed.` : line`${bold(counted(steps.length, 'step'))}`);
  for (const { text, outcome } of steps) out.line(line`  ${outcome === undefined ? '' : `${outcome} `}${text}`);
}

export function printRemains(out: Output, remains: ResponsePlan['remains']): void {
  if (remains.length === 0) return;
  out.line(line`${bold(counted(remains.length, 'item'))} that no step undoes`);
  for (const { what, entry, why, advice } of remains) {
    out.line(entry === undefined ? line`  ${what}` : line`  ${what} ${dim(shortId(entry))}`);
    out.line(line`    ${why}. Do: ${advice}`);
  }
}
