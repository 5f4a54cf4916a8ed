import type { Json } from '#base';
import { type Claim, EffectError, isPivot, type Tool } from '#effects';
import type { Domain, Refusal } from '#kernel';
import type { BlobRow } from '#ledger';
import { refusalOf, sum, type ToolUse } from '../../records/tool-authority.ts';
import { withSignal } from '../limits/time-limit.ts';
import { isBuffered, type PreparedCall } from '../log/call-record.ts';
import { type Costs, NO_COST } from '../log/undo-budget.ts';
import type { Branch } from './branch.ts';
import type { DeferredAdmission } from './claims.ts';

/**
 * Checks a call and returns its claims, when the call may start. Until the call ends, the claims
 * cannot be released: there is no wait in between.
 * @throws EffectError `no_counselor`, `second_pivot`, `scope_exceeded`, `not_authorised`,
 * `too_much`
 */
export function admit(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
): readonly Claim[] {
  const { attempt } = branch;
  checkPivot(branch, tool);
  attempt.claims.check(tool, claims);
  authorise(branch, tool, input, claims);
  if (tool.class !== undefined) attempt.count(tool);
  if (keeps(branch, tool)) attempt.claims.touch(claims);
  else attempt.claims.read(claims);
  return claims;
}

/**
 * Same as `admit`, for a call that must wait or resolve names. @throws the errors of `admit`;
 * EffectError `bad_resolver`
 */
export async function admitLater(
  branch: Branch,
  tool: Tool,
  input: Json,
  { after, over }: DeferredAdmission,
): Promise<readonly Claim[]> {
  const { engine, context } = branch.attempt;
  try {
    await withSignal(context.signal, () => after);
    checkPivot(branch, tool);
    return admit(
      branch,
      tool,
      input,
      await engine.names.resolve(tool.claims(input), context.signal),
    );
  } finally {
    over();
  }
}

/**
 * Repeats the check when the turn of the call has come, with the effects of earlier calls. @throws
 * EffectError `no_counselor`, `second_pivot`, `not_authorised`
 */
export function checkStillAllowed(
  branch: Branch,
  tool: Tool,
  input: Json,
  claims: readonly Claim[],
): void {
  try {
    checkPivot(branch, tool);
    authorise(branch, tool, input, claims);
  } catch (error) {
    cancelAdmission(branch, tool, claims);
    throw error;
  }
}

/** Releases an admitted call that nothing depends on any more. */
export function cancelAdmission(branch: Branch, tool: Tool, claims: readonly Claim[]): void {
  if (keeps(branch, tool)) branch.attempt.claims.untouch(claims);
  else branch.attempt.claims.readIsOver(claims);
}

/** Whether the claims are kept after the call too. An optimistic read is validated at the gate. */
function keeps({ attempt }: Branch, { class: kind }: Tool): boolean {
  return kind !== undefined || attempt.context.isOptimistic;
}

/** Each branch may have one pivot, because one branch is chosen. */
export function checkPivot(branch: Branch, tool: Tool): void {
  checkPivotOf(tool, branch.attempt.context.domain, branch.firstPivot);
}

/** `first`: the pivot before. @throws EffectError `no_counselor`, `second_pivot` */
export function checkPivotOf(
  { name, class: kind, spec: { channel } }: Tool,
  domain: Domain,
  first: Tool | undefined,
): void {
  if (kind === undefined || !isPivot(kind)) return;
  const counselors = Object.keys(domain.counselors);
  if (channel === undefined ? counselors.length === 0 : !counselors.includes(channel))
    throw noCounselor(name, channel);
  if (first !== undefined) throw secondPivot(name, first);
}

/**
 * The reason why a branch cannot be adopted. While the branch ran, its parent may have called a
 * pivot.
 */
export function whyNotAdopted(
  { firstPivot: first }: Branch,
  { pivot }: Branch,
): EffectError | undefined {
  return pivot === undefined || first === undefined ? undefined : secondPivot(pivot.name, first);
}

function authorise({ attempt }: Branch, tool: Tool, input: Json, claims: readonly Claim[]): void {
  const use = useOf(tool, input, claims);
  const refusal = refusalOf(
    attempt.context.authority(),
    use,
    tool.class !== undefined && isBuffered(tool.class),
  );
  if (refusal !== undefined) throw notAuthorised(tool, refusal);
}

/**
 * Admits a call with a compensation cost only if the budget covers the transaction's cost so far
 * and the compensation of all its effects. The effects of other active transactions count too
 * (docs/decisions/016-effect-outcomes.md). Nothing awaits from here to the intent. Returns the
 * blobs of the writ, because the compensation may be booked under it without any other entry.
 *
 * @throws EffectError `not_authorised`
 */
export function checkAffords(
  branch: Branch,
  { tool, input, claims }: AdmittedCall,
  { effect }: PreparedCall,
  { cost, undo_cost: undoCost = NO_COST }: Costs,
): readonly BlobRow[] {
  if (effect.class.reversibility !== 'with_cost') return [];
  const { context } = branch.attempt;
  const authority = context.authority();
  // A reload in the meantime may no longer contain the writ, or may contain its revocation.
  const refusal = refusalOf(authority, useOf(tool, input, claims), false);
  if (refusal !== undefined) throw notAuthorised(tool, refusal);
  const afforded = authority.affords(sum(sum(branch.costSoFar, cost), undoCost));
  if (afforded.ok) return undoCost === NO_COST ? [] : context.unstored();
  const detail = `the budget does not cover its cost and the cost of its compensation: ${afforded.detail}`;
  throw notAuthorised(tool, { reason: 'budget_exhausted', detail });
}

/** A call of a tool, with the scopes that it claims. */
export interface AdmittedCall {
  readonly tool: Tool;
  readonly input: Json;
  readonly claims: readonly Claim[];
}

export function useOf({ name }: Tool, input: Json, claims: readonly Claim[]): ToolUse {
  return { action: name, scopes: claims.map(({ scope }) => scope.text), args: input };
}

function notAuthorised(
  { name }: Tool,
  { reason, detail }: Pick<Refusal, 'reason' | 'detail'>,
): EffectError {
  return new EffectError(
    'not_authorised',
    `The call of ${name} is not authorised: ${detail.replace(/\.$/, '')}.`,
    {
      evidence: { tool: name, reason },
    },
  );
}

function noCounselor(tool: string, channel: string | undefined): EffectError {
  const who = channel === undefined ? 'no counselors' : `no counselor of the kind ${channel}`;
  return new EffectError(
    'no_counselor',
    `${tool} needs an approval, because it executes immediately and cannot be compensated, but the domain has ${who}. Add \`counselors\` to the domain.`,
    { evidence: { tool, ...(channel === undefined ? {} : { channel }) } },
  );
}

function secondPivot(tool: string, { name: first }: Tool): EffectError {
  return new EffectError(
    'second_pivot',
    `The transaction already calls ${first}; like ${tool}, it executes immediately and cannot be compensated. Use a separate transaction for each.`,
    { evidence: { tool, first } },
  );
}
