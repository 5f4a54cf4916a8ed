import { GATE, type Gate } from '@assize/gate/internal/calls';
import { arg, checkArgument } from 'assize/internal/base';
import { gatedCall } from './gated-call.ts';
import { MASTRA_OPTIONS, type MastraOptions } from './options.ts';
import { RESUME_SCHEMA, SUSPEND_SCHEMA } from './schemas.ts';
import type { MastraTool, ToolContext } from './tool.ts';

/**
 * The same tools, with every call going through the gate: for an agent, for steps of a workflow,
 * or for a list of tools. In the rules, a tool has its id. Types and input stay as they are.
 *
 * @throws ArgumentError `bad_argument`
 */
export function gatedTools<
  const T extends readonly MastraTool[] | Readonly<Record<string, MastraTool>>,
>(gate: Gate, tools: T, options: MastraOptions = {}): T {
  checkArgument(GATE, gate, 'gate');
  checkArgument(Array.isArray(tools) ? arg.list(TOOL) : arg.record(TOOL), tools, 'tools');
  checkArgument(MASTRA_OPTIONS, options, 'options');
  if (Array.isArray(tools))
    return tools.map((tool) => gatedTool(gate, tool, options)) as unknown as T;
  const gated = Object.entries(tools).map(([name, tool]) => [
    name,
    gatedTool(gate, tool as MastraTool, options),
  ]);
  return Object.fromEntries(gated) as T;
}

/** A tool that a client or a provider runs cannot go through the gate. */
const TOOL = arg.of('a tool of createTool that has an `execute`', (value) => {
  const { id, execute } = (value ?? {}) as { readonly id?: unknown; readonly execute?: unknown };
  return typeof id === 'string' && id !== '' && typeof execute === 'function';
});

/** The members of a tool that the gate reads. */
interface Executed {
  readonly id: string;
  readonly inputSchema?: unknown;
  readonly suspendSchema?: unknown;
  readonly execute: (input: unknown, context: ToolContext) => Promise<unknown>;
}

function gatedTool<T extends MastraTool>(gate: Gate, tool: T, options: MastraOptions): T {
  const { id, inputSchema, suspendSchema } = tool as unknown as Executed;
  const execute = (tool as unknown as Executed).execute.bind(tool);
  const gated = (input: unknown, context: ToolContext = {}): Promise<unknown> =>
    gatedCall(gate, { tool: id, inputSchema, input, context, execute }, options);
  // Mastra copies the own members of a tool, and knows it by one of them.
  const copy = Object.assign(Object.create(Object.getPrototypeOf(tool)), tool);
  // A tool that has a form of its pauses is called after its siblings, so it is not given one.
  const pauses = suspendSchema === undefined ? {} : { suspendSchema: SUSPEND_SCHEMA };
  return Object.assign(copy, { execute: gated, resumeSchema: RESUME_SCHEMA, ...pauses });
}
