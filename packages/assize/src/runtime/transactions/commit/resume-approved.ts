import { isInstance, type Json } from '#base';
import { plainText } from '#canon';
import {
  type Claim,
  claimsOf,
  claimTexts,
  type EffectClass,
  EffectError,
  type EffectPayload,
  type Tool,
} from '#effects';
import { type Cost, type Domain, KernelError, PROPOSE_AGAIN_HINT } from '#kernel';
import type { BlobRef, Hash, PendingPayload } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { type CommitPlan, sum } from '../../records/tool-authority.ts';
import { causeOf, isDecidedByLog } from '../body/abort-reasons.ts';
import type { StartedTransaction, TransactionEngine } from '../engine/engine.ts';
import { type TransactionEngines, throwAfterTurn } from '../engine/engines.ts';
import { TimeLimit } from '../limits/time-limit.ts';
import type { PlannedRun, TransactionRun } from '../log/advance.ts';
import type { PreparedCall } from '../log/call-record.ts';
import { undoCostOf } from '../log/undo-budget.ts';
import { hasOnFailure } from '../settle/on-failure.ts';
import { readSalted } from '../settle/quarantine.ts';
import { commitPlanOf } from './commit-plan.ts';

/** The effects of a pending proposal, as its commit will record them. */
export interface ResumedTransaction {
  /**
   * The effects as of now, including the compensation costs of calls that are still to be repeated.
   */
  readonly commitPlan: CommitPlan;
  /** Whether a call that executed before submission must still be repeated. */
  readonly hasCallsToRepeat: boolean;
  /**
   * Repeats these calls, after everything else that the commit and its approval require holds.
   * `check` runs immediately before each call and throws if a requirement no longer holds. A call
   * that answered differently once is not repeated.
   * @throws KernelError `changed_since` if a call answers differently than before; the errors of
   * `check`
   */
  repeatCalls(check: () => void): Promise<void>;
  /** Call this when the commit is durable. */
  committed(entry: Hash): Promise<void>;
  /** Call this when the commit will not happen; with the error, if there was one. */
  abort(error?: unknown): Promise<void>;
}

/**
 * Resumes the effects of an approved proposal as a new attempt with its own epoch
 * (docs/decisions/015-effect-order.md). Closing stops the attempt like any other, and waits until
 * it is `committed` or dropped.
 * @throws RuntimeError `closed`
 */
export async function resumeApproved(
  effects: TransactionEngines,
  domain: Domain,
  proposal: ApprovedProposal,
): Promise<ResumedTransaction> {
  // An approver waits without a limit: the operations of the attempt have their own limits.
  const limit = new TimeLimit(Number.POSITIVE_INFINITY);
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
  try {
    void effects.track(limit, () => isOver);
  } catch (error) {
    return throwAfterTurn(error);
  }
  try {
    return await resumed(effects, domain, proposal, { limit, over });
  } catch (error) {
    over();
    // An ended wait reports its own error, and not the reason for the stop.
    limit.signal.throwIfAborted();
    throw error;
  }
}

/** A proposal that is approved, and the principal that made it. */
export interface ApprovedProposal {
  readonly pending: PendingPayload;
  readonly principal: string;
}

/** An attempt for an approval: the limit that stops it and the callback for its end. */
interface TrackedAttempt {
  readonly limit: TimeLimit;
  readonly over: () => void;
}

/** The attempt, stage by stage: its calls are read, granted, planned, repeated and committed. */
async function resumed(
  effects: TransactionEngines,
  domain: Domain,
  approved: ApprovedProposal,
  { limit, over }: TrackedAttempt,
): Promise<ResumedTransaction> {
  const { signal } = limit;
  const { pending } = approved;
  const { proposal } = pending;
  const engine = await effects.engine(limit, signal);
  const submitted = await submittedCalls(engine.ports, pending);
  const calls = submitted.map((call) => ({
    ...call,
    checkNames: (signal: AbortSignal) =>
      engine.names.requireUnchanged(call.tool, call.input, call.claims, signal),
  }));
  const planned = calls.filter(({ answer }) => answer === undefined);
  const { started, run } = await granted(engine, approved, calls, signal, ({ run }) =>
    run.plan(planned, hasOnFailure(domain, proposal.action.name)),
  );
  const acted = calls.filter(({ answer }) => answer !== undefined);
  const cost = calls.reduce((total, each) => sum(total, each.cost), {});
  /** Number of calls that were repeated with the same answer. */
  let called = 0;
  let failure: unknown;
  return {
    get commitPlan() {
      const acting = commitPlanOf(run, { uses: [], cost, calls: [] });
      const undoCost = acted
        .slice(called)
        .reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {});
      return { ...acting, undoCost: sum(acting.undoCost, undoCost) };
    },
    get hasCallsToRepeat() {
      return called < acted.length;
    },
    repeatCalls: async (check) => {
      for (const { effect } of acted.slice(called)) {
        const used = await engine.ports.store.effectKey(effect.key);
        if (used === undefined || used.epoch === run.epoch) continue;
        throw answerChangedError(
          effect.tool,
          `transaction ${used.epoch} had called it again earlier and was aborted`,
        );
      }
      while (called < acted.length) {
        if (failure !== undefined) throw failure;
        signal.throwIfAborted();
        check();
        try {
          await callAgain(started.run, acted[called]!);
        } catch (error) {
          failure = error;
          throw error;
        }
        called++;
      }
      signal.throwIfAborted();
    },
    committed: async (entry) => {
      try {
        run.committed(entry);
        started.run.askFirst();
        // No body waits for this run, so the next owner can resume it.
        started.run.abandonOn(engine.ports.leaving);
        await engine.finish(started.run);
      } finally {
        over();
      }
    },
    abort: async (error) => {
      try {
        if (isDecidedByLog(error)) await effects.restart(engine, error);
        else await engine.abort(started, error === undefined ? 'expired' : causeOf(error));
      } finally {
        over();
      }
    },
  };
}

/** The attempt with its epoch and its plan, once all its claims are granted. */
async function granted(
  engine: TransactionEngine,
  { pending: { trajectory_id, proposal, parent, seq }, principal }: ApprovedProposal,
  calls: readonly NamedCall[],
  signal: AbortSignal,
  plan: (started: StartedTransaction) => PlannedRun,
): Promise<{ readonly started: StartedTransaction; readonly run: PlannedRun }> {
  const claims = calls.flatMap((each) => each.claims);
  const name = calls[0]?.name;
  const body = {
    after: { id: parent as Hash, seq: seq - 1 },
    claims: claimTexts(claims),
    ...(name === undefined ? {} : { name }),
    principal,
    transaction: proposal.proposal_id,
    writ_id: proposal.writ_id,
  };
  const started = await engine.begin(trajectory_id, claims, body, true);
  try {
    await engine.acquire(started.work, undefined, signal);
    for (const each of calls) await each.checkNames(signal);
    signal.throwIfAborted();
    return { started, run: plan(started) };
  } catch (error) {
    engine.discard(started.work);
    throw error;
  }
}

/** @throws KernelError `changed_since`; EffectError `lease_lost` */
async function callAgain(
  run: TransactionRun,
  { effect, input, blobs, answer }: SubmittedCall,
): Promise<void> {
  let result: Json;
  try {
    const made = await run.call({ effect, input, blobs });
    if (made.result === undefined) throw made.refusal;
    result = made.result;
  } catch (error) {
    if (!isInstance(error, EffectError) || error.code === 'lease_lost') throw error;
    throw answerChangedError(effect.tool, error.message, error);
  }
  if (plainText(result) !== plainText(answer!))
    throw answerChangedError(effect.tool, 'its answer differs from the first one');
}

/** The error if the approval depends on a tool's result that cannot be reproduced. */
function answerChangedError(tool: string, why: string, cause?: unknown): KernelError {
  return new KernelError(
    'changed_since',
    `${tool} executed before this proposal was submitted, and its repetition for the approval failed: ${why.replace(/\.$/, '')}. ${PROPOSE_AGAIN_HINT}.`,
    { evidence: { tool }, cause },
  );
}

/** A call of a pending proposal, read back from the ledger. */
interface SubmittedCall extends PreparedCall {
  readonly tool: Tool;
  readonly claims: Claim[];
  readonly cost: Cost;
  /** The answer of a call that executed immediately. */
  readonly answer: Json | undefined;
  /** The caller's name of the transaction. */
  readonly name: string | undefined;
}

interface NamedCall extends SubmittedCall {
  readonly checkNames: (signal: AbortSignal) => Promise<void>;
}

/** The tools of a runtime, and the values of its store. */
interface CallSources {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly blob: (hash: Hash) => Promise<string | undefined>;
}

/**
 * The calls of a pending proposal.
 * @throws RuntimeError `erased`; EffectError `unknown_tool`, `stale`
 */
export function submittedCalls(
  sources: CallSources,
  { proposal }: PendingPayload,
): Promise<SubmittedCall[]> {
  return Promise.all(
    proposal.delta.effects.map(({ id, effect }) => preparedFrom(sources, id, effect as BlobRef)),
  );
}

async function preparedFrom(
  { tools, blob }: CallSources,
  key: Hash,
  payload: BlobRef,
): Promise<SubmittedCall> {
  const value = (await readSalted(blob, payload)) as EffectPayload | undefined;
  if (value === undefined)
    throw new RuntimeError(
      'erased',
      `The input of the effect ${key} was erased, so the proposal cannot be approved. Reject it.`,
    );
  const tool = tools.get(value.tool);
  if (tool?.class === undefined)
    throw new EffectError(
      'unknown_tool',
      `The runtime has no tool ${value.tool}, which the proposal needs. Open the runtime with it (on the command line: --tools FILE).`,
    );
  if (value.class !== undefined && plainText(value.class) !== plainText(tool.class))
    throw classChangedError(tool, value.class);
  return {
    tool,
    effect: { key, tool: tool.name, class: tool.class, payload, ...undoCostOf(tool, value.input) },
    input: value.input,
    blobs: [],
    // The claims as authorised: the approver has not seen scopes that aliases resolve to now.
    claims: claimsOf(value),
    cost: value.cost,
    answer: value.answer,
    reported: value.told,
    name: value.transaction,
  };
}

/** The error if a tool's class differs from the class that the approver saw. */
function classChangedError({ name, class: now }: Tool, submitted: EffectClass): EffectError {
  const said = ({ reversibility, delivery, sink }: EffectClass): string =>
    `${reversibility}, ${delivery} and ${sink}`;
  return new EffectError(
    'stale',
    `${name} was submitted as ${said(submitted)}, and is declared here as ${said(now!)}. Approve it with the earlier declaration, or reject it.`,
    { evidence: { tool: name } },
  );
}
