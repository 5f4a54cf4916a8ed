import { isInstance } from '#base';
import {
  type Claim,
  claimsOf,
  type EffectClass,
  type EffectPhase,
  type Failing,
  isNameClaim,
  type KnownEffect,
  type KnownTransaction,
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
import { openTransactions } from '../../transactions/coordination/read-all.ts';

/** Selects transactions; by default all unfinished ones. */
export interface EffectsQuery {
  readonly trajectoryId?: string;
  /** The transaction of that epoch, also if it has ended. */
  readonly epoch?: number;
  /** Also transactions that have ended, newest first. */
  readonly all?: boolean;
  /** With `all`: maximum number of transactions, from 1. Default 100. */
  readonly limit?: number;
  /**
   * With `all`: only transactions with a lower epoch. For the next page, pass the epoch of the last
   * one.
   */
  readonly before?: number;
}

/** Default number of listed transactions. */
const LIMIT = 100;

/** A tool transaction as the effect log has it. Records not yet written are missing here. */
export interface EffectTransaction {
  readonly epoch: number;
  /** Rises with each record of the transaction. A decision can name the version it is about. */
  readonly version: number;
  readonly trajectoryId: string;
  /**
   * The caller's name of the transaction, or a generated one; for an approved transaction, its
   * proposal's id.
   */
  readonly name: string;
  /** For an approved transaction: the caller's name of the submitted proposal, if it has one. */
  readonly submittedAs?: string;
  readonly principal: string;
  readonly writId: Hash;
  /** `settled` and `aborted`: the transaction has ended. */
  readonly phase: TransactionPhase;
  /** The commit entry. */
  readonly entry?: Hash;
  /** The abort reason, for a transaction that was never committed. */
  readonly cause?: string;
  /**
   * For a committed transaction that is rolled back because an effect failed permanently: the
   * effect, and the number of times its `onFailure` action was refused.
   */
  readonly failing?: Failing;
  /**
   * For an unfinished transaction: the tools and domain that are needed to resume it. A process
   * without them leaves it to one that has them.
   */
  readonly needs?: EffectNeeds;
  readonly claims: readonly Claim[];
  /** In the order of the calls. */
  readonly effects: readonly ListedEffect[];
}

export interface EffectNeeds {
  /**
   * Tools that may still have to be called, queried or asked to compensate, unless a human decision
   * is needed; sorted by name.
   */
  readonly tools: readonly string[];
  /**
   * For a transaction with a permanently failed effect: the domain of its trajectory. It decides
   * the next commit.
   */
  readonly domain?: DomainRef;
}

export interface ListedEffect
  extends Pick<
    KnownEffect,
    'tool' | 'key' | 'branch' | 'residue' | 'resolved' | 'differs' | 'why'
  > {
  readonly n: number;
  readonly class: EffectClass;
  readonly phase: EffectPhase;
  /** Number of known failures since its last progress. */
  readonly failures: number;
  /**
   * The possible or actual cost of its compensation; absent without a cost, or if the effect stays.
   */
  readonly undoCost?: Amounts;
}

/** Reads the log without taking the lease. */
export async function readEffects(
  store: LedgerStore & EffectStore,
  query: EffectsQuery,
): Promise<EffectTransaction[]> {
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
/** Phases of effects that may still get a call. */
const AT_WORK: ReadonlySet<EffectPhase> = new Set([
  'intended',
  'executed',
  'due',
  'applying',
  'undoing',
]);

async function needsOf(
  { trajectoryId, state, effects }: KnownTransaction,
  store: LedgerStore,
): Promise<EffectNeeds | undefined> {
  if (ENDED.has(state.phase)) return undefined;
  const tools = new Set(
    effects.flatMap(({ tool }, n) => (AT_WORK.has(state.effects[n]!.phase) ? [tool] : [])),
  );
  const isAnswered = state.phase === 'failing' && state.failing?.isWaived !== true;
  const domain = isAnswered ? await domainOf(trajectoryId, store) : undefined;
  return { tools: [...tools].sort(), ...(domain !== undefined && { domain }) };
}

/** Undefined if the trajectory cannot be read: other commands report that. */
async function domainOf(trajectoryId: string, store: LedgerStore): Promise<DomainRef | undefined> {
  const [first] = await store.entries(trajectoryId, { from: 0, limit: 1 });
  try {
    const payload = first && checkRow(first).payload;
    return payload?.kind === 'root' || payload?.kind === 'branch' ? payload.domain : undefined;
  } catch (error) {
    if (isInstance(error, LedgerFault)) return undefined;
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
    version: known.length,
    trajectoryId,
    name: body.transaction,
    ...(body.name === undefined ? {} : { submittedAs: body.name }),
    principal: body.principal,
    writId: body.writ_id,
    phase: state.phase,
    ...(entry === undefined ? {} : { entry }),
    ...(cause === undefined ? {} : { cause }),
    ...(state.failing === undefined ? {} : { failing: state.failing }),
    ...(needs === undefined ? {} : { needs }),
    claims: claimsOf(known).filter((claim) => !isNameClaim(claim)),
    effects: effects.map(
      (
        {
          tool,
          key,
          branch,
          residue,
          resolved,
          differs,
          refused,
          why = refused,
          undo_cost: undoCost,
        },
        n,
      ) => {
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
      },
    ),
  };
}
