import type { Json } from '#base';
import {
  type EffectClass,
  type EffectPhase,
  isPivot,
  type KnownEffect,
  type LoggedEffect,
  type Reconciled,
  type Undone,
} from '#effects';
import type { BlobRow } from '#ledger';
import { keepable, longer, notKept } from '../limits/answer-size.ts';

/** A call that is to be made, put where a log can name it. */
export interface Prepared {
  readonly effect: LoggedEffect;
  readonly input: Json;
  readonly blobs: readonly BlobRow[];
  /** What the body was told that it answers, where it was done for it already and nobody else sees it. */
  readonly told?: Json | undefined;
}

/** What keeps these calls: mostly there is one. */
export function blobsOf(calls: readonly Prepared[]): readonly BlobRow[] {
  if (calls.length === 1) return calls[0]!.blobs;
  return calls.flatMap(({ blobs }) => blobs);
}

/** An effect with what it is made of, where this process has that. */
export interface Called extends KnownEffect {
  readonly input?: Json;
  readonly answer?: Json;
  /** What its body was told that it answers. */
  readonly told?: Json;
  /** How often its answer was lost. */
  readonly lost?: number;
  /** Whether a call was made of which nobody knows yet what it did: that a later one did nothing tells nothing of it. */
  readonly isOpen?: boolean;
}

/** As it is called. */
export function calledOf({ effect, input, told }: Prepared): Called {
  return told === undefined ? { ...effect, input } : { ...effect, input, told };
}

/** A call itself, or its compensation. */
export type How = 'call' | 'undo';

/** Phases of what is to be called, or undone, or may have been. */
export const DUE: { readonly [how in How]: ReadonlySet<EffectPhase> } = {
  call: new Set(['due', 'applying']),
  undo: new Set(['executed', 'undoing']),
};

/** Phases of a call that may have been made. */
export const UNDER_WAY: ReadonlySet<EffectPhase> = new Set(['intended', 'applying', 'undoing']);

/** Whether a call of that class waits for the commit: also what would act at once and can't be undone, as nothing may come after it that still fails (decisions §5.9). */
export function isHeld(kind: EffectClass): boolean {
  return kind.delivery === 'buffered' || isPivot(kind);
}

/** Whether a call of that class is in the log before it is made: another one would not be harmless. */
export function isToldFirst({ reversibility, sink }: EffectClass): boolean {
  return sink === 'blind' || reversibility === 'irreversible';
}

/**
 * What is left of what was undone, also where that is more than is kept; undefined for nothing.
 *
 * @throws TypeError where a tool does not say whether it was; CanonError where what it says is left is no JSON
 */
export function residueOf(tool: string, said: Undone): Json | undefined {
  if (said?.undone === 'all') return undefined;
  if (said?.undone === 'partly' && said.residue !== undefined) {
    const kept = keepable(said.residue);
    const left = kept === undefined ? longer(said.residue) : kept;
    return left === undefined ? notKept(tool) : left;
  }
  throw new TypeError(`${tool} does not say what it has undone: { undone: 'all' }, or 'partly' and the residue`);
}

/** What a sink says of a call. @throws TypeError for what says neither, after which nothing may be called again */
export function requireTold(tool: string, said: Reconciled): Reconciled {
  if (said?.happened === true || said?.happened === false) return said;
  throw new TypeError(
    `${tool} does not say whether it has happened: { happened: true, result } or { happened: false }`,
  );
}

/** What is left of something that was undone, where the answer that would have said so was lost. */
export function unheardResidue({ reversibility }: EffectClass): Json | undefined {
  return reversibility === 'with_cost'
    ? { unknown: 'the answer that would have said what it cost was lost' }
    : undefined;
}
