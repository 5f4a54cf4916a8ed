import { isPivot, type Tool } from '#effects';
import type { Domain, ProposedCall } from '#kernel';
import type { Hash, PendingPayload } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { type CommitPlan, sum } from '../../records/tool-authority.ts';
import { checkPivotOf, useOf } from '../body/admission.ts';
import type { TransactionEngines } from '../engine/engines.ts';
import { costsOf } from '../log/undo-budget.ts';
import { hasOnFailure } from '../settle/on-failure.ts';
import { resolvedCalls } from './commit-plan.ts';
import { submittedCalls } from './resume-approved.ts';
import { pivotOf } from './stages.ts';

/**
 * The commit plan of declared calls, for a judgement: no transaction begins, no claim is made and
 * no call of a tool runs. The plan has no effects, so it cannot be committed.
 *
 * @throws EffectError `unknown_tool`, `bad_input`, `bad_resolver`, `no_counselor`, `second_pivot`;
 * AuthorityError `bad_argument`
 */
export async function planOnly(
  effects: TransactionEngines,
  calls: readonly ProposedCall[],
  domain: Domain,
  action: string,
  signal: AbortSignal,
): Promise<CommitPlan> {
  const resolved = await resolvedCalls({ ports: effects, names: effects.names }, calls, signal);
  let pivot: Tool | undefined;
  let cost = {};
  let undoCost = {};
  for (const { tool, input } of resolved) {
    checkPivotOf(tool, domain, pivot);
    const costs = costsOf(tool, input);
    cost = sum(cost, costs.cost);
    undoCost = sum(undoCost, costs.undo_cost ?? {});
    if (tool.class !== undefined && isPivot(tool.class)) pivot = tool;
  }
  return {
    ...UNCOMMITTABLE,
    calls: resolved.map(({ tool, input }) => ({ tool: tool.name, input, isDeclared: true })),
    cost,
    undoCost: hasOnFailure(domain, action) ? undoCost : {},
    uses: resolved.map(({ tool, input, claims }) => useOf(tool, input, claims)),
    pivot: pivot && pivotOf(pivot),
  };
}

/**
 * The same for the recorded calls of a pending proposal, authorised when it was submitted.
 * Undefined without calls.
 *
 * @throws RuntimeError `erased`, `bad_argument`; EffectError `unknown_tool`, `stale`
 */
export async function planOfPending(
  effects: TransactionEngines,
  domain: Domain,
  pending: PendingPayload,
  blob: (hash: Hash) => Promise<string | undefined>,
): Promise<CommitPlan> {
  const calls = await submittedCalls({ tools: effects.tools, blob }, pending);
  const undone = (each: readonly (typeof calls)[number][]) =>
    each.reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {});
  const planned = calls.filter(({ answer }) => answer === undefined);
  const acted = calls.filter(({ answer }) => answer !== undefined);
  const isUndone = hasOnFailure(domain, pending.proposal.action.name);
  return {
    ...UNCOMMITTABLE,
    cost: calls.reduce((total, each) => sum(total, each.cost), {}),
    undoCost: sum(isUndone ? undone(planned) : {}, undone(acted)),
  };
}

/** No transaction has this epoch. */
const NO_EPOCH = -1;

const UNCOMMITTABLE: CommitPlan = {
  effects: [],
  calls: [],
  isProposed: true,
  epoch: NO_EPOCH,
  cost: {},
  undoCost: {},
  uses: [],
  blobs: [],
  commitRecords: notCommitted,
  abortRecords: notCommitted,
};

function notCommitted(): never {
  throw new RuntimeError(
    'bad_argument',
    'A judgement has no transaction, so nothing of it can be recorded.',
  );
}
