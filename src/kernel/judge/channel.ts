import { arg, checkArgument } from '#base';
import { ANY_COUNSELOR } from '../domain/counselors.ts';
import type { Domain } from '../domain/domain.ts';
import { plainName } from '../domain/principal-name.ts';
import { KernelError } from '../errors.ts';
import type { Compiled } from './compiled.ts';
import type { Finding } from './finding.ts';

/** Joins counselor kinds that the resolving counselor must all have. */
const AND = '+';

/**
 * The counselor kinds that resolve an escalation: the kind of the rule, the kind of the action if
 * approval was required for another reason, and the kind of that reason. If several are named, one
 * counselor must have all of them. So no agent can pick a milder approver by its arguments.
 */
export function channelOf({ action, approvalDemand }: Compiled, finding: Pick<Finding, 'rule'> | undefined): string {
  const ofRule = finding?.rule.spec.channel;
  const ofAction = approvalDemand === undefined && ofRule !== undefined ? undefined : action.channel;
  const kinds = new Set([ofRule, ofAction, ...kindsOf(approvalDemand?.channel)].filter((kind) => kind !== undefined));
  return kinds.size === 0 ? ANY_COUNSELOR : [...kinds].sort().join(AND);
}

function kindsOf(channel: string = ANY_COUNSELOR): string[] {
  return channel === ANY_COUNSELOR ? [] : channel.split(AND);
}

/**
 * Number of approvers that an escalation needs: the higher of the numbers of the rule and the
 * action.
 */
export function approvalsFor({ action }: Compiled, finding: Pick<Finding, 'rule'> | undefined): number {
  return Math.max(action.approvals ?? 1, finding?.rule.spec.approvals ?? 1);
}

/**
 * Checks that each approver approves once. Names are compared as in `counselorKind`.
 *
 * @throws KernelError `already_approved`
 */
export function checkAnother(principal: string, approvedBy: readonly { readonly principal: string }[]): void {
  const name = plainName(principal);
  const before = approvedBy.find((one) => plainName(one.principal) === name);
  if (before === undefined) return;
  throw new KernelError('already_approved', `${principal} has already approved this proposal. Ask another counselor.`, {
    evidence: { principal, approved_by: approvedBy.map((one) => one.principal) },
  });
}

/**
 * The channel under which a principal may resolve a pending proposal (Agentic Redux, Definition
 * A.61). The requester never may, neither under the own name nor through a child of the writ.
 *
 * @throws KernelError `unauthorised_counselor`; ArgumentError `bad_argument`
 */
export function counselorKind(
  domain: Domain,
  channel: string,
  principal: string,
  requesters: readonly string[],
): string {
  checkArgument(arg.text, channel, 'channel');
  checkArgument(arg.text, principal, 'principal');
  checkArgument(arg.list(arg.text), requesters, 'requesters');
  const name = plainName(principal);
  if (requesters.some((requester) => plainName(requester) === name)) {
    throw unauthorised(
      `${principal} requested this proposal or granted its writ, and cannot resolve it. Ask another counselor.`,
      principal,
      channel,
    );
  }
  const kinds = Object.keys(domain.counselors);
  const is = (kind: string): boolean => domain.counselors[kind]?.(principal) === true;
  if (channel === ANY_COUNSELOR) {
    const kind = kinds.find(is);
    if (kind !== undefined) return kind;
  } else if (channel.split(AND).every(is)) return channel;
  const wanted =
    kinds.length === 0
      ? 'a counselor, but the domain has none'
      : channel === ANY_COUNSELOR
        ? `a counselor of the kind ${kinds.join(' or ')}`
        : `a counselor of the kind ${channel.split(AND).join(' and ')}`;
  throw unauthorised(`${principal} cannot resolve this proposal. It needs ${wanted}.`, principal, channel);
}

function unauthorised(message: string, principal: string, channel: string): KernelError {
  return new KernelError('unauthorised_counselor', message, { evidence: { principal, channel } });
}
