import type { Policy } from '#authority';
import { form, refuseOtherCopy, requireForm } from '#base';
import { signText, verifyText } from '#canon';
import { type Resolvers, type Tool, TRIES, TRIES_MAX } from '#effects';
import type { Domain } from '#kernel';
import { type EffectStore, type EntrySigner, type Hash, isHash, type LedgerStore, type SnapshotStore } from '#ledger';
import type { Embedder } from '#memory';
import { type Clock, type OracleStore, type Pause, type Random, systemPause, systemRandom } from '#oracle';
import { RuntimeError } from './errors.ts';
import type { Judge } from './memory/plan/votes.ts';
import { DOMAINS, requireOwnDomains } from './option-names.ts';
import { Effects, type EffectsOptions, type Frontier } from './transactions/engine/engines.ts';
import type { NoticeListeners } from './writer/notifications.ts';
import type { SnapshotListener } from './writer/snapshots/snapshots.ts';

export interface AssizeOptions extends NoticeListeners {
  readonly store: LedgerStore;
  /** The oracle log that observations by key are in; most often the same store. */
  readonly oracle?: Pick<OracleStore, 'oracleGet'>;
  /** Where snapshots are kept, so that opening need not replay all; most often the same store. Default: there are none. */
  readonly snapshots?: SnapshotStore;
  /** Told when a snapshot could not be used or left, which nothing else fails for. Default: a warning of the process. */
  readonly onSnapshotFailed?: SnapshotListener;
  /** The domains whose trajectories may be opened. */
  readonly domains: readonly Domain[];
  /** Public keys whose root writs count. Never taken from a writ. */
  readonly anchors: readonly string[];
  readonly policy?: Policy;
  /** Signs every entry; default: entries are not signed. */
  readonly signer?: EntrySigner;
  /** Judges each proposal by every rule on the whole state. The rulings are the same, and slow: for who doubts it. */
  readonly strict?: boolean;
  /** How long a pending approval stays open, in milliseconds. Default: for ever. */
  readonly approvalMs?: number;
  readonly clock?: Clock;
  readonly random?: Random;
  /** Before what lost to another writer is judged again. Default: a few milliseconds, by chance, longer each time. */
  readonly pause?: Pause;
  /** Who chooses between facts that contradict each other, where their predicate declares `rule`. Default: a person. */
  readonly judge?: Judge;
  /** Who makes vectors of texts, for recalls by `embedding` and `hybrid`. Default: nobody; what is believed is found by its words. */
  readonly embedder?: Embedder;
  /**
   * What agents may do outside of the world, in transactions (`Trajectory.transaction`). The store has to keep an effect log, as
   * those of this package do. With tools, the runtime is to be ended with `close`.
   */
  readonly tools?: readonly Tool[];
  /**
   * Told when what was left at work with tools could not be gone on with, though nobody is waited for and nothing is lacking: the store has
   * failed, or what it has was damaged. It is tried again, and what it claims is nobody else's meanwhile; the same reason is told once.
   * Default: a warning of the process.
   */
  readonly onRecoveryFailed?: (error: RuntimeError) => void;
  /**
   * Milliseconds that a transaction which hangs may hold up who comes where it has acted: its lease. Half of it is for a body that is
   * silent (`idleMs` of a transaction says otherwise), and half for calls of tools, to act and to undo, that are not answered or
   * refused, however often they are tried. What nobody can tell by then waits for a person. Default 120,000.
   */
  readonly holdMs?: number;
  /** Milliseconds after which the answer of a tool is taken for lost. At most a quarter of `holdMs`; default a sixth of it, 20,000. */
  readonly callMs?: number;
  /**
   * Calls of one effect after the commit, or to undo it, that may fail or be lost before it is left to a person; pauses between them grow
   * from some milliseconds to some ten seconds. From 1 to 100. Default 3.
   */
  readonly tries?: number;
  /**
   * Milliseconds after which other processes go on with what this one has at work with tools, when nothing is heard of it. Only where
   * the store can be shared, as on PostgreSQL; else it is had until the process ends. Default 10,000.
   */
  readonly leaseMs?: number;
  /**
   * Give the canonical names of what transactions of tools touch, by kind of scope: one thing that has several names is one thing, and
   * writs, policies and the effect log know it by the canonical one. Default: names are taken as they are.
   */
  readonly resolvers?: Resolvers;
  /** Whether transactions of tools wait for older ones that conflict. Default `derived`; `none` is for experiments only. */
  readonly frontier?: Frontier;
}

/** @throws RuntimeError `bad_option`; CopyError `other_copy` for what another copy of the package has made; ArgumentError `bad_argument` */
export function checkOptions(options: AssizeOptions): void {
  requireForm(ASSIZE_OPTIONS, options, 'options');
  refuseOtherCopies(options);
  checkEntryOptions(options);
}

/** What is `any` here is judged below, or by whom it is given to. */
const ASSIZE_OPTIONS = form.options<AssizeOptions>({
  store: form.object,
  oracle: form.any,
  snapshots: form.any,
  domains: DOMAINS,
  anchors: form.any,
  policy: form.optional(form.members({ evaluate: form.code })),
  signer: form.optional(form.object),
  strict: form.any,
  approvalMs: form.any,
  clock: form.any,
  random: form.any,
  pause: form.any,
  judge: form.any,
  embedder: form.optional(form.members({ id: form.text, dimensions: form.whole, embed: form.code })),
  tools: form.any,
  holdMs: form.any,
  callMs: form.any,
  tries: form.any,
  leaseMs: form.any,
  resolvers: form.any,
  frontier: form.any,
  onSnapshotFailed: form.any,
  onRecoveryFailed: form.any,
  onPending: form.any,
  onResolved: form.any,
  onNotifyFailed: form.any,
});

/** A policy need not be of this copy: it is only asked, with what it is given, and is told apart by its digest. */
function refuseOtherCopies({ store, oracle, snapshots, domains }: AssizeOptions): void {
  requireOwnDomains(domains);
  for (const [name, given] of Object.entries({ store, oracle, snapshots }))
    refuseOtherCopy(given, `The option ${name}`);
}

/** What stands in every entry: one that does not hold would make a ledger that never opens again. */
function checkEntryOptions({ signer, policy, anchors, approvalMs, embedder }: AssizeOptions): void {
  if (!Array.isArray(anchors) || anchors.length === 0)
    throw badOption('anchors must name the public key of at least one root, or no writ would ever count');
  if (approvalMs !== undefined && !(Number.isSafeInteger(approvalMs) && approvalMs > 0 && approvalMs < 10 ** 12))
    throw badOption('approvalMs must be a whole number of milliseconds above 0');
  if (policy !== undefined && !isHash(policy.digest)) throw badOption('the digest of the policy is no hash');
  if (embedder !== undefined && (embedder.id === '' || !embedder.id.isWellFormed() || embedder.id.includes('\0')))
    throw badOption('the embedder needs an id that names its model');
  if (embedder?.dimensions === 0) throw badOption('an embedder has one dimension at least');
  if (signer === undefined) return;
  const { publicKey, privateKey } = signer;
  if (!verifyText('entry', '', signText('entry', '', privateKey), publicKey))
    throw badOption('the two keys of the signer are not a pair');
}

/** @throws RuntimeError `bad_option`; EffectError `invalid_tool`, `bad_resolver` */
export function effectsFor(
  {
    tools,
    store,
    random = systemRandom,
    pause = systemPause,
    holdMs = HOLD_MS,
    callMs = Math.max(1, Math.floor(holdMs / 6)),
    tries = TRIES,
    leaseMs = LEASE_MS,
    frontier = 'derived',
    resolvers,
    onRecoveryFailed,
  }: AssizeOptions,
  trajectories: Pick<EffectsOptions, 'bookOf' | 'answer'>,
): Effects | undefined {
  if (tools === undefined) return undefined;
  if (!Array.isArray(tools)) throw badOption('tools must be a list of what `declareTool` makes');
  const log = effectLogOf(store);
  if (!(Number.isSafeInteger(holdMs) && holdMs >= HOLD_MS_MIN && holdMs < 2 ** 31))
    throw badOption(`holdMs must be a whole number of milliseconds from ${HOLD_MS_MIN}`);
  if (!(Number.isSafeInteger(callMs) && callMs > 0 && callMs <= holdMs / 4))
    throw badOption(
      `callMs must be a whole number of milliseconds above 0, and at most a quarter of holdMs, which is ${holdMs}: a call that hangs holds others up`,
    );
  if (!(Number.isSafeInteger(tries) && tries >= 1 && tries <= TRIES_MAX))
    throw badOption(`tries must be a whole number from 1 to ${TRIES_MAX}`);
  if (!(Number.isSafeInteger(leaseMs) && leaseMs >= LEASE_MS_MIN && leaseMs < 2 ** 31))
    throw badOption(`leaseMs must be a whole number of milliseconds from ${LEASE_MS_MIN}`);
  if (frontier !== 'derived' && frontier !== 'none') throw badOption('frontier is derived, or none for experiments');
  const blob = (hash: Hash) => log.blob(hash);
  const times = { callMs, tries, holdMs, leaseMs };
  return new Effects({
    ...{ store: log, tools, random, pause, frontier, resolvers, blob, onRecoveryFailed },
    ...times,
    ...trajectories,
  });
}

/** @throws RuntimeError `bad_option` */
export function effectLogOf(store: LedgerStore): LedgerStore & EffectStore {
  if (typeof (store as Partial<EffectStore>).holdEffects === 'function') return store as LedgerStore & EffectStore;
  throw badOption('tools need a store that keeps an effect log');
}

/** How long what hangs may hold others up, by default, and at least. */
const HOLD_MS = 120_000;
const HOLD_MS_MIN = 100;

/** How long a process may be silent, by default, and at least: a process that works is silent now and then. */
const LEASE_MS = 10_000;
const LEASE_MS_MIN = 100;

export function badOption(what: string): RuntimeError {
  return new RuntimeError('bad_option', `The options can’t be used: ${what}.`);
}
