import type { Writ } from '#authority';
import { arg, checkArgument, type Json } from '#base';
import { copyJson } from '#canon';
import {
  type Decision,
  EffectError,
  type EffectPhase,
  isUnresolved,
  type KnownTransaction,
  retryOf,
  type TransactionPhase,
} from '#effects';
import type { Hash } from '#ledger';
import type { WritChain } from '../../authority/writs.ts';

/**
 * An operator's decision on an effect that is in doubt, or could not be executed or compensated.
 */
export interface EffectResolution {
  readonly epoch: number;
  /** The effect's index in the transaction, from 0. */
  readonly n: number;
  /**
   * `applied`: the effect exists, as the operator found or made it. If the transaction is aborted,
   * the effect is compensated now. `undone`: the effect does not exist, or was reverted by hand.
   * `did_not_happen`: the tool refused the call, or it had no effect; recorded as `undone`.
   * `retry`: the call is retried. `residue`: the effect stays as it is and is no longer tracked.
   */
  readonly as: Decision | 'did_not_happen';
  /**
   * The operator, 1 to 256 characters: neither the principal of the transaction nor a grantor of
   * its writ. Without `writ`, a counselor of the kind `operator` in the domain of the trajectory.
   */
  readonly by: string;
  /** The other principals that made the token of the operator. All count as one person. */
  readonly tokenBy?: readonly string[];
  /**
   * A writ of the operator. The writ and its ancestors name `assize.resolve_effect` and a scope
   * `effect:…`, and cover `effect:TOOL`. With a writ no domain is needed.
   */
  readonly writ?: Hash | Writ | WritChain;
  /** The operator's findings or actions; never empty. The log names it by a salted hash. */
  readonly evidence: Json;
  /**
   * Retries a call that may have happened, at a sink that cannot report its outcome. The call may
   * then happen twice.
   */
  readonly confirm?: boolean;
  /**
   * The version of the transaction on which the operator decided. The decision is refused if
   * the transaction has changed since, such as by a retry of another operator.
   */
  readonly version?: number;
}

/** The result of a decision on an effect. */
export interface ResolvedEffect {
  readonly epoch: number;
  readonly trajectoryId: string;
  readonly n: number;
  readonly tool: string;
  readonly key: Hash;
  readonly phase: EffectPhase;
  /**
   * `settled` or `aborted`: the transaction has ended and its claims are free. Otherwise an effect
   * is unresolved or needs a tool that is missing here.
   */
  readonly transaction: TransactionPhase;
  /** Effects of the transaction that need a human decision. */
  readonly unresolved: number;
}

const RESOLUTION = arg.options<EffectResolution>({
  epoch: arg.any,
  n: arg.any,
  as: arg.any,
  by: arg.any,
  tokenBy: arg.optional(arg.list(arg.text)),
  writ: arg.any,
  evidence: arg.any,
  confirm: arg.any,
  version: arg.optional(arg.whole),
});

/** A decision of an operator, as the log records it. */
export type CheckedResolution = EffectResolution & { readonly as: Decision };

const DECISIONS: readonly EffectResolution['as'][] = [
  'applied',
  'undone',
  'did_not_happen',
  'retry',
  'residue',
];
const BY_MAX = 256;

/**
 * A validated copy of the argument. @throws EffectError `bad_resolution`; ArgumentError
 * `bad_argument`
 */
export function checkedEffectResolution(given: EffectResolution): CheckedResolution {
  if (typeof given !== 'object' || given === null) throw bad('pass epoch, n, as, by and evidence');
  checkArgument(RESOLUTION, given, 'resolution');
  const { epoch, n, by, tokenBy = [], writ, evidence, confirm = false, version } = given;
  const as = given.as === 'did_not_happen' ? 'undone' : given.as;
  if (!Number.isSafeInteger(epoch) || epoch < 1)
    throw bad('epoch must be the number of a transaction, from 1');
  if (!Number.isSafeInteger(n) || n < 0)
    throw bad('n must be the index of an effect in its transaction, from 0');
  if (!DECISIONS.includes(as)) throw bad(`as must be one of ${DECISIONS.join(', ')}`);
  if (typeof by !== 'string' || by.trim() === '' || by.length > BY_MAX || !by.isWellFormed())
    throw bad(`by must name the operator, in 1 to ${BY_MAX} characters`);
  if (typeof confirm !== 'boolean') throw bad('confirm must be true or false');
  if (writ !== undefined && typeof writ !== 'string' && (typeof writ !== 'object' || writ === null))
    throw bad('writ must be a writ, or the id of a writ of the trajectory');
  return {
    epoch,
    n,
    as,
    by,
    tokenBy,
    evidence: evidenceOf(evidence),
    confirm,
    ...(writ !== undefined && { writ }),
    ...(version !== undefined && { version }),
  };
}

function evidenceOf(given: Json): Json {
  let evidence: Json;
  try {
    evidence = copyJson(given, { foreign: true });
  } catch (error) {
    throw bad(`the evidence cannot be recorded: ${(error as Error).message}`, error);
  }
  if (isEmpty(evidence))
    throw bad('the evidence must not be empty; describe the finding or the action');
  return evidence;
}

function isEmpty(evidence: Json): boolean {
  if (typeof evidence === 'string') return evidence.trim() === '';
  if (typeof evidence === 'object') return evidence === null || Object.keys(evidence).length === 0;
  return false;
}

/**
 * Checks whether the decision can be accepted. `isLet`: whether the transaction is idle and waits
 * for a decision. @throws EffectError
 */
export function checkUnresolved(
  { epoch, n, as, confirm, version }: CheckedResolution,
  known: KnownTransaction | undefined,
  isLet: boolean,
): void {
  if (known === undefined)
    throw refused('wrong_state', { epoch, n }, `The effect log has no transaction ${epoch}`);
  const effect = known.effects[n];
  const state = known.state.effects[n];
  if (effect === undefined || state === undefined) {
    const count = known.effects.length;
    const has =
      count === 0
        ? 'no effects'
        : count === 1
          ? 'one effect, 0'
          : `${count} effects, 0 to ${count - 1}`;
    throw refused(
      'not_found',
      { epoch, n },
      `Transaction ${epoch} has no effect ${n}. It has ${has}`,
    );
  }
  const { tool, resolved } = effect;
  const what = `The effect of ${tool} in transaction ${epoch}`;
  if (!isUnresolved(state.phase)) {
    if (resolved !== undefined)
      throw refused(
        'already_done',
        { epoch, n },
        `${what} was already resolved as ${resolved.as} by ${resolved.by}`,
      );
    throw refused('wrong_state', { epoch, n }, `${what} is ${state.phase} and needs no decision`);
  }
  if (!isLet)
    throw refused(
      'wrong_state',
      { epoch, n },
      `Transaction ${epoch} is still in progress. Wait until it ends`,
    );
  if (version !== undefined && version !== known.length)
    throw refused(
      'wrong_state',
      { epoch, n },
      `Transaction ${epoch} has changed since version ${version}. Read it again, and decide`,
    );
  if (as !== 'retry') return;
  const retry = retryOf(known.state, n);
  if (retry === 'never')
    throw refused(
      'bad_resolution',
      { epoch, n },
      `${what} must be compensated and cannot be retried. Resolve it as applied if it exists, or as undone if it does not`,
    );
  if (retry === 'confirmed' && confirm !== true)
    throw refused(
      'needs_confirmation',
      { epoch, n },
      `${what} may have happened, and its sink cannot tell, so a retry may repeat it. Confirm the retry with \`confirm\``,
    );
}

function refused(
  code: 'wrong_state' | 'not_found' | 'already_done' | 'bad_resolution' | 'needs_confirmation',
  evidence: { readonly epoch: number; readonly n: number },
  what: string,
): EffectError {
  return new EffectError(code, `${what}.`, { evidence });
}

function bad(what: string, cause?: unknown): EffectError {
  return new EffectError('bad_resolution', `The decision on the effect is not valid: ${what}.`, {
    cause,
  });
}
