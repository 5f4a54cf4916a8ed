import { type ArgumentSchema, arg } from 'assize/internal/base';
import type { Hash } from 'assize/internal/ledger';
import type { AskedCall } from './asked-call.ts';
import type { Outcome } from './close-call.ts';
import type { DecideOptions, Decision, Judgement } from './decide-call.ts';
import type { SessionUndo } from './undo-calls.ts';

/** A pending call, as a person is shown it. */
export interface ShownCall {
  readonly digest: Hash;
  /** The rules that ask, and why. */
  readonly detail: string;
}

/** The decision of a person about a pending call. */
export interface PersonsDecision {
  readonly decision: 'approve' | 'reject';
  /** The principal of the person, such as `manager:grace`. */
  readonly by: string;
  /** How the person was asked, such as `langgraph`. */
  readonly method: string;
  /** The digest of what the person was shown. */
  readonly digest: string;
  readonly reason?: string;
  /** Approves the call with these arguments; the rules judge it again. */
  readonly args?: AskedCall['args'];
}

/** The form of a decision. */
export const PERSONS_DECISION: ArgumentSchema = arg.options<PersonsDecision>({
  decision: arg.oneOf(['approve', 'reject']),
  by: arg.text,
  method: arg.text,
  digest: arg.text,
  reason: arg.optional(arg.text),
  args: arg.optional(arg.object),
});

/** The judge and the record of one agent's calls: in this process, or at a server. */
export interface CallPort {
  /** Decides about a call. `allowed`: it has started. */
  ask(call: AskedCall, options: DecideOptions): Promise<Decision>;
  /** Judges a call that is made later. `ready`: it is let through, and has not started. */
  judge(call: AskedCall, options: DecideOptions): Promise<Judgement>;
  /** Records the outcome of a started call. Returns whether it was recorded now. */
  report(call: string, outcome: Outcome): Promise<boolean>;
  /** The recorded outcome of a call, with its result. Undefined while it is not known. */
  outcomeOf(call: string): Promise<Outcome | undefined>;
  /** The content that a person is shown of a pending call. Undefined if it is decided. */
  shown(approval: Hash): Promise<ShownCall | undefined>;
  /**
   * Records the decision of a person. Of several decisions, the first counts. An approval of a call
   * that the rules now refuse is recorded as its rejection: ask again to see what counts.
   *
   * @throws ArgumentError `bad_argument`; the errors of `Approvals.approve`, such as
   * `invalid_amendment` for other arguments that the rules refuse; at a server CallError
   * `server_refused` with that code
   */
  decide(approval: Hash, decision: PersonsDecision): Promise<void>;
  /** Records that a session failed: its later calls only take back what it has done. */
  fail(session: string): Promise<void>;
  /** How the calls of a session are taken back, for the newest first. */
  undoCalls(session: string): Promise<SessionUndo>;
  /** Ends a session. What it held is free, and open calls of it are in doubt. */
  end(session: string): Promise<void>;
  /** The page of a pending call for people. Undefined without a server. */
  pageOf(approval: Hash): string | undefined;
  close(): Promise<void>;
}
