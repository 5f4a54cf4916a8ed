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

/** What waits with a proposal that was put up for approval, as what its commit will bring. */
export interface TakenUp {
  /** As it would be committed now: with what undoing costs of what is still to be called again. */
  readonly acting: Acting;
  /** Whether something had acted at once when it was put up that was not called again yet. */
  readonly owesCalls: boolean;
  /**
   * Calls that again: not before all but that is as the commit needs it, and whoever approves it may. `check` throws where that is not so
   * any more, and is asked before each call, with nothing in between. What has done otherwise once is not called another time.
   * @throws KernelError `changed_since` where it does otherwise than it did; what `check` throws
   */
  again(check: () => void): Promise<void>;
  /** To be called when the commit is durable. */
  committed(entry: Hash): Promise<void>;
  /** To be called when it is not to be, after all; with what was thrown, if something was. */
  drop(error?: unknown): Promise<void>;
}

/**
 * Takes up the effects of what was approved: a new attempt, with an epoch of its own (decisions §5.5). Who closes has it stop, as any
 * attempt, and waits until it was `committed` or dropped.
 * @throws RuntimeError `closed`
 */
export async function takeUp(
  effects: Effects,
  trajectoryId: string,
  domain: Domain,
  pending: PendingPayload,
): Promise<TakenUp> {
  // Who approves waits as long as it takes: what it waits for has limits of its own.
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
    // Whatever it has waited for says why that ended, and not why it was ended.
    limit.signal.throwIfAborted();
    throw error;
  }
}

/** Of an attempt that is begun for an approval: aborted when it is to stop, and to be called when it is over. */
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
  /** So many of what had acted were called again, and answered the same. */
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
        // Nobody's body waits for it: whoever is next can go on with it as well.
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

/** What was approved rests on what a tool did, and that can't be had again. */
function otherwise(tool: string, why: string, cause?: unknown): KernelError {
  return new KernelError(
    'changed_since',
    `${tool} had acted before this was put up, and was called again for its approval: ${why.replace(/\.$/, '')}. It is not called under the same key once more, also where it did nothing. ${PROPOSE_ANEW}.`,
    { evidence: { tool }, cause },
  );
}

/** A call that waits, read back. */
interface PutUp extends Prepared {
  readonly claims: Claim[];
  readonly checkNames: (signal: AbortSignal) => Promise<void>;
  readonly cost: Cost;
  /** What it had answered, where it had acted at once. */
  readonly answer: Json | undefined;
  /** The caller's name of its transaction. */
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
    // As they were authorised: who approves has not seen what would be touched under other names by now.
    claims: claimsOf(value),
    checkNames: (signal) => held.names.checkStill(tool, value.input, claimsOf(value), signal),
    cost: value.cost,
    answer: value.answer,
    told: value.told,
    name: value.transaction,
  };
}

/** Who approves it was shown another one. */
function reclassed({ name, class: now }: Tool, putUp: EffectClass): EffectError {
  const said = ({ reversibility, delivery, sink }: EffectClass): string => `${reversibility}, ${delivery} and ${sink}`;
  return new EffectError(
    'stale',
    `${name} was put up as ${said(putUp)}, and is ${said(now!)} here; approve it where it is declared as it was, or reject it.`,
    { evidence: { tool: name } },
  );
}
