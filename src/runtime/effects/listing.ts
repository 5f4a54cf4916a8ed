import type { KnownEffect, KnownTransaction } from '#effects';
import {
  type Claim,
  claimsOf,
  type EffectClass,
  type EffectPhase,
  type Failing,
  isNameClaim,
  mayCostUndoing,
  readTransaction,
  type TransactionPhase,
} from '#effects';
import type { Amounts, EffectStore, Hash, LoggedTransaction } from '#ledger';

/** Which transactions are asked for; by default all that have not ended. */
export interface EffectsQuery {
  readonly trajectoryId?: string;
  /** The one of that epoch, also when it has ended. */
  readonly epoch?: number;
  /** Also those that have ended, the youngest first. */
  readonly all?: boolean;
  /** With `all`: at most so many, from 1. Default 100. */
  readonly limit?: number;
  /** With `all`: those of a lesser epoch than this; for the next page, that of the last one. */
  readonly before?: number;
}

/** Transactions that are listed at once, unless another number is asked for. */
const LIMIT = 100;

/** A transaction of tools as the effect log has it. What was not written of it yet is not here. */
export interface EffectTransaction {
  readonly epoch: number;
  readonly trajectoryId: string;
  /** The caller's name of it, or one that was made up; of one that was approved, its proposal's id. */
  readonly name: string;
  /** Of one that was approved: the caller's name of what was put up, where it has one. */
  readonly putUpAs?: string;
  readonly principal: string;
  readonly writId: Hash;
  /** `settled` and `aborted`: it has ended. */
  readonly phase: TransactionPhase;
  /** The commit entry. */
  readonly entry?: Hash;
  /** Why it is undone, of one that was never committed. */
  readonly cause?: string;
  /** Of one that was committed, and is undone since an effect has failed for good: which, and how often what its action does then was refused. */
  readonly failing?: Failing;
  readonly claims: readonly Claim[];
  /** In the order of the calls. */
  readonly effects: readonly ListedEffect[];
}

export interface ListedEffect extends Pick<KnownEffect, 'tool' | 'key' | 'residue' | 'resolved'> {
  readonly n: number;
  readonly class: EffectClass;
  readonly phase: EffectPhase;
  /** How often it is known to have failed since it last went on. */
  readonly failures: number;
  /** What undoing it may yet cost, or has cost; not there where nothing, or where it is to stay. */
  readonly undoCost?: Amounts;
}

/** Reads the log without taking the tenure. */
export async function readEffects(store: EffectStore, query: EffectsQuery): Promise<EffectTransaction[]> {
  const { trajectoryId } = query;
  return (await loggedBy(store, query))
    .filter((each) => trajectoryId === undefined || each.trajectory_id === trajectoryId)
    .map((each) => listed(readTransaction(each)));
}

async function loggedBy(
  store: EffectStore,
  { trajectoryId, epoch, all, limit = LIMIT, before }: EffectsQuery,
): Promise<LoggedTransaction[]> {
  if (all === true) {
    const page = {
      limit,
      ...(before !== undefined && { before }),
      ...(trajectoryId !== undefined && { trajectoryId }),
    };
    return store.listEffects(page);
  }
  if (epoch === undefined) return store.openEffects();
  const one = await store.effectsOf(epoch);
  return one === undefined ? [] : [one];
}

function listed(known: KnownTransaction): EffectTransaction {
  const { epoch, trajectoryId, body, state, effects, entry, cause } = known;
  return {
    epoch,
    trajectoryId,
    name: body.transaction,
    ...(body.name === undefined ? {} : { putUpAs: body.name }),
    principal: body.principal,
    writId: body.writ_id,
    phase: state.phase,
    ...(entry === undefined ? {} : { entry }),
    ...(cause === undefined ? {} : { cause }),
    ...(state.failing === undefined ? {} : { failing: state.failing }),
    claims: claimsOf(known).filter((claim) => !isNameClaim(claim)),
    effects: effects.map(({ tool, key, residue, resolved, undo_cost: undoCost }, n) => {
      const { class: kind, phase, failures } = state.effects[n]!;
      return {
        n,
        tool,
        key,
        class: kind,
        phase,
        failures,
        ...(undoCost !== undefined && mayCostUndoing(state, n) ? { undoCost } : {}),
        ...(residue === undefined ? {} : { residue }),
        ...(resolved === undefined ? {} : { resolved }),
      };
    }),
  };
}
