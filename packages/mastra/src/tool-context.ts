import { CallError } from '@assize/gate/internal/calls';
import { type AssizeSuspension, readSuspension } from './pause.ts';
import type { Suspendable, ToolContext } from './tool.ts';

/** The members of a context that belong to the pause of a call. */
type Pausing = { -readonly [member in keyof Suspendable]?: Suspendable[member] | undefined };

/** The part of a context that can pause the call. */
export function pausedBy(context: ToolContext): Suspendable {
  return context.agent ?? context.workflow ?? context;
}

/** The pause of Assize after which the call goes on. Undefined if it began now. */
export function pauseBefore(context: ToolContext): AssizeSuspension | undefined {
  return readSuspension(pausedBy(context).suspendPayload);
}

/** The changes of a context before the tool gets it. */
export interface ToolPauses {
  /** Whether the answer and the payload are those of the gate. The tool does not get these. */
  readonly isAnswered: boolean;
  readonly suspend: (suspend: Suspendable['suspend']) => Suspendable['suspend'];
}

/**
 * The context for the tool. Of an agent it is the same object: Mastra has noted of it that the
 * input is checked, and would read a checked input again.
 */
export function contextFor(
  context: ToolContext,
  pauses: ToolPauses & { readonly isNew: boolean },
): ToolContext {
  const isSame = context.agent !== undefined && !pauses.isNew;
  const given = isSame ? context : { ...context };
  change(given, pauses);
  for (const part of ['agent', 'workflow'] as const) {
    const found = given[part];
    if (found === undefined) continue;
    const changed = isSame ? found : { ...found };
    change(changed, pauses);
    (given as { -readonly [member in keyof ToolContext]: ToolContext[member] })[part] = changed;
  }
  return given;
}

function change(of: Suspendable, { isAnswered, suspend }: ToolPauses): void {
  const pausing = of as Pausing;
  if (isAnswered) {
    if ('resumeData' in of) pausing.resumeData = undefined;
    if ('suspendPayload' in of) pausing.suspendPayload = undefined;
  }
  if (typeof of.suspend === 'function') pausing.suspend = suspend(of.suspend.bind(of));
}

/** Refuses the pause of a tool that has started and may not be called again. */
export function refusePause(tool: string, call: string): () => Promise<never> {
  return async () => {
    const text = `The tool ${tool} suspended itself after its start. Let the rules ask, or name it in \`idempotent\`.`;
    throw new CallError('tool_paused', text, { evidence: { call } });
  };
}
