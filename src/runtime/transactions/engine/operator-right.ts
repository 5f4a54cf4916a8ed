import { mayResolveEffect, type Policy, type WritVerifier } from '#authority';
import { isInstance, type Json } from '#base';
import { EffectError, type KnownTransaction } from '#effects';
import {
  adjudicateEffectDecision,
  BUILT_IN_ROLE,
  counselorKind,
  type Domain,
  KernelError,
  RESOLVE_EFFECT_ACTION,
} from '#kernel';
import { type DomainRef, type Instant, OPERATOR } from '#ledger';
import { authorityFor } from '../../authority/check.ts';
import { holdersOf } from '../../authority/holders.ts';
import { verified, type Writs } from '../../authority/writs.ts';
import type { FoldedTrajectory } from '../../writer/fold.ts';
import { later } from '../../writer/writer.ts';
import type { EffectResolution } from './human-decision.ts';

/** The ports that answer whether an operator may decide. */
export interface OperatorRightPorts {
  readonly verifier: WritVerifier;
  readonly policy: Policy | undefined;
  readonly clock: { now(): Instant };
  /** @throws RuntimeError `domain_mismatch` */
  readonly domainOf: (ref: DomainRef, upgraded?: boolean) => Domain;
}

/**
 * Checks that the operator may decide about the effect. With a writ, the writ gives the right.
 * Without one the operator is a counselor of the kind `operator`, and neither the principal of the
 * transaction nor a grantor of its writ. The counselor predicate gets a proposal of
 * `assize.resolve_effect`, with the tool and the decision.
 *
 * @throws EffectError `unauthorised_operator`; RuntimeError `domain_mismatch`, `bad_writ`,
 * `unknown_writ`
 */
export function requireOperatorRight(
  resolution: EffectResolution,
  known: KnownTransaction,
  folded: FoldedTrajectory,
  ports: OperatorRightPorts,
): void {
  const tool = known.effects[resolution.n]?.tool;
  // The engine refuses an effect that does not exist.
  if (tool === undefined) return;
  const { epoch, n, as } = resolution;
  const args = { epoch, n, as, tool };
  if (resolution.writ === undefined) requireCounselor(resolution.by, args, known, folded, ports);
  else requireWrit(resolution.by, resolution.writ, args, folded, ports);
}

interface DecisionArgs {
  readonly epoch: number;
  readonly n: number;
  readonly as: EffectResolution['as'];
  readonly tool: string;
}

function requireCounselor(
  by: string,
  args: DecisionArgs,
  { body }: KnownTransaction,
  { chain, writs, domain: ref }: FoldedTrajectory,
  { domainOf }: OperatorRightPorts,
): void {
  const domain = domainOf(ref, chain.upgraded !== undefined);
  if (!Object.hasOwn(domain.counselors, OPERATOR))
    throw unauthorised(
      `${by} cannot decide about the effect of ${args.tool}: the domain ${domain.name}@${domain.version} has no counselors of the kind ${OPERATOR}`,
      { by, ...args },
    );
  const requesters = [body.principal, ...requestersOf(writs, body.writ_id)];
  const proposal = { action: RESOLVE_EFFECT_ACTION, role: BUILT_IN_ROLE, args };
  try {
    counselorKind(domain, OPERATOR, by, requesters, proposal);
  } catch (error) {
    if (!isInstance(error, KernelError)) throw error;
    const why = error.message.replace(/\.$/, '');
    throw unauthorised(`${by} cannot decide about the effect of ${args.tool}: ${why}`, { by, ...args }, error);
  }
}

/**
 * The holders of the writ of a transaction. No entry names the writ of an attempt without a
 * proposal.
 */
function requestersOf(writs: Writs, id: string): string[] {
  return holdersOf(writs.get(id));
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
  const use = { writ, principal: by, trajectoryId, at: later(clock.now(), chain.at), approving: false };
  const judged = adjudicateEffectDecision(
    args as unknown as Json,
    args.tool,
    authorityFor(use, writs, verifier, policy),
  );
  const why =
    judged.verdict === 'rejected'
      ? judged.detail
      : mayResolveEffect(writ)
        ? undefined
        : `the writ and its ancestors do not all name ${RESOLVE_EFFECT_ACTION} and a scope effect:…`;
  if (why !== undefined)
    throw unauthorised(`${by} cannot decide about the effect of ${args.tool}: ${why}`, { by, ...args });
}

function unauthorised(what: string, evidence: DecisionArgs & { readonly by: string }, cause?: unknown): EffectError {
  return new EffectError(
    'unauthorised_operator',
    `${what}. Let a counselor of the kind ${OPERATOR} decide, or pass a writ that names ${RESOLVE_EFFECT_ACTION} and effect:${evidence.tool}.`,
    { evidence: { ...evidence }, cause },
  );
}
