import { namedKeys } from 'assize/host';
import { arg, checkArgument, isAssizeError } from 'assize/internal/base';
import {
  askNodes,
  compareWithHead,
  type LedgerStore,
  type LogComparison,
  type LogStore,
} from 'assize/internal/ledger';
import {
  type Checkpoint,
  consistencyProof,
  Frontier,
  type KnownLog,
  leafHash,
  verifyConsistency,
} from 'assize/internal/merkle';
import type { VerifyOptions } from 'assize/internal/runtime';
import { chainFault } from './check-chains.ts';
import { readCheckpoint } from './checkpoint.ts';

/** The result of auditing two checkpoints against their store. */
export interface AuditReport {
  readonly older: Checkpoint;
  readonly newer: Checkpoint;
  /**
   * Whether the newer checkpoint extends the older one: no entry was changed, removed or inserted.
   */
  readonly consistent: boolean;
  /** The store's log relative to the newer checkpoint: at it, ahead, truncated, or diverged. */
  readonly store: 'at' | 'ahead' | 'truncated' | 'diverged';
  /** The verified consistency proof. */
  readonly proof: readonly Uint8Array[];
  /** Findings, for humans. */
  readonly findings: readonly string[];
}

const AUDIT_OPTIONS = arg.options<Pick<VerifyOptions, 'entryKeys'>>({ entryKeys: arg.any });

/**
 * Whether one log was kept the whole time: checks two checkpoints, in any order, and the current
 * store. The store makes the proof, and the proof is verified against the signed roots. All entries
 * up to the newer checkpoint are read too, because stored hashes may be right where entries are
 * not. So the store need not be trusted. The chains of all entries must be valid, with their
 * signatures; `verifyStore` checks more.
 *
 * @throws RuntimeError `bad_checkpoint` for a checkpoint that the log did not sign, `bad_argument`
 * and KeyError for `entryKeys`; ArgumentError `bad_argument`
 */
export async function auditCheckpoints(
  store: LedgerStore & LogStore,
  signed: readonly [string, string],
  log: KnownLog,
  options: Pick<VerifyOptions, 'entryKeys'> = {},
): Promise<AuditReport> {
  checkArgument(arg.list(arg.text), signed, 'signed');
  checkArgument(arg.text, signed[1], 'signed.1');
  checkArgument(AUDIT_OPTIONS, options, 'options');
  const named = namedKeys(options.entryKeys);
  const [older, newer] = signed
    .map((text) => readCheckpoint(text, log).checkpoint)
    .sort((a, b) => (a.size < b.size ? -1 : a.size > b.size ? 1 : 0)) as [Checkpoint, Checkpoint];
  try {
    return await audited(store, older, newer, named);
  } catch (error) {
    if (!isAssizeError(error, 'missing_node')) throw error;
    const finding = `the store has lost hashes of its log and cannot prove anything: ${error.message}`;
    return { older, newer, consistent: false, store: 'diverged', proof: [], findings: [finding] };
  }
}

async function audited(
  store: LedgerStore & LogStore,
  older: Checkpoint,
  newer: Checkpoint,
  named: ReadonlySet<string> | undefined,
): Promise<AuditReport> {
  const standing = await compareWithHead(store, newer);
  const isOther = isThere(standing) && !(await areLogged(store, newer));
  const findings: string[] = [];
  let proof: readonly Uint8Array[] = [];
  let consistent = older.size === 0n || isSame(older, newer);
  if (!consistent && older.size < newer.size && newer.size <= BigInt(standing.size)) {
    proof = await askNodes(store, (read) => consistencyProof(older.size, newer.size, read));
    consistent = verifyConsistency(older, newer, proof);
  }
  if (!consistent) findings.push(inconsistency(older, newer, standing.size));
  if (standing.stands === 'truncated') {
    findings.push(
      `the store has ${standing.size} entries and the newer checkpoint ${newer.size}: the last entries are missing`,
    );
  }
  if (standing.stands === 'diverged')
    findings.push('the store does not match the newer checkpoint');
  if (isOther)
    findings.push(
      'entries of the store were changed or removed after they were logged; list them with assize verify --database',
    );
  // Other findings explain the entries already.
  const invalid = findings.length > 0 ? undefined : await chainFault(store, named);
  if (invalid !== undefined)
    findings.push(
      `an entry is not valid, ${invalid.message}; list such entries with assize verify`,
    );
  return {
    older,
    newer,
    consistent,
    store: isOther ? 'diverged' : standing.stands,
    proof,
    findings,
  };
}

function isThere({ stands }: LogComparison): boolean {
  return stands === 'at' || stands === 'ahead';
}

/** Whether the entries hash to a checkpoint with a root that matches the log's hashes. */
async function areLogged(store: LogStore, { size, root }: Checkpoint): Promise<boolean> {
  const ours = await rootOfEntries(store, Number(size));
  return ours !== undefined && Buffer.compare(ours, root) === 0;
}

function inconsistency(older: Checkpoint, newer: Checkpoint, size: number): string {
  if (older.size === newer.size)
    return `two checkpoints of ${older.size} entries have different roots: the log was forked`;
  if (newer.size > BigInt(size))
    return 'the store has too few entries to prove that the newer checkpoint extends the older one';
  return `no proof from this store leads from the checkpoint of ${older.size} entries to that of ${newer.size}`;
}

function isSame(a: Checkpoint, b: Checkpoint): boolean {
  return a.size === b.size && Buffer.compare(a.root, b.root) === 0;
}

const PAGE = 1_000;

/**
 * The root of the first entries of the log, computed from the entries and not from stored hashes.
 * Undefined if the log has fewer entries. Reads them all.
 */
async function rootOfEntries(
  store: Pick<LogStore, 'logged'>,
  size: number,
): Promise<Uint8Array | undefined> {
  const frontier = new Frontier();
  while (frontier.size < size) {
    const rows = await store.logged(frontier.size, Math.min(PAGE, size - frontier.size));
    if (rows.length === 0) return undefined;
    frontier.append(rows.map(({ payload }) => leafHash(payload)));
  }
  return frontier.root();
}
