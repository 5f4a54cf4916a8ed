import { isSubject, mayResolveEffect, type Policy, type WritVerifier } from '#authority';
import { isInstance, type Json } from '#base';
import { EffectError, type KnownTransaction } from '#effects';
import {
  adjudicateEffectDecision,
  BUILT_IN_ROLE,
  type Domain,
  isCounselorOf,
  isSamePrincipal,
  KernelError,
  RESOLVE_EFFECT_ACTION,
} from '#kernel';
import { type DomainRef, type Instant, OPERATOR } from '#ledger';
import { authorityFor } from '../../authority/check.ts';
import { holdersOf, verified } from '../../authority/writs.ts';
import type { FoldedTrajectory } from '../../writer/load/fold.ts';
import { later } from '../../writer/writer.ts';
import type { CheckedResolution, EffectResolution } from './human-decision.ts';

/** The ports that answer whether an operator may decide. */
export interface OperatorRightPorts {
  readonly verifier: WritVerifier;
  readonly policy: Policy | undefined;
  readonly clock: { now(): Instant };
  /** @throws RuntimeError `domain_mismatch` */
  readonly domainOf: (ref: DomainRef, upgraded?: boolean) => Domain;
}

/**
 * Checks that the operator may decide about the effect. The operator is neither the principal of
 * the transaction nor a grantor of its writ, with a writ or without. A writ of the operator gives
 * the right. Without one the operator is a counselor of the kind `operator`. The counselor
 * predicate gets a proposal of `assize.resolve_effect`, with the tool and the decision.
 *
 * @throws EffectError `unauthorised_operator`; RuntimeError `domain_mismatch`, `bad_writ`,
 * `unknown_writ`
 */
export function requireOperatorRight(
  resolution: CheckedResolution,
  known: KnownTransaction,
  folded: FoldedTrajectory,
  ports: OperatorRightPorts,
): void {
  const tool = known.effects[resolution.n]?.tool;
  // The engine refuses an effect that does not exist.
  if (tool === undefined) return;
  const { epoch, n, as, by, writ } = resolution;
  const args = { epoch, n, as, tool };
  const requesters = requestersOf(known, folded);
  requireOther(by, requesters, args);
  if (writ === undefined) requireCounselor(by, requesters, args, folded, ports);
  else requireWrit(by, writ, args, folded, ports);
}

interface DecisionArgs {
  readonly epoch: number;
  readonly n: number;
  readonly as: CheckedResolution['as'];
  readonly tool: string;
}

/**
 * The principal of a transaction and the holders of its writ. No entry names the writ of an attempt
 * without a proposal.
 */
function requestersOf({ body }: KnownTransaction, { writs }: FoldedTrajectory): string[] {
  return [body.principal, ...holdersOf(writs.get(body.writ_id))];
}

function requireOther(by: string, requesters: readonly string[], args: DecisionArgs): void {
  const requester = requesters.find((one) => isSamePrincipal(one, by));
  if (requester === undefined) return;
  const named = requester === by ? by : `${requester}, whose name looks like ${by},`;
  const why = `${named} requested this transaction or granted its writ`;
  throw unauthorised(by, args, { why, advice: 'Let another principal decide' });
}

function requireCounselor(
  by: string,
  requesters: readonly string[],
  args: DecisionArgs,
  { chain, domain: ref }: FoldedTrajectory,
  { domainOf }: OperatorRightPorts,
): void {
  const domain = domainOf(ref, chain.upgraded !== undefined);
  if (!Object.hasOwn(domain.counselors, OPERATOR)) {
    const why = `the domain ${domain.name}@${domain.version} has no counselors of the kind ${OPERATOR}`;
    throw unauthorised(by, args, { why });
  }
  const proposal = { action: RESOLVE_EFFECT_ACTION, role: BUILT_IN_ROLE, args };
  try {
    if (isCounselorOf(domain, OPERATOR, by, requesters, proposal)) return;
  } catch (cause) {
    if (!isInstance(cause, KernelError)) throw cause;
    // The message of a failed predicate says what to correct.
    throw unauthorised(by, args, { why: cause.message, advice: '', cause });
  }
  throw unauthorised(by, args);
}

function requireWrit(
  by: string,
  given: NonNullable<EffectResolution['writ']>,
  args: DecisionArgs,
  { chain, writs }: FoldedTrajectory,
  { verifier, policy, clock }: OperatorRightPorts,
): void {
  const { trajectoryId } = chain;
  const writ = writs.present(given);
  verified(verifier, writ, writs.delegated);
  const { subject } = writ.writ;
  if (!isSubject(by, writ.writ)) {
    const why = `the writ is for ${subject}, and \`by\` says ${by}`;
    throw unauthorised(by, args, {
      why,
      advice: `Pass a writ for ${by}, or let ${subject} decide`,
    });
  }
  const use = {
    writ,
    principal: by,
    trajectoryId,
    at: later(clock.now(), chain.at),
    approving: false,
  };
  const judged = adjudicateEffectDecision(
    args as unknown as Json,
    args.tool,
    authorityFor(use, writs, verifier, policy),
  );
  if (judged.verdict === 'rejected') throw unauthorised(by, args, { why: judged.detail });
  if (mayResolveEffect(writ)) return;
  const why = `the writ and its ancestors do not all name ${RESOLVE_EFFECT_ACTION} and a scope effect:…`;
  throw unauthorised(by, args, { why });
}

interface Refusal {
  readonly why?: string;
  readonly advice?: string;
  readonly cause?: unknown;
}

function unauthorised(
  by: string,
  args: DecisionArgs,
  { why, advice, cause }: Refusal = {},
): EffectError {
  const { tool } = args;
  const pass = `Let a counselor of the kind ${OPERATOR} decide, or pass a writ that names ${RESOLVE_EFFECT_ACTION} and effect:${tool}`;
  const reason = why === undefined ? '' : `: ${why}`;
  const sentences = [`${by} cannot decide about the effect of ${tool}${reason}`, advice ?? pass];
  const message = sentences
    .filter((each) => each !== '')
    .map((each) => each.replace(/\.?$/, '.'))
    .join(' ');
  return new EffectError('unauthorised_operator', message, { evidence: { by, ...args }, cause });
}
