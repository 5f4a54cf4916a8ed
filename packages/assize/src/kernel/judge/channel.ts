import { deepFreeze } from '#base';
import { addMicros, copyJson, type Instant, WORLD_LIMITS } from '#canon';
import { ANY_COUNSELOR } from '../domain/counselors.ts';
import type { Domain } from '../domain/domain.ts';
import type { CounseledProposal, CounselorContext } from '../domain/domain-spec.ts';
import { refusePromise } from '../domain/host-code.ts';
import { isSamePrincipal } from '../domain/same-principal.ts';
import { KernelError, messageOf } from '../errors.ts';
import type { Compiled } from './compiled.ts';
import type { Finding } from './finding.ts';

type Escalating = readonly Pick<Finding, 'rule'>[];

/** Joins counselor kinds that the resolving counselor must all have. */
const AND = '+';

/**
 * The counselor kinds that resolve an escalation: the kind of the rule, the kind of the action if
 * approval was required for another reason, the kind of that reason, and the kinds of all rules
 * over calls that escalate (`callRules`). If several are named, one counselor must have all of
 * them. So no agent can pick a milder approver by its arguments.
 */
export function channelOf(
  { action, approvalDemand }: Compiled,
  finding: Pick<Finding, 'rule'> | undefined,
  callRules: Escalating = [],
): string {
  const ofRule = finding?.rule.spec.channel;
  const ofAction =
    approvalDemand === undefined && ofRule !== undefined ? undefined : action.channel;
  const ofCalls = callRules.map(({ rule }) => rule.spec.channel);
  const named = [ofRule, ofAction, ...ofCalls, ...kindsOf(approvalDemand?.channel)];
  const kinds = new Set(named.filter((kind) => kind !== undefined));
  return kinds.size === 0 ? ANY_COUNSELOR : [...kinds].sort().join(AND);
}

function kindsOf(channel: string = ANY_COUNSELOR): string[] {
  return channel === ANY_COUNSELOR ? [] : channel.split(AND);
}

/**
 * Number of approvers that an escalation needs: the highest of the numbers of the rule, the action
 * and the rules over calls that escalate (`callRules`).
 */
export function approvalsFor(
  { action }: Compiled,
  finding: Pick<Finding, 'rule'> | undefined,
  callRules: Escalating = [],
): number {
  const ofCalls = callRules.map(({ rule }) => rule.spec.approvals ?? 1);
  return Math.max(action.approvals ?? 1, finding?.rule.spec.approvals ?? 1, ...ofCalls);
}

/**
 * The shortest time until an escalation expires that the action and the findings name: those of the
 * first rule that escalates, and of every rule over calls. Infinity if none does.
 */
export function timeoutFor({ action }: Compiled, found: readonly Finding[]): number {
  return found.reduce((shortest, { rule, result }) => {
    if (result.result !== 'escalate') return shortest;
    const { timeoutMs = shortest } = rule.spec;
    return Math.min(shortest, timeoutMs, result.timeoutMs ?? shortest);
  }, action.timeoutMs ?? Number.POSITIVE_INFINITY);
}

/** A kind that may decide in place of another kind of the channel, and from when. */
export interface NamedDeputy {
  readonly of: string;
  readonly kind: string;
  readonly from: Instant;
}

/** The deputies of a channel for a proposal that waits from that time on. */
export function deputiesOf(
  { deputies }: Domain,
  channel: string,
  at: Instant,
): readonly NamedDeputy[] {
  return kindsOf(channel).flatMap((of) => {
    const deputy = Object.hasOwn(deputies, of) ? deputies[of] : undefined;
    if (deputy === undefined) return [];
    return [{ of, kind: deputy.kind, from: addMicros(at, deputy.afterMs * 1_000) }];
  });
}

/**
 * Checks that each approver approves once, under any look-alike name. The maker of an approver's
 * token can approve under it, so both count as one person.
 *
 * @throws KernelError `already_approved`
 */
export function checkAnother(
  { principal, tokenBy = [] }: { readonly principal: string; readonly tokenBy?: readonly string[] },
  approvedBy: readonly { readonly principal: string; readonly token_by?: readonly string[] }[],
): void {
  const names = [principal, ...tokenBy];
  for (const { principal: before, token_by = [] } of approvedBy) {
    const pairs = [before, ...token_by].flatMap((one) =>
      names.map((other) => [one, other] as const),
    );
    const [one, other] = pairs.find((pair) => isSamePrincipal(...pair)) ?? [];
    if (one === undefined) continue;
    const look = before === principal ? '' : `, whose name looks like ${principal},`;
    const maker = other === principal ? one : other;
    const what =
      one === before && other === principal
        ? `${before}${look} has already approved this proposal`
        : `${before} has already approved this proposal, and counts as one person with ${principal}: ${maker} made a token by which one of them decides`;
    throw new KernelError('already_approved', `${what}. Ask another counselor.`, {
      evidence: { principal, approved_by: approvedBy.map((each) => each.principal) },
    });
  }
}

/**
 * The kinds under which a principal may resolve a pending proposal (Agentic Redux, Definition
 * A.61): those of the channel, each in its own right or as the deputy that is due. The requester
 * never may, neither under a look-alike name nor through a child of the writ. `requesters`: the
 * requester, and then the grantors of its writ. `named`: the deputies that the proposal names, and
 * the time of the decision.
 *
 * @throws KernelError `unauthorised_counselor`
 */
export function counselorKind(
  domain: Domain,
  channel: string,
  principal: string,
  requesters: readonly string[],
  proposal: CounseledProposal,
  named?: { readonly deputies?: readonly NamedDeputy[] | undefined; readonly at: Instant },
): string {
  const requester = requesters.find((one) => isSamePrincipal(one, principal));
  if (requester !== undefined) {
    const who =
      requester === principal ? principal : `${requester}, whose name looks like ${principal},`;
    throw unauthorised(
      `${who} requested this proposal or granted its writ, and cannot resolve it. Ask another counselor.`,
      principal,
      channel,
    );
  }
  const kinds = Object.keys(domain.counselors);
  const context = contextOf(proposal, requesters);
  const is = (kind: string): boolean => isOfKind(domain, kind, principal, channel, context);
  const { deputies = [], at = '' } = named ?? {};
  const asOne = (kind: string): string | undefined =>
    is(kind)
      ? kind
      : deputies.find((one) => one.of === kind && one.from <= at && is(one.kind))?.kind;
  const held = channel === ANY_COUNSELOR ? [kinds.find(is)] : channel.split(AND).map(asOne);
  if (!held.includes(undefined)) return held.join(AND);
  const wanted =
    kinds.length === 0
      ? 'a counselor, but the domain has none'
      : channel === ANY_COUNSELOR
        ? `a counselor of the kind ${kinds.join(' or ')}`
        : `a counselor of the kind ${channel.split(AND).join(' and ')}`;
  throw unauthorised(
    `${principal} cannot resolve this proposal. It needs ${wanted}.${deputies.map(sentenceOn).join('')}`,
    principal,
    channel,
  );
}

function sentenceOn({ of, kind, from }: NamedDeputy): string {
  return ` The ${kind} may decide for ${of} from ${from}.`;
}

/**
 * Whether the principal is a counselor of one kind for a proposal of the requesters.
 * @throws KernelError `unauthorised_counselor` if the predicate fails
 */
export function isCounselorOf(
  domain: Domain,
  kind: string,
  principal: string,
  requesters: readonly string[],
  proposal: CounseledProposal,
): boolean {
  return isOfKind(domain, kind, principal, kind, contextOf(proposal, requesters));
}

function contextOf(proposal: CounseledProposal, requesters: readonly string[]): CounselorContext {
  return Object.freeze({ proposal: seenBy(proposal), requester: requesters[0] ?? '' });
}

/** A predicate that throws names no counselor. */
function isOfKind(
  { counselors }: Domain,
  kind: string,
  principal: string,
  channel: string,
  context: CounselorContext,
): boolean {
  if (!Object.hasOwn(counselors, kind)) return false;
  try {
    const is: unknown = counselors[kind]?.(principal, context);
    refusePromise(is, `the predicate ${kind}`);
    return is === true;
  } catch (error) {
    throw unauthorised(
      `The counselor predicate ${kind} failed for ${principal}: ${messageOf(error)}. Correct the predicate in the domain.`,
      principal,
      channel,
    );
  }
}

/** The members of a proposal that a predicate sees. No predicate can change the proposal. */
function seenBy({ action, role, args, calls = [] }: CounseledProposal): CounseledProposal {
  const seen = calls.map(({ tool, input }) => ({ tool, input }));
  const proposal = { action, role, args, ...(seen.length === 0 ? {} : { calls: seen }) };
  return deepFreeze(copyJson(proposal, WORLD_LIMITS)) as unknown as CounseledProposal;
}

function unauthorised(message: string, principal: string, channel: string): KernelError {
  return new KernelError('unauthorised_counselor', message, { evidence: { principal, channel } });
}
