import type { Policy } from '#authority';
import {
  arg,
  checkArgument,
  isAssizeError,
  isUnwantedPromise,
  refuseDuplicatePackage,
  thrownText,
} from '#base';
import { hashBytes, readInstant, signText, verifyText } from '#canon';
import { EFFECT_ATTEMPTS, EFFECT_ATTEMPTS_MAX, type Resolvers, type Tool } from '#effects';
import type { Domain } from '#kernel';
import {
  type EffectStore,
  type EntrySigner,
  type Hash,
  isHash,
  type LedgerStore,
  readRow,
  type SnapshotStore,
  wasImported,
} from '#ledger';
import type { Embedder } from '#memory';
import {
  type Clock,
  type OracleStore,
  type Pause,
  type Random,
  systemClock,
  systemPause,
  systemRandom,
} from '#oracle';
import { RuntimeError } from './errors.ts';
import type { Judge } from './memory/plan/votes.ts';
import { DOMAINS, requireOwnDomains } from './option-names.ts';
import {
  type EngineOptions,
  type Frontier,
  TransactionEngines,
} from './transactions/engine/engines.ts';
import type { ApprovalListeners } from './writer/listeners/notifications.ts';
import { requireSignerAfter } from './writer/require-signer.ts';
import type { SnapshotListener } from './writer/snapshots/snapshots.ts';

/**
 * The options of one runtime. `approvals`, `effects`, `memory` and `ports` are groups; each has a
 * type of its own.
 */
export interface AssizeOptions {
  readonly store: LedgerStore;
  /** The oracle log of observations by key; usually the same store. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /**
   * The store of snapshots, usually the same store. Snapshots shorten the replay on open. Default:
   * no snapshots.
   */
  readonly snapshots?: SnapshotStore;
  /** The domains of trajectories that may be opened. */
  readonly domains: readonly Domain[];
  /** Root writs of these public keys count. The keys are never read from a writ. */
  readonly anchors: readonly string[];
  readonly policy?: Policy;
  /**
   * Signs every entry. Default: entries are not signed. The key of a trajectory is that of its
   * first signed entry, until `changeEntryKey` records another.
   */
  readonly signer?: EntrySigner;
  /**
   * The public keys that this runtime trusts in addition to that of `signer`. One of them must sign
   * the first entry of each trajectory. Default: the key of `signer`; without `signer`, any key or
   * none.
   */
  readonly entryKeys?: readonly string[];
  /**
   * The tools that agents may call in transactions (`Trajectory.transaction`). The store must keep
   * an effect log, as the stores of this package do. A runtime with tools must be ended with
   * `close`.
   */
  readonly tools?: readonly Tool[];
  /**
   * Checks every rule on the whole state for each proposal. The rulings are the same but slower;
   * use it to test a domain.
   */
  readonly strict?: boolean;
  /** The time limit and the listeners of pending approvals. */
  readonly approvals?: ApprovalOptions;
  /** Names, time limits, attempts and order of tool calls. Not used without `tools`. */
  readonly effects?: EffectOptions;
  /** The services that memory calls: judge and embedder. */
  readonly memory?: MemoryRuntimeOptions;
  /** Time and chance. Default: those of the system. */
  readonly ports?: RuntimePorts;
  /**
   * How many milliseconds this host's clock may be ahead of the store's clock, or `unlimited`. The
   * store refuses an entry of a host that is further ahead (`clock_ahead`), except revocations,
   * rejections by counselors, and outcomes of effects. Default: five minutes. Use `unlimited` only
   * where `ports.clock` is not a clock, as in a test or a story.
   */
  readonly maxClockAheadMs?: number | 'unlimited';
  /**
   * Notified when a snapshot could not be used or written; nothing else fails then. Default: a
   * process warning.
   */
  readonly onSnapshotFailed?: SnapshotListener;
  /**
   * Notified if a listener of `approvals`, or of `Trajectory.subscribe`, throws or rejects, and if
   * an expiry or the entries of other processes must wait (`background_failed`). Nothing else fails
   * then. Default: a process warning.
   */
  readonly onNotificationFailed?: (error: RuntimeError) => void;
}

/** The time limit of pending approvals, and the listeners for the counselor queue. */
export interface ApprovalOptions extends ApprovalListeners {
  /** Milliseconds until a pending approval expires, or `never`. Default: seven days. */
  readonly timeoutMs?: number | 'never';
  /**
   * How many proposals may wait in a trajectory under one root writ and all writs below it, or
   * `unlimited`. A further proposal throws `too_many_pending` and leaves no entry. Default: 1,000.
   */
  readonly maxPending?: number | 'unlimited';
}

/** Whether the runtime has the machine's clock. Its timers follow that clock. */
export function isSystemClock(given: Clock | undefined): boolean {
  return given === undefined || given === systemClock;
}

/**
 * The clock of the runtime. It refuses a time that no entry can have. Every entry has this time, so
 * the error names the clock and not the entry.
 */
export function checkedClock(given: Clock | undefined): Clock {
  if (given === undefined) return systemClock;
  return {
    now: () => {
      const now: unknown = ofPort('ports.clock.now()', () => given.now());
      const instant = readInstant(now);
      if (instant !== undefined) return instant;
      if (isUnwantedPromise(now))
        throw badOption('ports.clock.now() returned a promise; return an instant synchronously');
      throw badOption(
        `ports.clock.now() returned ${typeof now === 'string' ? JSON.stringify(now) : `a value of type ${typeof now}`}; return an instant such as 2026-03-23T09:00:00.000000Z, or a Date`,
      );
    },
  };
}

/**
 * The randomness of the runtime. It refuses a value that is not the requested number of bytes.
 * Salts and keys are made of these bytes.
 */
export function checkedRandom(given: Random | undefined): Random {
  if (given === undefined) return systemRandom;
  return {
    bytes: (count) => {
      const bytes: unknown = ofPort(`ports.random.bytes(${count})`, () => given.bytes(count));
      if (bytes instanceof Uint8Array && bytes.length === count) return bytes;
      isUnwantedPromise(bytes);
      throw badOption(
        `ports.random.bytes(${count}) did not return ${count} bytes; return a Uint8Array of that length`,
      );
    },
  };
}

function ofPort(what: string, call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    throw isAssizeError(error) ? error : badOption(`${what} threw: ${thrownText(error)}`, error);
  }
}

const APPROVAL_TIMEOUT_MS = 7 * 24 * 60 * 60 * 1_000;

/** The time limit of pending approvals in milliseconds. Undefined if they never expire. */
export function approvalTimeoutOf({
  timeoutMs = APPROVAL_TIMEOUT_MS,
}: ApprovalOptions = {}): number | undefined {
  return timeoutMs === 'never' ? undefined : timeoutMs;
}

const MAX_PENDING = 1_000;

/** How many proposals may wait under one root writ. Undefined if there is no limit. */
export function maxPendingOf({
  maxPending = MAX_PENDING,
}: ApprovalOptions = {}): number | undefined {
  return maxPending === 'unlimited' ? undefined : maxPending;
}

const MAX_CLOCK_AHEAD_MS = 5 * 60 * 1_000;

/** How far the clock may be ahead of the store's clock. Undefined if there is no limit. */
export function maxClockAheadOf({
  maxClockAheadMs: given = MAX_CLOCK_AHEAD_MS,
}: AssizeOptions): number | undefined {
  return given === 'unlimited' ? undefined : given;
}

/** Names, time limits, attempts and order of tool calls. */
export interface EffectOptions {
  /**
   * Resolve the canonical names of scopes of tool transactions, by kind of scope. Several names of
   * one resource then count as one. Writs, policies and the effect log use the canonical name.
   * Default: names are used as given.
   */
  readonly resolvers?: Resolvers;
  /**
   * The lease of a transaction: milliseconds for which a transaction that does not respond may
   * block overlapping transactions. Half of it is for a silent body, unless the transaction sets
   * `idleTimeoutMs`. Half is for tool calls, to execute and to compensate, that get no answer, over
   * all attempts. An outcome still unknown then needs a human decision. Default 120,000.
   */
  readonly blockTimeoutMs?: number;
  /**
   * Milliseconds after which the answer of a tool counts as lost. At most a quarter of
   * `blockTimeoutMs`; default a sixth of it, 20,000.
   */
  readonly callTimeoutMs?: number;
  /**
   * Failed or lost attempts per effect, after the commit or to compensate, before the effect is
   * marked unresolved. Pauses between attempts grow from some milliseconds to some ten seconds.
   * From 1 to 100. Default 3.
   */
  readonly maxAttempts?: number;
  /**
   * Milliseconds of silence after which other processes adopt this process's unfinished effects.
   * Only for stores that can be shared, as on PostgreSQL; otherwise the lease lasts until the
   * process ends. Default 10,000.
   */
  readonly leaseMs?: number;
  /**
   * Whether tool transactions wait for older transactions that conflict. Default `derived`; `none`
   * is for experiments only.
   */
  readonly frontier?: Frontier;
  /**
   * A secret text of at least 32 characters, the same in all processes of a store and not in its
   * database. It authenticates the effect log and, without `signer`, snapshots. Without the key, a
   * process that takes over an uncommitted transaction of another process calls no tool for it, and
   * an operator decides (`unauthenticated`). Default: derived from `signer`. Without a signer it is
   * a key of this process, and the process warns once unless `onRecoveryFailed` is set.
   */
  readonly recoveryKey?: string;
  /**
   * Notified when unfinished effects could not be resumed because the store failed or its data is
   * damaged. The runtime retries, and the claims of those effects stay held. The same reason is
   * reported once. Default: a process warning.
   */
  readonly onRecoveryFailed?: (error: RuntimeError) => void;
}

/** The services that the memory of a runtime calls. */
export interface MemoryRuntimeOptions {
  /**
   * Chooses between contradicting facts of predicates that declare `rule`. Default: a human
   * decides.
   */
  readonly judge?: Judge;
  /**
   * Computes the vectors for recalls by `embedding` and `hybrid`. Default: no vectors; recalls use
   * full-text search.
   */
  readonly embedder?: Embedder;
}

/** Time and chance of a runtime. */
export interface RuntimePorts {
  readonly clock?: Clock;
  readonly random?: Random;
  /**
   * The pause before a proposal that lost to another writer is adjudicated again. Default: a few
   * random milliseconds, longer each time.
   */
  readonly pause?: Pause;
}

const UNOPENED = '`store` must be an open store; pass the result of `await openStore(url)`';

/**
 * @throws RuntimeError `bad_argument`; DuplicatePackageError `duplicate_package` for a value from
 * another copy of the package; ArgumentError `bad_argument`
 */
export function checkOptions(options: AssizeOptions): void {
  if (typeof (options as { readonly store?: unknown } | undefined)?.store === 'string')
    throw badOption(UNOPENED);
  checkArgument(ASSIZE_OPTIONS, options, 'options');
  if (typeof options.store.commit !== 'function') throw badOption(UNOPENED);
  refuseOtherCopies(options);
  checkEntryOptions(options);
}

const LISTENER = arg.optional(arg.code);

/** Values marked `any` here are checked below, or by the component that receives them. */
const ASSIZE_OPTIONS = arg.options<AssizeOptions>({
  store: arg.object,
  oracle: arg.any,
  snapshots: arg.any,
  domains: DOMAINS,
  anchors: arg.any,
  policy: arg.optional(arg.members({ evaluate: arg.code })),
  signer: arg.optional(arg.object),
  entryKeys: arg.any,
  tools: arg.any,
  strict: arg.any,
  approvals: arg.optional(
    arg.options<ApprovalOptions>({
      timeoutMs: arg.any,
      maxPending: arg.any,
      onPending: LISTENER,
      onResolved: LISTENER,
    }),
  ),
  effects: arg.optional(
    arg.options<EffectOptions>({
      resolvers: arg.any,
      blockTimeoutMs: arg.any,
      callTimeoutMs: arg.any,
      maxAttempts: arg.any,
      leaseMs: arg.any,
      frontier: arg.any,
      recoveryKey: arg.optional(arg.text),
      onRecoveryFailed: LISTENER,
    }),
  ),
  memory: arg.optional(
    arg.options<MemoryRuntimeOptions>({
      judge: arg.optional(arg.members({ choose: arg.code })),
      embedder: arg.optional(arg.members({ id: arg.text, dimensions: arg.whole, embed: arg.code })),
    }),
  ),
  ports: arg.optional(
    arg.options<RuntimePorts>({
      clock: arg.optional(arg.members({ now: arg.code })),
      random: arg.optional(arg.members({ bytes: arg.code })),
      pause: arg.optional(arg.code),
    }),
  ),
  maxClockAheadMs: arg.any,
  onSnapshotFailed: arg.any,
  onNotificationFailed: arg.any,
});

/**
 * A policy may come from another copy of the package: the runtime only calls it, and its digest
 * identifies it.
 */
function refuseOtherCopies({ store, oracle, snapshots, domains }: AssizeOptions): void {
  requireOwnDomains(domains);
  for (const [name, given] of Object.entries({ store, oracle, snapshots }))
    refuseDuplicatePackage(given, `The option ${name}`);
}

/**
 * These values are stored in every entry. An invalid value would make a ledger that never opens
 * again.
 */
function checkEntryOptions(options: AssizeOptions): void {
  const { signer, policy, anchors, approvals, memory } = options;
  const aheadMs = maxClockAheadOf(options);
  const timeoutMs = approvalTimeoutOf(approvals);
  const embedder = memory?.embedder;
  if (typeof anchors === 'string')
    throw badOption('`anchors` is a text, and must be a list; pass [publicKey]');
  if (!Array.isArray(anchors) || anchors.length === 0)
    throw badOption('`anchors` must have the public key of at least one root');
  if (
    timeoutMs !== undefined &&
    !(Number.isSafeInteger(timeoutMs) && timeoutMs > 0 && timeoutMs < 10 ** 12)
  )
    throw badOption(
      'approvals.timeoutMs must be a whole number of milliseconds from 1 to 999,999,999,999, or never',
    );
  const maxPending = maxPendingOf(approvals);
  if (maxPending !== undefined && !(Number.isSafeInteger(maxPending) && maxPending > 0))
    throw badOption('approvals.maxPending must be a whole number from 1, or unlimited');
  if (
    aheadMs !== undefined &&
    !(Number.isSafeInteger(aheadMs) && aheadMs >= 0 && aheadMs < 10 ** 12)
  )
    throw badOption(
      'maxClockAheadMs must be a whole number of milliseconds from 0 to 999,999,999,999, or unlimited',
    );
  if (policy !== undefined && !isHash(policy.digest))
    throw badOption('the digest of the policy must be a hash');
  if (
    embedder !== undefined &&
    (embedder.id === '' || !embedder.id.isWellFormed() || embedder.id.includes('\0'))
  )
    throw badOption('memory.embedder must have an id that names its model');
  if (embedder?.dimensions === 0)
    throw badOption('memory.embedder must have at least one dimension');
  if (signer !== undefined) requirePair(signer, 'signer');
}

/**
 * The signature of another key would make an entry that never verifies.
 *
 * @throws RuntimeError `bad_argument`
 */
export function requirePair({ publicKey, privateKey }: EntrySigner, what: string): void {
  if (!verifyText('entry', '', signText('entry', '', privateKey), publicKey))
    throw badOption(`the two keys of the ${what} must be a pair`);
}

/** @throws RuntimeError `bad_argument`; EffectError `invalid_tool`, `bad_resolver` */
export function effectsFor(
  {
    tools,
    store,
    signer,
    effects = {},
    ports: { random: given, pause = systemPause } = {},
  }: AssizeOptions,
  trajectories: Pick<EngineOptions, 'ledgerWriterOf' | 'proposeOnFailure'>,
): TransactionEngines | undefined {
  if (tools === undefined) return undefined;
  const random = checkedRandom(given);
  const {
    blockTimeoutMs = HOLD_MS,
    callTimeoutMs = Math.max(1, Math.floor(blockTimeoutMs / 6)),
    maxAttempts = EFFECT_ATTEMPTS,
    leaseMs = LEASE_MS,
    frontier = 'derived',
    resolvers,
    onRecoveryFailed,
  } = effects;
  if (!Array.isArray(tools)) throw badOption('`tools` must be a list of results of `declareTool`');
  const log = effectLogOf(store);
  if (
    !(
      Number.isSafeInteger(blockTimeoutMs) &&
      blockTimeoutMs >= HOLD_MS_MIN &&
      blockTimeoutMs < 2 ** 31
    )
  )
    throw badOption(
      `effects.blockTimeoutMs must be a whole number of milliseconds from ${HOLD_MS_MIN}`,
    );
  if (
    !(
      Number.isSafeInteger(callTimeoutMs) &&
      callTimeoutMs > 0 &&
      callTimeoutMs <= blockTimeoutMs / 4
    )
  )
    throw badOption(
      `effects.callTimeoutMs must be a whole number of milliseconds above 0, and at most a quarter of effects.blockTimeoutMs (${blockTimeoutMs})`,
    );
  if (
    !(Number.isSafeInteger(maxAttempts) && maxAttempts >= 1 && maxAttempts <= EFFECT_ATTEMPTS_MAX)
  )
    throw badOption(`effects.maxAttempts must be a whole number from 1 to ${EFFECT_ATTEMPTS_MAX}`);
  if (!(Number.isSafeInteger(leaseMs) && leaseMs >= LEASE_MS_MIN && leaseMs < 2 ** 31))
    throw badOption(`effects.leaseMs must be a whole number of milliseconds from ${LEASE_MS_MIN}`);
  if (frontier !== 'derived' && frontier !== 'none')
    throw badOption('effects.frontier must be derived, or none for experiments');
  if (tools.length > 0) warnOfProcessKey(log, effects, signer);
  const blob = (hash: Hash) => log.blob(hash);
  const entry = (id: Hash) => log.resolve(id);
  const entries = log.entries.bind(log);
  // Recovery asks for each of many transactions, and a settlement at the head is long to parse.
  let checked: Hash | undefined;
  const requireSigner = async (trajectoryId: string): Promise<void> => {
    const head = await log.head(trajectoryId);
    if (head === undefined || head.id === checked) return;
    requireSignerAfter(readRow(head).payload, signer);
    checked = head.id;
  };
  const isElsewhere = async (trajectoryId: string): Promise<boolean> => {
    const [first] = await log.entries(trajectoryId, { from: 0, limit: 1 });
    return (
      first !== undefined &&
      (await wasImported(log, first.id)) &&
      (await log.adopted?.(first.id)) !== true
    );
  };
  const times = { callTimeoutMs, maxAttempts, blockTimeoutMs, leaseMs };
  return new TransactionEngines({
    ...{
      store: log,
      tools,
      random,
      pause,
      frontier,
      resolvers,
      blob,
      entry,
      entries,
      requireSigner,
      isElsewhere,
      onRecoveryFailed,
    },
    recoveryKey: recoveryKeyOf(effects, signer),
    ...times,
    ...trajectories,
  });
}

/** Used without `recoveryKey` and `signer`, so that this process resumes its own transactions. */
const PROCESS_KEY = systemRandom.bytes(32);
let hasWarned = false;

/**
 * Warns once that the next process cannot resume the transactions of this one. A store in memory
 * ends with its process. A program with a listener gets the failure of each recovery.
 */
function warnOfProcessKey(
  store: LedgerStore,
  { recoveryKey, onRecoveryFailed }: EffectOptions,
  signer: EntrySigner | undefined,
): void {
  const hasKey = recoveryKey !== undefined || signer !== undefined;
  if (hasKey || onRecoveryFailed !== undefined || !('retire' in store) || hasWarned) return;
  hasWarned = true;
  process.emitWarning(
    'This runtime has tools, and neither effects.recoveryKey nor a signer. If the process ends in a tool transaction, a person must decide about its effects. Set effects.recoveryKey to a secret of at least 32 characters, the same in all processes of the store.',
    { code: 'no_recovery_key' },
  );
}

const RECOVERY_KEY_CHARACTERS_MIN = 32;

/**
 * The secret of the MACs of snapshots: that of the effect log. Undefined if the runtime has none
 * that outlives its process.
 *
 * @throws RuntimeError `bad_argument`
 */
export function snapshotSecretOf({ effects = {}, signer }: AssizeOptions): Uint8Array | undefined {
  return effects.recoveryKey === undefined ? undefined : recoveryKeyOf(effects, signer);
}

/** @throws RuntimeError `bad_argument` */
export function recoveryKeyOf({ recoveryKey }: EffectOptions, signer?: EntrySigner): Uint8Array {
  if (recoveryKey !== undefined && recoveryKey.length < RECOVERY_KEY_CHARACTERS_MIN)
    throw badOption(
      `effects.recoveryKey must be a secret of at least ${RECOVERY_KEY_CHARACTERS_MIN} characters, such as 64 random hex digits`,
    );
  const secret = recoveryKey ?? signer?.privateKey;
  return secret === undefined
    ? PROCESS_KEY
    : hashBytes(Buffer.from(`assize/recovery-key/v1\n${secret}`));
}

/** @throws RuntimeError `bad_argument` */
export function effectLogOf(store: LedgerStore): LedgerStore & EffectStore {
  if (typeof (store as Partial<EffectStore>).leaseEffects === 'function')
    return store as LedgerStore & EffectStore;
  throw badOption('`tools` need a store with an effect log');
}

/** Default and minimum time for which an unresponsive transaction may block others. */
const HOLD_MS = 120_000;
const HOLD_MS_MIN = 100;

/**
 * Default and minimum time for which a process may be silent. A busy process is silent now and
 * then.
 */
const LEASE_MS = 10_000;
const LEASE_MS_MIN = 100;

export function badOption(what: string, cause?: unknown): RuntimeError {
  return new RuntimeError('bad_argument', `The options are not valid: ${what}.`, { cause });
}
