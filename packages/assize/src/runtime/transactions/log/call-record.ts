import type { Json } from '#base';
import {
  type CompensationResult,
  type EffectClass,
  type EffectPhase,
  isPivot,
  type KnownEffect,
  type LoggedEffect,
  type ReconcileResult,
} from '#effects';
import type { BlobRow } from '#ledger';
import { keepableOrWhy, longer, oversizedResidue } from '../limits/answer-size.ts';

/** A call to be made, in the form that a log can name. */
export interface PreparedCall {
  readonly effect: LoggedEffect;
  readonly input: Json;
  readonly blobs: readonly BlobRow[];
  /** The staged answer that the body received. */
  readonly reported?: Json | undefined;
}

/** The blobs that store these calls; mostly there is one call. */
export function blobsOf(calls: readonly PreparedCall[]): readonly BlobRow[] {
  if (calls.length === 1) return calls[0]!.blobs;
  return calls.flatMap(({ blobs }) => blobs);
}

/** An effect with its input and answer, if this process has them. */
export interface CallRecord extends KnownEffect {
  readonly input?: Json;
  readonly answer?: Json;
  /** The answer that the body received. */
  readonly reported?: Json;
  /** Number of lost answers. */
  readonly lost?: number;
  /** Whether an earlier call is in doubt: a later call that did nothing does not resolve it. */
  readonly isOpen?: boolean;
}

/** The effect of a call before its first attempt. */
export function callRecordOf({ effect, input, reported }: PreparedCall): CallRecord {
  return reported === undefined ? { ...effect, input } : { ...effect, input, reported };
}

/** A call, or its compensation. */
export type CallKind = 'call' | 'undo';

/** Phases of an effect that must be called or compensated, or may have been. */
export const DUE: { readonly [how in CallKind]: ReadonlySet<EffectPhase> } = {
  call: new Set(['due', 'applying']),
  undo: new Set(['executed', 'undoing']),
};

/** Phases of a call that may have been made. */
export const IN_FLIGHT: ReadonlySet<EffectPhase> = new Set(['intended', 'applying', 'undoing']);

/**
 * Whether calls of that class are buffered until the commit. Includes irreversible calls, because
 * no step that can fail may follow them (docs/decisions/016-effect-outcomes.md).
 */
export function isBuffered(kind: EffectClass): boolean {
  return kind.delivery === 'buffered' || isPivot(kind);
}

/**
 * Whether a call of that class is logged before it is made, because repeating it would not be
 * harmless.
 */
export function isLoggedFirst({ reversibility, sink }: EffectClass): boolean {
  return sink === 'blind' || reversibility === 'irreversible';
}

/**
 * The residue of a compensation, also if it is too long to store. Undefined if there is none.
 *
 * @throws TypeError if a tool does not report whether it compensated
 */
export function residueOf(tool: string, said: CompensationResult): Json | undefined {
  if (said?.undone === 'all') return undefined;
  if (said?.undone === 'partly' && said.residue !== undefined) {
    const read = keepableOrWhy(said.residue);
    if (read.kept !== undefined) return read.kept;
    return longer(said.residue) ?? oversizedResidue(tool, read.why);
  }
  throw new TypeError(
    `${tool} did not return what it compensated. Return { undone: 'all' }, or 'partly' and the residue`,
  );
}

/**
 * Checks a sink's report on a call. @throws TypeError for a report without an outcome; the call
 * must then not be repeated
 */
export function requireReconciled(tool: string, said: ReconcileResult): ReconcileResult {
  if (said?.happened === true || said?.happened === false) return said;
  throw new TypeError(
    `${tool} did not return whether the call happened. Return { happened: true, result } or { happened: false }`,
  );
}

/** The residue of a compensation that succeeded but lost its answer. */
export function residueOfLostAnswer({ reversibility }: EffectClass): Json | undefined {
  return reversibility === 'with_cost'
    ? { unknown: 'the answer that would have said what it cost was lost' }
    : undefined;
}
