/** The part of Mastra's tools that calls go through, by its form: Mastra itself is not imported. */

/** A tool as `createTool` makes it. */
export interface MastraTool {
  readonly id: string;
  readonly execute?: ((input: never, context: never) => Promise<unknown>) | undefined;
}

/** How a call pauses, and the answer with which it is resumed. */
export interface Suspendable {
  readonly suspend?: (payload: unknown, options?: object) => Promise<unknown>;
  /** The answer to the last pause. A model can write one too. */
  readonly resumeData?: unknown;
  /** The payload of the last pause, as Mastra has kept it. */
  readonly suspendPayload?: unknown;
}

/** The call of an agent. */
export interface AgentCall extends Suspendable {
  readonly toolCallId?: string;
  readonly agentId?: string;
  readonly threadId?: string;
  readonly resourceId?: string;
}

/** The call of a step of a workflow. */
export interface WorkflowCall extends Suspendable {
  readonly runId?: string;
  readonly workflowId?: string;
}

/** The second argument of a tool's `execute`. */
export interface ToolContext extends Suspendable {
  readonly runId?: string;
  readonly agent?: AgentCall;
  readonly workflow?: WorkflowCall;
  readonly abortSignal?: AbortSignal;
  /**
   * The context of the request. After a resume without one, it is the one of the first request: it
   * does not prove the person of an answer.
   */
  readonly requestContext?: { get(name: string): unknown };
}

/** A schema that checks values in the form of Standard Schema. */
export interface CheckingSchema {
  readonly '~standard': { validate(value: unknown): unknown };
}
