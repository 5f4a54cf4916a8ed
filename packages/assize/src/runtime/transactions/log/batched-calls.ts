import { isInstance, type Json } from '#base';
import { copyJson } from '#canon';
import {
  type BatchOf,
  type CompensationResult,
  DidNothing,
  isUnresolved,
  type LogRecord,
  ownFailure,
  type Tool,
} from '#effects';
import type { BlobRef } from '#ledger';
import { storedAnswer, UNDO_ANSWER_LIMITS } from '../limits/answer-size.ts';
import type { MarkUnresolved, ToolCallPorts } from './call-ports.ts';
import { type CallKind, type CallRecord, DUE, isLoggedFirst, residueOf } from './call-record.ts';
import type { TransactionLog } from './log-writer.ts';
import type { StagedWrites } from './staged-writes.ts';

/** The effects of one transaction, as a batched call needs them (`Calls`). */
export interface EffectCalls {
  readonly ports: ToolCallPorts;
  readonly log: TransactionLog;
  readonly epoch: number;
  readonly effects: readonly CallRecord[];
  readonly stagedWrites: StagedWrites | undefined;
  readonly batches: { readonly batchOf?: BatchOf };
  readonly leave: MarkUnresolved;
  specOf(n: number): Tool['spec'];
  isReady(n: number): boolean;
  readBack(n: number): Promise<boolean>;
  mayHaveBeenCalled(n: number): boolean;
  wasCalled(n: number): true;
  hasLostTooMany(n: number): boolean;
  whyNotCompensated(
    n: number,
  ): 'no_compensate' | 'answer_too_long' | 'answer_unreadable' | undefined;
  answered(n: number, result: unknown): void;
  undone(n: number, residue: Json | undefined): void;
  noteFailure(n: number, error: unknown): void;
  change(n: number, more: Partial<CallRecord>): void;
  storeBlob(n: number, value: Json): BlobRef;
  backOff(times: number, failure?: unknown): Promise<void>;
  withTimeout<T>(
    effects: readonly CallRecord[],
    ms: number,
    call: (signal: AbortSignal) => T | Promise<T>,
  ): T | Promise<T>;
}

/**
 * The effects to call or compensate in one batch with an effect. Undefined if the tool of an effect
 * that may belong to the batch is missing here.
 */
export function batchWith(
  calls: EffectCalls,
  n: number,
  how: CallKind,
): readonly number[] | undefined {
  const { effects } = calls.log.state;
  const isOfIt = (each: number): boolean => DUE[how].has(effects[each]!.phase);
  // Includes unresolved effects that may belong to the batch.
  const counts = (each: number): boolean => isOfIt(each) || isUnresolved(effects[each]!.phase);
  const isUnknown = calls.effects.some(
    ({ tool }, each) => counts(each) && !calls.ports.tools.has(tool),
  );
  return isUnknown ? undefined : (calls.batches.batchOf?.(n) ?? [n]).filter(isOfIt);
}

/** Calls or compensates several effects as one step of their sink: all of them, or none. */
export async function callBatch(
  calls: EffectCalls,
  ns: readonly number[],
  how: CallKind,
): Promise<boolean> {
  for (const n of ns) if (!calls.isReady(n) && !(await calls.readBack(n))) return false;
  await logCalls(calls, ns, how);
  const sure = calls.ports.coordination.confirmLease();
  if (sure !== undefined) await sure;
  if (ns.some((n) => calls.hasLostTooMany(n))) {
    for (const n of ns) await calls.leave(n, { is: 'in_doubt', n });
    return true;
  }
  const stays =
    how === 'call' ? undefined : ns.find((n) => calls.whyNotCompensated(n) !== undefined);
  if (stays !== undefined) {
    await calls.leave(stays, { is: 'unresolved', n: stays, why: calls.whyNotCompensated(stays)! });
    return true;
  }
  try {
    const made = await callAll(calls, ns, how);
    for (const [i, n] of ns.entries()) {
      if (how === 'call') calls.answered(n, made[i] ?? null);
      else calls.undone(n, residueOf(calls.effects[n]!.tool, made[i] as CompensationResult));
    }
  } catch (error) {
    // If one answer is too long to store, the answers before it are stored.
    const open = ns.filter((n) => DUE[how].has(calls.log.state.effects[n]!.phase));
    await failed(calls, open, error);
  }
  return true;
}

/**
 * A record that must precede the call is written immediately. After a crash, the call may already
 * have been made.
 */
async function logCalls(calls: EffectCalls, ns: readonly number[], how: CallKind): Promise<void> {
  const is = how === 'call' ? 'applying' : 'undoing';
  const told: LogRecord[] = [];
  for (const n of ns) {
    if (calls.log.state.effects[n]!.phase === is) continue;
    if (calls.mayHaveBeenCalled(n)) calls.wasCalled(n);
    else if (isLoggedFirst(calls.effects[n]!.class)) told.push({ is, n });
    else calls.log.note({ is, n });
  }
  if (told.length > 0) await calls.log.write(told);
}

/** Each call may take as long as it would alone, within the patience. */
async function callAll(
  calls: EffectCalls,
  ns: readonly number[],
  how: CallKind,
): Promise<readonly unknown[]> {
  const parts = ns.map((n) => calls.specOf(n).batch!);
  const together = parts[0]!;
  const holding = how === 'call' ? calls.stagedWrites?.take(together.at) : undefined;
  const effects = ns.map((n) => calls.effects[n]!);
  return calls.withTimeout<readonly unknown[]>(
    effects,
    calls.ports.callTimeoutMs * ns.length,
    async (signal) => {
      const made = ns.map((n, i) => {
        const { key, input, reported, answer = null } = calls.effects[n]!;
        const part = {
          part: parts[i]!.part,
          input: copyJson(input as Json),
          call: { key, signal, epoch: calls.epoch },
        };
        if (how === 'undo') return { ...part, result: copyJson(answer, UNDO_ANSWER_LIMITS) };
        return reported === undefined ? part : { ...part, reported: copyJson(reported) };
      });
      const answers =
        how === 'undo'
          ? await together.compensate!(made)
          : ((await holding?.commit(made)) ?? (await together.execute(made)));
      if (Array.isArray(answers) && answers.length === ns.length) return answers;
      throw new TypeError(
        `the batch has ${ns.length} calls, and the tool returned another number of answers`,
      );
    },
  );
}

/**
 * All calls of the batch failed or are in doubt. If only one of them caused the error, the others
 * lose nothing.
 */
async function failed(calls: EffectCalls, ns: readonly number[], thrown: unknown): Promise<void> {
  const error = ownFailure(thrown);
  for (const n of ns) calls.noteFailure(n, error);
  if (!isInstance(error, DidNothing) || ns.some((n) => calls.effects[n]!.isOpen === true)) {
    const lost = 1 + Math.max(...ns.map((n) => calls.effects[n]!.lost ?? 0));
    for (const n of ns) calls.change(n, { lost, isOpen: true });
    if (lost < calls.ports.maxAttempts) await calls.backOff(lost, error);
    return;
  }
  const refused = ns.filter((n) => calls.effects[n]!.key === error.key);
  const those = refused.length === 0 ? ns : refused;
  for (const n of ns) {
    if (!those.includes(n)) calls.log.append({ is: 'absent', n });
    else if (error.isFinal)
      calls.log.append({ is: 'failed', n, final: true, ...differing(calls, n, error) });
    else calls.log.append({ is: 'failed', n });
  }
  const failures = Math.max(...those.map((n) => calls.log.state.effects[n]!.failures));
  if (!error.isFinal && failures < calls.ports.maxAttempts) await calls.backOff(failures, error);
}

/** Both answers, if the body received a different one. The operator sees them. */
function differing(
  calls: EffectCalls,
  n: number,
  { answer }: DidNothing,
): { readonly differs?: BlobRef } {
  const { reported } = calls.effects[n]!;
  if (answer === undefined || reported === undefined) return {};
  const differs = calls.storeBlob(n, { answer: storedAnswer(answer), told: reported });
  calls.change(n, { differs });
  return { differs };
}
