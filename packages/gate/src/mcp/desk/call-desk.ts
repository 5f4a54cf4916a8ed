import type { Json } from 'assize/internal/base';
import type { CallAnswer } from 'assize/internal/views';
import type { ToolFiles } from '#gateway';

/** A tool of the server with an approved definition. */
export interface PinnedTool {
  readonly tool: string;
  /** The hash of the approved definition. */
  readonly hash: string;
  readonly at: string;
  /** Whether a second call would do no harm. */
  readonly idempotent: boolean;
  /** Whether the principal may call the tool at all. */
  readonly callable: boolean;
}

/** A call that has no outcome. */
export interface WaitingCall {
  readonly call: string;
  readonly tool: string;
  /** The hash of the canonical arguments. */
  readonly digest: string;
  /** `begun`: it may have been made, and is never made again. */
  readonly phase: 'pending' | 'approved' | 'begun';
  readonly at: string;
  readonly approval?: string | undefined;
  /** The hash of the definition with which the call was judged. */
  readonly definition?: string | undefined;
}

/** The tools of one server that a principal may call, and its calls there. */
export interface ServerView {
  readonly tools: readonly PinnedTool[];
  /** Whether the principal may read any resource, and any prompt. */
  readonly lists: { readonly resources: boolean; readonly prompts: boolean };
  readonly calls: readonly WaitingCall[];
  /** The tools that may use files. They say which files a call reaches. */
  readonly files: readonly ToolFiles[];
}

/** A tool call, as it is judged. */
export interface AskedCall {
  /** Unique in the ledger. A repetition has the same id, and gets the same answer. */
  readonly id: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, Json>>;
  /** The hash of the definition that the client was shown. */
  readonly definition?: string | undefined;
  /** The tools of the rules that the call amounts to. The strictest one decides. */
  readonly parts?:
    | readonly {
        readonly server: string;
        readonly tool: string;
        readonly args: object;
        readonly reaches?: readonly string[];
      }[]
    | undefined;
  /** Places that it may reach on the machine of the gateway, beside the paths that it names. */
  readonly reaches?: readonly string[] | undefined;
  /** The call that this one takes back. The ledger lets that happen once. */
  readonly undoes?: string | undefined;
}

/** A pending call, as a person is shown it. */
export interface ShownApproval {
  readonly digest: string;
  readonly detail: string;
  /** How many people must approve it. */
  readonly approvals: number;
}

export type Outcome = 'done' | 'failed' | 'unknown';

/**
 * The judge of the gateway's calls, and their record. The gateway makes no call that the desk did
 * not begin. Each method repeats a request without an answer under the same key.
 *
 * Every method:
 * @throws McpError `server_refused`
 */
export interface CallDesk {
  view(): Promise<ServerView>;
  /** Records the definition of a tool. `waiting`: a person must approve it first. */
  pin(
    tool: string,
    definition: Readonly<Record<string, Json>>,
    before: PinnedTool | undefined,
  ): Promise<'pinned' | 'waiting' | 'refused'>;
  /** `committed`: the call has started, and the gateway makes it now, once. */
  propose(call: AskedCall): Promise<CallAnswer>;
  /** Whether the call would commit immediately. Nothing is recorded. */
  allows(call: AskedCall): Promise<boolean>;
  /** Starts an approved call. `committed`: it has started now. */
  begin(call: string, digest: string, attempt: string): Promise<CallAnswer>;
  report(call: string, outcome: Outcome, result?: Json): Promise<void>;
  /** Waits until a decision or the end of the seconds. `void`: the question has lapsed. */
  decision(approval: string, seconds: number, signal?: AbortSignal): Promise<CallAnswer | 'void'>;
  shown(approval: string): Promise<ShownApproval | undefined>;
  /**
   * Records the decision of the person at the client. Undefined: the configuration names no person.
   */
  readonly decide?:
    | ((approval: string, decision: 'approve' | 'reject', digest: string) => Promise<void>)
    | undefined;
  /** The call that takes a done call back, by the rules. */
  undoing(call: string): Promise<{
    readonly server: string;
    readonly tool: string;
    readonly args: Readonly<Record<string, Json>>;
  }>;
  /** Starts the run of the calls, or goes on with it. Without a run, nothing happens. */
  startRun(): Promise<void>;
  /**
   * Takes the run for failed: later calls of it only take back. Returns the calls that are done, or
   * may be, the newest first.
   */
  failRun(): Promise<readonly string[]>;
  /** Ends the run. The places that it held are free for others. */
  endRun(): Promise<void>;
  /** The page of a pending call for people. */
  pageOf(approval: string): string;
  /** The command by which a person settles a call in doubt, with a token of that person. */
  settling(call: string): string;
}
