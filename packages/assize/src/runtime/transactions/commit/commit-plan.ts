import type { Json } from '#base';
import { plainText } from '#canon';
import { type Claim, EffectError, type LoggedEffect, type Tool } from '#effects';
import type { ProposedCall } from '#kernel';
import { type CommitPlan, sum } from '../../records/tool-authority.ts';
import type { CanonicalNames } from '../coordination/canonical-names.ts';
import type { PlannedRun } from '../log/advance.ts';
import { blobsOf, type PreparedCall } from '../log/call-record.ts';

/**
 * The part of the proposal that a transaction adds: its executed effects that stay, and the calls
 * that run at the commit.
 */
export function commitPlanOf(
  { epoch, planned, hasOnFailure, surviving, commitRecords, abortRecords }: PlannedRun,
  { uses, cost, pivot, calls }: Pick<CommitPlan, 'uses' | 'cost' | 'pivot' | 'calls'>,
): CommitPlan {
  return {
    effects: [...surviving().map(named), ...planned.map(({ effect }) => named(effect))],
    calls,
    epoch,
    cost,
    undoCost: hasOnFailure
      ? planned.reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {})
      : {},
    uses,
    pivot,
    blobs: blobsOf(planned),
    commitRecords,
    abortRecords,
  };
}

/** The same for a pending proposal: executed calls are listed as they would be repeated. */
export function pendingPlanOf(
  acting: CommitPlan,
  again: readonly PreparedCall[],
  planned: readonly PreparedCall[],
): CommitPlan {
  const all = [...again, ...planned];
  return { ...acting, effects: all.map(({ effect }) => named(effect)), blobs: blobsOf(all) };
}

/** Fields in canonical order, as in the payload: it serialises fastest. */
function named({ key, payload }: LoggedEffect): CommitPlan['effects'][number] {
  return { effect: payload, id: key };
}

/** A call with its tool and its claims by canonical name. */
export interface ResolvedCall {
  readonly tool: Tool;
  readonly input: Json;
  readonly claims: readonly Claim[];
}

/** The tools of a runtime, and the names of its resources. */
export interface KnownTools {
  readonly ports: { readonly tools: ReadonlyMap<string, Tool> };
  readonly names: CanonicalNames;
}

/**
 * The declared calls with the tools of the runtime and their claims by canonical name.
 * @throws EffectError `unknown_tool`, `bad_input`, `bad_resolver`
 */
export function resolvedCalls(
  engine: KnownTools,
  calls: readonly ProposedCall[],
  signal: AbortSignal,
): Promise<ResolvedCall[]> {
  return Promise.all(calls.map((call) => resolvedCall(engine, call, signal)));
}

async function resolvedCall(
  { ports, names }: KnownTools,
  call: ProposedCall,
  signal: AbortSignal,
): Promise<ResolvedCall> {
  const tool = ports.tools.get(call.tool);
  if (tool?.class === undefined)
    throw new EffectError(
      'unknown_tool',
      `The action calls ${call.tool}, but the runtime has no changing tool of that name. Open the runtime with that tool.`,
    );
  const input = call.input as Json;
  if (plainText(tool.parse(input)) !== plainText(input))
    throw new EffectError(
      'bad_input',
      `The tool ${call.tool} of the runtime reads the input of the action's call differently. Open the runtime with the tool that the domain uses.`,
    );
  // The frozen input that the rules see, so that a rule cannot change the call.
  return { tool, input, claims: await names.resolve(tool.claims(input), signal) };
}
