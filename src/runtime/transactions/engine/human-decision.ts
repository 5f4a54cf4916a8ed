import { form, type Json, requireForm } from '#base';
import { copyJson } from '#canon';
import {
  type Decision,
  EffectError,
  type EffectPhase,
  isLeft,
  type KnownTransaction,
  retryOf,
  type TransactionPhase,
} from '#effects';
import type { Hash } from '#ledger';

/** What a person decides about an effect that is in doubt, or could not be done or undone. */
export interface EffectResolution {
  readonly epoch: number;
  /** The effect's place in the transaction, from 0. */
  readonly n: number;
  /**
   * `applied`: it is there, as they found or made it; where the transaction is undone, it is undone now. `undone`: it is not there,
   * or was taken back by hand. `retry`: it is tried again. `residue`: it stays as it is, and is no longer looked after.
   */
  readonly as: Decision;
  /** Who decides, 1 to 256 characters. */
  readonly by: string;
  /** What they found, or did; never empty. The log names it by a salted hash. */
  readonly evidence: Json;
  /** Tried again although it may have happened, at a sink that can't tell: it may then happen twice. */
  readonly confirm?: boolean;
}

/** What became of it. */
export interface ResolvedEffect {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly n: number;
  readonly tool: string;
  readonly key: Hash;
  readonly phase: EffectPhase;
  /** `settled` or `aborted`: it has ended, and what it claimed is free. Else something of it is left, or needs a tool that is not here. */
  readonly transaction: TransactionPhase;
  /** Effects of it that wait for a person. */
  readonly left: number;
}

const RESOLUTION = form.options<EffectResolution>({
  epoch: form.any,
  n: form.any,
  as: form.any,
  by: form.any,
  evidence: form.any,
  confirm: form.any,
});

const DECISIONS: readonly Decision[] = ['applied', 'undone', 'retry', 'residue'];
const BY_MAX = 256;

/** As it was given, copied. @throws EffectError `bad_resolution`; ArgumentError `bad_argument` */
export function checkedEffectResolution(given: EffectResolution): EffectResolution {
  if (typeof given !== 'object' || given === null) throw bad('say epoch, n, as, by and evidence');
  requireForm(RESOLUTION, given, 'resolution');
  const { epoch, n, as, by, evidence, confirm = false } = given;
  if (!Number.isSafeInteger(epoch) || epoch < 1) throw bad('the epoch is the number of a transaction, from 1');
  if (!Number.isSafeInteger(n) || n < 0) throw bad('n is the place of an effect in its transaction, from 0');
  if (!DECISIONS.includes(as)) throw bad(`as is one of ${DECISIONS.join(', ')}`);
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_MAX || !by.isWellFormed())
    throw bad(`by says who decides, in 1 to ${BY_MAX} characters`);
  if (typeof confirm !== 'boolean') throw bad('confirm is true or false');
  return { epoch, n, as, by, evidence: evidenceOf(evidence), confirm };
}

function evidenceOf(given: Json): Json {
  let evidence: Json;
  try {
    evidence = copyJson(given, { foreign: true });
  } catch (error) {
    throw bad(`the evidence can't be taken down: ${(error as Error).message}`, error);
  }
  if (isEmpty(evidence)) throw bad('the evidence says what was found or done; it may not be empty');
  return evidence;
}

function isEmpty(evidence: Json): boolean {
  if (typeof evidence === 'string') return evidence.trim() === '';
  if (typeof evidence === 'object') return evidence === null || Object.keys(evidence).length === 0;
  return false;
}

/** Whether that is a decision to be taken. `isLet`: whether the transaction is left alone, and waits. @throws EffectError */
export function checkLeft(
  { epoch, n, as, confirm }: EffectResolution,
  known: KnownTransaction | undefined,
  isLet: boolean,
): void {
  if (known === undefined)
    throw refused('not_left', { epoch, n }, `There is no transaction ${epoch} in the effect log`);
  const effect = known.effects[n];
  const state = known.state.effects[n];
  if (effect === undefined || state === undefined) {
    const count = known.effects.length;
    const has = count === 0 ? 'no effects' : count === 1 ? 'one effect, 0' : `${count} effects, 0 to ${count - 1}`;
    throw refused('unknown_effect', { epoch, n }, `Transaction ${epoch} has no effect ${n}; it has ${has}`);
  }
  const { tool, resolved } = effect;
  const what = `What ${tool} did in transaction ${epoch}`;
  if (!isLeft(state.phase)) {
    if (resolved !== undefined)
      throw refused('already_resolved', { epoch, n }, `${what} was resolved as ${resolved.as} by ${resolved.by}`);
    throw refused('not_left', { epoch, n }, `${what} is ${state.phase}, and waits for nobody`);
  }
  if (!isLet) throw refused('not_left', { epoch, n }, `Transaction ${epoch} is still at work; wait for it to end`);
  if (as !== 'retry') return;
  const retry = retryOf(known.state, n);
  if (retry === 'never')
    throw refused(
      'bad_resolution',
      { epoch, n },
      `${what} is to be undone, and can't be tried again; say applied if it is there, or undone if it is not`,
    );
  if (retry === 'confirmed' && confirm !== true)
    throw refused(
      'needs_confirmation',
      { epoch, n },
      `${what} may have happened, and its sink can't tell: trying again may do it twice; say so with confirm`,
    );
}

function refused(
  code: 'not_left' | 'unknown_effect' | 'already_resolved' | 'bad_resolution' | 'needs_confirmation',
  evidence: { readonly epoch: number; readonly n: number },
  what: string,
): EffectError {
  return new EffectError(code, `${what}.`, { evidence });
}

function bad(what: string, cause?: unknown): EffectError {
  return new EffectError('bad_resolution', `This is no decision about an effect: ${what}.`, { cause });
}
