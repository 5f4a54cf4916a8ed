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
import {
  type Amounts,
  checkRow,
  type DomainRef,
  type EffectStore,
  type Hash,
  LedgerFault,
  type LedgerStore,
  type LoggedTransaction,
} from '#ledger';
import { openTransactions } from '../../transactions/coordination/read-open.ts';

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
  /** Of one that has not ended: what has to be there to go on with it. A process without that leaves it to one that has it. */
  readonly needs?: EffectNeeds;
  readonly claims: readonly Claim[];
  /** In the order of the calls. */
  readonly effects: readonly ListedEffect[];
}

export interface EffectNeeds {
  /** Those that may have to be called, asked or told to undo something, as far as none of it waits for a person; by name, in order. */
  readonly tools: readonly string[];
  /** Of one in which an effect has failed for good: the domain of its trajectory, which says what is committed then. */
  readonly domain?: DomainRef;
}

export interface ListedEffect
  extends Pick<KnownEffect, 'tool' | 'key' | 'branch' | 'residue' | 'resolved' | 'differs' | 'why'> {
  readonly n: number;
  readonly class: EffectClass;
  readonly phase: EffectPhase;
  /** How often it is known to have failed since it last went on. */
  readonly failures: number;
  /** What undoing it may yet cost, or has cost; not there where nothing, or where it is to stay. */
  readonly undoCost?: Amounts;
}

/** Reads the log without taking the tenure. */
export async function readEffects(store: LedgerStore & EffectStore, query: EffectsQuery): Promise<EffectTransaction[]> {
  const { trajectoryId } = query;
  const found: EffectTransaction[] = [];
  for await (const logged of loggedBy(store, query)) {
    if (trajectoryId !== undefined && logged.trajectory_id !== trajectoryId) continue;
    const known = readTransaction(logged);
    found.push(listed(known, await needsOf(known, store)));
  }
  return found;
}

const ENDED: ReadonlySet<TransactionPhase> = new Set(['settled', 'aborted']);
/** Of an effect of which something may yet be asked. */
const AT_WORK: ReadonlySet<EffectPhase> = new Set(['intended', 'executed', 'due', 'applying', 'undoing']);

async function needsOf(
  { trajectoryId, state, effects }: KnownTransaction,
  store: LedgerStore,
): Promise<EffectNeeds | undefined> {
  if (ENDED.has(state.phase)) return undefined;
  const tools = new Set(effects.flatMap(({ tool }, n) => (AT_WORK.has(state.effects[n]!.phase) ? [tool] : [])));
  const isAnswered = state.phase === 'failing' && state.failing?.isWaived !== true;
  const domain = isAnswered ? await domainOf(trajectoryId, store) : undefined;
  return { tools: [...tools].sort(), ...(domain !== undefined && { domain }) };
}

/** Undefined where the trajectory can't be read, of which other commands tell. */
async function domainOf(trajectoryId: string, store: LedgerStore): Promise<DomainRef | undefined> {
  const [first] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  try {
    const payload = first && checkRow(first).payload;
    return payload?.kind === 'root' || payload?.kind === 'branch' ? payload.domain : undefined;
  } catch (error) {
    if (error instanceof LedgerFault) return undefined;
    throw error;
  }
}

async function* loggedBy(
  store: EffectStore,
  { trajectoryId, epoch, all, limit = LIMIT, before }: EffectsQuery,
): AsyncGenerator<LoggedTransaction> {
  if (all === true) {
    const page = {
      limit,
      ...(before !== undefined && { before }),
      ...(trajectoryId !== undefined && { trajectoryId }),
    };
    yield* await store.listEffects(page);
  } else if (epoch === undefined) {
    yield* openTransactions(store, trajectoryId);
  } else {
    const one = await store.effectsOf(epoch);
    if (one !== undefined) yield one;
  }
}

function listed(known: KnownTransaction, needs: EffectNeeds | undefined): EffectTransaction {
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
    ...(needs === undefined ? {} : { needs }),
    claims: claimsOf(known).filter((claim) => !isNameClaim(claim)),
    effects: effects.map(({ tool, key, branch, residue, resolved, differs, why, undo_cost: undoCost }, n) => {
      const { class: kind, phase, failures } = state.effects[n]!;
      return {
        n,
        tool,
        key,
        ...(branch === undefined ? {} : { branch }),
        class: kind,
        phase,
        failures,
        ...(undoCost !== undefined && mayCostUndoing(state, n) ? { undoCost } : {}),
        ...(residue === undefined ? {} : { residue }),
        ...(resolved === undefined ? {} : { resolved }),
        ...(differs === undefined ? {} : { differs }),
        ...(why === undefined ? {} : { why }),
      };
    }),
  };
}
