import { isAssizeError, type Json } from '#base';
import {
  type CanonLimits,
  canonicalize,
  hashText,
  keyedHash,
  parseCanonical,
  signText,
  verifyText,
  WORLD_LIMITS,
} from '#canon';
import {
  Chain,
  type ChainState,
  checkRow,
  type DomainRef,
  domainFrom,
  type Entry,
  type EntrySigner,
  fresh,
  type Hash,
  keyAfter,
  type LedgerStore,
  type SnapshotRow,
} from '#ledger';
import { Writs, type WritsState } from '../../authority/writs.ts';
import { COMPILER_VERSION } from '../../records/entry-payloads.ts';
import { RequestIndex, type RequestIndexState } from '../known/request-index.ts';
import type { FoldedTrajectory } from '../load/fold.ts';

/**
 * The format of a snapshot. A snapshot is a cache, so one in another format is not read but
 * rebuilt.
 */
export const SNAPSHOT_FORMAT = 'assize-snapshot/8';

/** The keys that authenticate the snapshots of a runtime. */
export interface SnapshotKeys {
  readonly signer?: EntrySigner | undefined;
  /** Public keys: the runtime reads only snapshots that are signed by one. Undefined: any. */
  readonly trusted?: ReadonlySet<string> | undefined;
  /** Without `trusted`: the secret of MACs, without which the runtime reads no snapshot. */
  readonly secret?: Uint8Array | undefined;
}

/** The content of a snapshot. It is the fold up to the entry that `chain` names as its head. */
export interface Snapshot {
  readonly format: string;
  readonly compiler_version: string;
  readonly trajectory_id: string;
  readonly domain: DomainRef;
  readonly overridden: boolean;
  readonly chain: ChainState;
  readonly writs: WritsState;
  readonly ruled: RequestIndexState;
  readonly state: Json;
}

// Deeper than any state, because the snapshot contains the state.
const LIMITS: Partial<CanonLimits> = { ...WORLD_LIMITS, depthMax: 1_000 };

/** A fold, or the memory of an open trajectory. */
export interface SnapshotSource extends Omit<FoldedTrajectory, 'fold'> {
  readonly fold: { readonly state: unknown };
}

/**
 * The snapshot of a fold. The same entries give the same snapshot, however they were read.
 * Undefined if it would be too long. With a signer or a secret, a line before it authenticates it.
 *
 * @throws CanonError for a value that is not a state of a trajectory
 */
export function snapshotOf(
  { chain, fold, writs, requests, domain, overridden }: SnapshotSource,
  bytesMax: number = Number.POSITIVE_INFINITY,
  keys: SnapshotKeys = {},
): SnapshotRow | undefined {
  const snapshot: Snapshot = {
    format: SNAPSHOT_FORMAT,
    compiler_version: COMPILER_VERSION,
    trajectory_id: chain.trajectoryId,
    domain,
    overridden,
    chain: chain.state(),
    writs: writs.state(),
    ruled: requests.state(),
    state: fold.state as Json,
  };
  try {
    const json = canonicalize(snapshot, {
      ...LIMITS,
      bytesMax: Math.min(bytesMax, WORLD_LIMITS.bytesMax),
    });
    const line = authenticationOf(json, keys);
    const text = line === undefined ? json : `${line}\n${json}`;
    return { trajectory_id: chain.trajectoryId, seq: chain.seq - 1, hash: hashText(text), text };
  } catch (error) {
    if (isAssizeError(error, 'too_large')) return undefined;
    throw error;
  }
}

/**
 * The fold that a snapshot contains, in its own objects; undefined for a snapshot of another
 * version. The text must match its hash, and its head must be an entry of its trajectory; the rest
 * is trusted. With trusted keys, one of them has signed the snapshot. With a secret, its MAC
 * matches.
 *
 * @throws an error for any fault of the snapshot or of the entries that it names
 */
export async function readSnapshot(
  row: SnapshotRow,
  store: Pick<LedgerStore, 'entries' | 'resolve'>,
  keys: SnapshotKeys = {},
): Promise<FoldedTrajectory | undefined> {
  const snapshot = parseSnapshot(row);
  requireAuthentic(row.text, keys);
  if (!isUsed(snapshot)) return undefined;
  const { trajectory_id, domain, overridden, chain } = snapshot;
  if (trajectory_id !== row.trajectory_id || chain.seq !== row.seq + 1)
    throw new Error('it is stored under another trajectory or seq');
  if (!isObject(snapshot.state)) throw new Error('its state is not an object');
  await checkStand(snapshot, store);
  const open = await openEntries(trajectory_id, chain, store);
  return {
    chain: Chain.from(trajectory_id, chain, (id) => open.get(id) as Entry),
    fold: fresh(snapshot.state),
    writs: Writs.from(snapshot.writs),
    requests: RequestIndex.from(snapshot.ruled),
    domain,
    overridden,
  };
}

/** The content of a row, if the text still matches its hash. @throws Error, CanonError */
export function parseSnapshot({ text, hash }: SnapshotRow): Snapshot {
  if (hashText(text) !== hash) throw new Error('its text does not match its stored hash');
  return parseCanonical(jsonOf(text), LIMITS) as unknown as Snapshot;
}

/** The text of a snapshot without its first line. Canonical JSON has no newline. */
export function jsonOf(text: string): string {
  return text.slice(text.indexOf('\n') + 1);
}

function authenticationOf(json: string, { signer, secret }: SnapshotKeys): string | undefined {
  if (signer !== undefined)
    return `${signer.publicKey} ${signText('snapshot', hashText(json), signer.privateKey)}`;
  return secret === undefined ? undefined : macOf(json, secret);
}

function macOf(json: string, secret: Uint8Array): string {
  return `mac ${keyedHash(secret, `assize/snapshot/v1\n${hashText(json)}`)}`;
}

/** @throws Error */
function requireAuthentic(text: string, { trusted, secret }: SnapshotKeys): void {
  const line = text.slice(0, Math.max(0, text.indexOf('\n')));
  const [key = '', value = ''] = line.split(' ');
  if (trusted !== undefined) {
    if (trusted.has(key) && verifyText('snapshot', hashText(jsonOf(text)), value, key)) return;
    throw new Error('it is not signed with a key that this runtime trusts');
  }
  if (secret !== undefined && line !== macOf(jsonOf(text), secret))
    throw new Error('it was not made with the recovery key of this runtime');
}

/** False for a snapshot of another version. This version never reads one. */
export function isUsed({ format, compiler_version }: Snapshot): boolean {
  return format === SNAPSHOT_FORMAT && compiler_version === COMPILER_VERSION;
}

function isObject(state: Json): boolean {
  return typeof state === 'object' && state !== null && !Array.isArray(state);
}

/** Checks that the ledger has the first entry and the head that the snapshot names. */
async function checkStand(
  { trajectory_id, domain, chain }: Snapshot,
  store: Pick<LedgerStore, 'entries' | 'resolve'>,
): Promise<void> {
  const [first, last] = await Promise.all(
    [0, chain.seq - 1].map(async (from) => {
      const [row] = await store.entries(trajectory_id, { from, limit: 1 });
      return row === undefined ? undefined : checkRow(row);
    }),
  );
  if (last?.trajectory_id !== trajectory_id || last.seq !== chain.seq - 1 || last.id !== chain.head)
    throw new Error(`the trajectory has no entry ${chain.head} at seq ${chain.seq - 1}`);
  if (last.payload.at !== chain.at) throw new Error('its time differs from the time of its entry');
  if (keyAfter(last.payload) !== chain.key)
    throw new Error('its key differs from the key of its entry');
  const begun = first?.payload;
  if (begun?.kind !== 'root' && begun?.kind !== 'branch')
    throw new Error('the trajectory has no first entry');
  const recorded = (await upgradedTo(chain, store)) ?? begun.domain;
  if (
    canonicalize(recorded) !== canonicalize(domain) ||
    canonicalize(chain.domain) !== canonicalize(domain)
  )
    throw new Error('its domain differs from the domain of the trajectory');
}

/** The domain of the last upgrade, from its entry. */
async function upgradedTo(
  { upgraded }: ChainState,
  store: Pick<LedgerStore, 'resolve'>,
): Promise<DomainRef | undefined> {
  const row = upgraded === undefined ? undefined : await store.resolve(upgraded.id);
  return row === undefined ? undefined : domainFrom(checkRow(row).payload);
}

/**
 * Open approvals and delegations are read from their entries, so nothing outside the ledger can be
 * approved or concluded.
 */
async function openEntries(
  trajectoryId: string,
  { open, delegated, seq }: ChainState,
  store: Pick<LedgerStore, 'resolve'>,
): Promise<Map<Hash, Entry>> {
  const entries = await Promise.all(
    [...open, ...delegated].map(async (id) => {
      const row = await store.resolve(id);
      if (row === undefined || row.trajectory_id !== trajectoryId || row.seq >= seq)
        throw new Error(`the trajectory has no entry ${id} before seq ${seq}`);
      return checkRow(row);
    }),
  );
  return new Map(entries.map((entry) => [entry.id, entry]));
}
