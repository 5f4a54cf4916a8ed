import { CallError, type Observed } from '@assize/gate/internal/calls';
import type { Json } from 'assize/internal/base';
import { contentHash } from 'assize/internal/canon';
import type { CallIdentity, MastraOptions } from './options.ts';
import type { ToolContext } from './tool.ts';

/** The name of the observation that leads from an entry to its run in Mastra. */
export const PLACE = 'mastra';

/** A call that is named: its tool, its arguments and their first form. */
interface Named {
  readonly tool: string;
  readonly input: unknown;
  readonly args: Readonly<Record<string, Json>>;
}

/**
 * The identity of a call. A step of a workflow has no id of its calls, so there it is the tool with
 * its arguments. The same call in one run is made once.
 *
 * @throws CallError `no_identity`
 */
export function identityOf(
  { tool, input, args }: Named,
  context: ToolContext,
  { identity }: Pick<MastraOptions, 'identity'>,
): CallIdentity {
  const found =
    identity === undefined ? givenBy(context, { tool, args }) : identity(input, context);
  const { run, id } = found ?? {};
  if (isText(run) && isText(id)) return { run, id };
  const text = `The call of ${tool} has no run or no id. Call it in an agent or a workflow, or pass \`identity\`.`;
  throw new CallError('no_identity', text, { evidence: { tool } });
}

function givenBy(
  { runId, agent, workflow }: ToolContext,
  { tool, args }: Omit<Named, 'input'>,
): Partial<CallIdentity> | undefined {
  if (agent !== undefined)
    return { ...(runId !== undefined && { run: runId }), ...idOf(agent.toolCallId) };
  if (workflow === undefined) return undefined;
  const id = `${tool}.${contentHash(args).slice(0, 16)}`;
  return { ...(workflow.runId !== undefined && { run: workflow.runId }), id };
}

function idOf(id: string | undefined): { readonly id?: string } {
  return id === undefined ? {} : { id };
}

/** Where a call was asked for, as an observation of its proposal. */
export function observed({ runId, agent, workflow }: ToolContext): Observed {
  const place = {
    run: agent === undefined ? workflow?.runId : runId,
    agent: agent?.agentId,
    tool_call: agent?.toolCallId,
    thread: agent?.threadId,
    resource: agent?.resourceId,
    workflow: workflow?.workflowId,
  };
  const known = Object.entries(place).filter(([, value]) => isText(value));
  return { name: PLACE, value: Object.fromEntries(known) as Json };
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
