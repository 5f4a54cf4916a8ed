import type { Json } from '#base';
import { copyJson } from '#canon';
import { DidNothing, isLeft, type LogRecord, type Mates, type Tool, type Undone } from '#effects';
import type { BlobRef } from '#ledger';
import { LONG } from '../limits/answer-size.ts';
import type { CallPorts, Leave } from './call-ports.ts';
import { type Called, DUE, type How, isToldFirst, residueOf } from './call-record.ts';
import type { RunLog } from './log-writer.ts';
import type { Holdings } from './staged-writes.ts';

/** The effects of one transaction, as a batched call needs them (`Calls`). */
export interface EffectCalls {
  readonly ports: CallPorts;
  readonly log: RunLog;
  readonly epoch: number;
  readonly effects: readonly Called[];
  readonly holdings: Holdings | undefined;
  readonly mates: { readonly together?: Mates };
  readonly leave: Leave;
  specOf(n: number): Tool['spec'];
  isReady(n: number): boolean;
  readBack(n: number): Promise<boolean>;
  mayHaveBeenCalled(n: number): boolean;
  wasCalled(n: number): true;
  isLostFor(n: number): boolean;
  whyItStays(n: number): 'no_compensate' | 'answer_too_long' | undefined;
  answered(n: number, result: Json): void;
  undone(n: number, residue: Json | undefined): void;
  noteFailure(n: number, error: unknown): void;
  change(n: number, more: Partial<Called>): void;
  kept(n: number, value: Json): BlobRef;
  wait(times: number, failure?: unknown): Promise<void>;
  patiently<T>(ms: number, call: (signal: AbortSignal) => T | Promise<T>): T | Promise<T>;
}

/**
 * The effects to call or compensate in one batch with an effect. Undefined if the tool of an effect
 * that may belong to the batch is missing here.
 */
export function withIt(calls: EffectCalls, n: number, how: How): readonly number[] | undefined {
  const { effects } = calls.log.state;
  const isOfIt = (each: number): boolean => DUE[how].has(effects[each]!.phase);
  // Includes unresolved effects, which may belong to the batch.
  const counts = (each: number): boolean => isOfIt(each) || isLeft(effects[each]!.phase);
  const isUnknown = calls.effects.some(({ tool }, each) => counts(each) && !calls.ports.tools.has(tool));
  return isUnknown ? undefined : (calls.mates.together?.(n) ?? [n]).filter(isOfIt);
}

/** Calls or compensates several effects as one step of their sink: all of them, or none. */
export async function makeTogether(calls: EffectCalls, ns: readonly number[], how: How): Promise<boolean> {
  for (const n of ns) if (!calls.isReady(n) && !(await calls.readBack(n))) return false;
  await sayMade(calls, ns, how);
  const sure = calls.ports.coordination.sure();
  if (sure !== undefined) await sure;
  if (ns.some((n) => calls.isLostFor(n))) {
    for (const n of ns) await calls.leave(n, { is: 'in_doubt', n });
    return true;
  }
  const stays = how === 'call' ? undefined : ns.find((n) => calls.whyItStays(n) !== undefined);
  if (stays !== undefined) {
    await calls.leave(stays, { is: 'unresolved', n: stays, why: calls.whyItStays(stays)! });
    return true;
  }
  try {
    const made = await callAll(calls, ns, how);
    for (const [i, n] of ns.entries()) {
      if (how === 'call') calls.answered(n, (made[i] ?? null) as Json);
      else calls.undone(n, residueOf(calls.effects[n]!.tool, made[i] as Undone));
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
async function sayMade(calls: EffectCalls, ns: readonly number[], how: How): Promise<void> {
  const is = how === 'call' ? 'applying' : 'undoing';
  const told: LogRecord[] = [];
  for (const n of ns) {
    if (calls.log.state.effects[n]!.phase === is) continue;
    if (calls.mayHaveBeenCalled(n)) calls.wasCalled(n);
    else if (isToldFirst(calls.effects[n]!.class)) told.push({ is, n });
    else calls.log.note({ is, n });
  }
  if (told.length > 0) await calls.log.write(told);
}

/** Each call may take as long as it would alone, within the patience. */
async function callAll(calls: EffectCalls, ns: readonly number[], how: How): Promise<readonly unknown[]> {
  const parts = ns.map((n) => calls.specOf(n).together!);
  const together = parts[0]!;
  const holding = how === 'call' ? calls.holdings?.take(together.at) : undefined;
  return calls.patiently<readonly unknown[]>(calls.ports.callMs * ns.length, async (signal) => {
    const made = ns.map((n, i) => {
      const { key, input, told, answer = null } = calls.effects[n]!;
      const part = { part: parts[i]!.part, input: copyJson(input as Json), call: { key, signal, epoch: calls.epoch } };
      if (how === 'undo') return { ...part, result: copyJson(answer, LONG) };
      return told === undefined ? part : { ...part, told: copyJson(told) };
    });
    const answers =
      how === 'undo'
        ? await together.compensate!(made)
        : ((await holding?.commit(made)) ?? (await together.execute(made)));
    if (Array.isArray(answers) && answers.length === ns.length) return answers;
    throw new TypeError(`${ns.length} calls were made together, and not as many have answered`);
  });
}

/**
 * All calls of the batch failed or are in doubt. If only one of them caused the error, the others
 * lose nothing.
 */
async function failed(calls: EffectCalls, ns: readonly number[], error: unknown): Promise<void> {
  for (const n of ns) calls.noteFailure(n, error);
  if (!(error instanceof DidNothing) || ns.some((n) => calls.effects[n]!.isOpen === true)) {
    const lost = 1 + Math.max(...ns.map((n) => calls.effects[n]!.lost ?? 0));
    for (const n of ns) calls.change(n, { lost, isOpen: true });
    if (lost < calls.ports.tries) await calls.wait(lost, error);
    return;
  }
  const refused = ns.filter((n) => calls.effects[n]!.key === error.key);
  const those = refused.length === 0 ? ns : refused;
  for (const n of ns) {
    if (!those.includes(n)) calls.log.later({ is: 'absent', n });
    else if (error.isFinal) calls.log.later({ is: 'failed', n, final: true, ...differing(calls, n, error) });
    else calls.log.later({ is: 'failed', n });
  }
  const failures = Math.max(...those.map((n) => calls.log.state.effects[n]!.failures));
  if (!error.isFinal && failures < calls.ports.tries) await calls.wait(failures, error);
}

/** Both answers, if the body received a different one. The operator sees them. */
function differing(calls: EffectCalls, n: number, { answer }: DidNothing): { readonly differs?: BlobRef } {
  const { told } = calls.effects[n]!;
  if (answer === undefined || told === undefined) return {};
  const differs = calls.kept(n, { answer, told });
  calls.change(n, { differs });
  return { differs };
}
