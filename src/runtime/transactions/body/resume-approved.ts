import type { Json } from '#base';
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
import { type Cost, type Domain, KernelError, PROPOSE_ANEW } from '#kernel';
import type { BlobRef, Hash, PendingPayload } from '#ledger';
import { RuntimeError } from '../../errors.ts';
import { type Acting, sum } from '../../records/tool-authority.ts';
import type { Held } from '../engine/engine.ts';
import { type Effects, inATurn } from '../engine/engines.ts';
import { TimeLimit } from '../limits/time-limit.ts';
import type { Run } from '../log/advance.ts';
import type { Prepared } from '../log/call-record.ts';
import { undoCostOf } from '../log/undo-budget.ts';
import { hasOnFailure } from '../settle/on-failure.ts';
import { causeOf, isForTheLogToSay } from './abort-reasons.ts';
import { actingOf } from './commit-plan.ts';

/** The effects of a pending proposal, as its commit will record them. */
export interface TakenUp {
  /**
   * The effects as of now, including the compensation costs of calls that are still to be repeated.
   */
  readonly acting: Acting;
  /** Whether a call that executed before submission must still be repeated. */
  readonly owesCalls: boolean;
  /**
   * Repeats these calls, after everything else that the commit and its approval require holds.
   * `check` runs immediately before each call and throws if a requirement no longer holds. A call
   * that answered differently once is not repeated.
   * @throws KernelError `changed_since` if a call answers differently than before; the errors of
   * `check`
   */
  again(check: () => void): Promise<void>;
  /** Call this when the commit is durable. */
  committed(entry: Hash): Promise<void>;
  /** Call this when the commit will not happen; with the error, if there was one. */
  drop(error?: unknown): Promise<void>;
}

/**
 * Resumes the effects of an approved proposal as a new attempt with its own epoch
 * (docs/decisions/015-effect-order.md). Closing stops the attempt like any other, and waits until
 * it is `committed` or dropped.
 * @throws RuntimeError `closed`
 */
export async function takeUp(
  effects: Effects,
  trajectoryId: string,
  domain: Domain,
  pending: PendingPayload,
): Promise<TakenUp> {
  // An approver waits without a limit: the operations of the attempt have their own limits.
  const limit = new TimeLimit(Number.POSITIVE_INFINITY);
  const { promise: isOver, resolve: over } = Promise.withResolvers<void>();
  try {
    void effects.attend(limit, () => isOver);
  } catch (error) {
    return inATurn(error);
  }
  try {
    return await begun(effects, trajectoryId, domain, pending, { signal: limit.signal, over });
  } catch (error) {
    over();
    // An ended wait reports its own error, and not the reason for the stop.
    limit.signal.throwIfAborted();
    throw error;
  }
}

/** An attempt for an approval: the signal that stops it and the callback for its end. */
interface Attended {
  readonly signal: AbortSignal;
  readonly over: () => void;
}

async function begun(
  effects: Effects,
  trajectoryId: string,
  domain: Domain,
  pending: PendingPayload,
  { signal, over }: Attended,
): Promise<TakenUp> {
  const held = await effects.held(signal);
  const { proposal } = pending;
  const prepared = await Promise.all(
    proposal.delta.effects.map(({ id, effect }) => preparedFrom(held, id, effect as BlobRef)),
  );
  const claims = prepared.flatMap((each) => each.claims);
  const name = prepared[0]?.name;
  const body = {
    claims: claimTexts(claims),
    ...(name === undefined ? {} : { name }),
    principal: '',
    transaction: proposal.proposal_id,
    writ_id: proposal.writ_id,
  };
  const { run, work } = await held.begin(trajectoryId, claims, body, true);
  run.hasOnFailure = hasOnFailure(domain, proposal.action.name);
  try {
    await held.enter(work, undefined, signal);
    for (const each of prepared) await each.checkNames(signal);
    signal.throwIfAborted();
  } catch (error) {
    held.drop(work);
    throw error;
  }
  const planned = prepared.filter(({ answer }) => answer === undefined);
  const acted = prepared.filter(({ answer }) => answer !== undefined);
  const cost = prepared.reduce((total, each) => sum(total, each.cost), {});
  /** Number of calls that were repeated with the same answer. */
  let called = 0;
  let failure: unknown;
  return {
    get acting() {
      const acting = actingOf(run, planned, { uses: [], cost });
      const undoCost = acted.slice(called).reduce((total, { effect }) => sum(total, effect.undo_cost ?? {}), {});
      return { ...acting, undoCost: sum(acting.undoCost, undoCost) };
    },
    get owesCalls() {
      return called < acted.length;
    },
    again: async (check) => {
      for (const { effect } of acted.slice(called)) {
        const used = await held.ports.store.effectKey(effect.key);
        if (used === undefined || used.epoch === run.epoch) continue;
        throw otherwise(effect.tool, `transaction ${used.epoch} had called it again before, and came to nothing`);
      }
      while (called < acted.length) {
        if (failure !== undefined) throw failure;
        signal.throwIfAborted();
        check();
        try {
          await callAgain(run, acted[called]!);
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
        run.committed(entry, planned);
        // No body waits for this run, so the next owner can resume it.
        run.leaveBy(held.ports.leaving);
        await held.finish(run);
      } finally {
        over();
      }
    },
    drop: async (error) => {
      try {
        if (isForTheLogToSay(error)) await effects.beginAnew(held, error);
        else if (run.isLogged) await held.finish(run, error === undefined ? 'expired' : causeOf(error));
        else held.drop(work);
      } finally {
        over();
      }
    },
  };
}

/** @throws KernelError `changed_since`; EffectError `tenure_lost` */
async function callAgain(run: Run, { effect, input, blobs, answer }: PutUp): Promise<void> {
  let result: Json;
  try {
    const made = await run.call({ effect, input, blobs });
    if (made.result === undefined) throw made.refusal;
    result = made.result;
  } catch (error) {
    if (!(error instanceof EffectError) || error.code === 'tenure_lost') throw error;
    throw otherwise(effect.tool, error.message, error);
  }
  if (plainText(result) !== plainText(answer!)) throw otherwise(effect.tool, 'it answers otherwise than it did then');
}

/** The error if the approval depends on a tool's result that cannot be reproduced. */
function otherwise(tool: string, why: string, cause?: unknown): KernelError {
  return new KernelError(
    'changed_since',
    `${tool} had acted before this was put up, and was called again for its approval: ${why.replace(/\.$/, '')}. It is not called under the same key once more, also where it did nothing. ${PROPOSE_ANEW}.`,
    { evidence: { tool }, cause },
  );
}

/** A call of a pending proposal, read back from the ledger. */
interface PutUp extends Prepared {
  readonly claims: Claim[];
  readonly checkNames: (signal: AbortSignal) => Promise<void>;
  readonly cost: Cost;
  /** The answer of a call that executed immediately. */
  readonly answer: Json | undefined;
  /** The caller's name of the transaction. */
  readonly name: string | undefined;
}

async function preparedFrom(held: Held, key: Hash, payload: BlobRef): Promise<PutUp> {
  const text = await held.ports.blob(payload.$blob);
  if (text === undefined)
    throw new RuntimeError(
      'erased',
      `What the effect ${key} was to do was erased, so it can't be approved; reject it.`,
    );
  const { value } = JSON.parse(text) as { value: EffectPayload };
  const tool = held.ports.tools.get(value.tool);
  if (tool?.class === undefined)
    throw new EffectError(
      'unknown_tool',
      `This needs the tool ${value.tool}, which is not here; open the runtime with it (on the command line: --tools FILE).`,
    );
  if (value.class !== undefined && plainText(value.class) !== plainText(tool.class)) throw reclassed(tool, value.class);
  return {
    effect: { key, tool: tool.name, class: tool.class, payload, ...undoCostOf(tool, value.input) },
    input: value.input,
    blobs: [],
    // The claims as authorised: the approver has not seen scopes that aliases resolve to now.
    claims: claimsOf(value),
    checkNames: (signal) => held.names.checkStill(tool, value.input, claimsOf(value), signal),
    cost: value.cost,
    answer: value.answer,
    told: value.told,
    name: value.transaction,
  };
}

/** The error if a tool's class differs from the class that the approver saw. */
function reclassed({ name, class: now }: Tool, putUp: EffectClass): EffectError {
  const said = ({ reversibility, delivery, sink }: EffectClass): string => `${reversibility}, ${delivery} and ${sink}`;
  return new EffectError(
    'stale',
    `${name} was put up as ${said(putUp)}, and is ${said(now!)} here; approve it where it is declared as it was, or reject it.`,
    { evidence: { tool: name } },
  );
}
