import { isInstance } from 'assize/internal/base';
import {
  Chain,
  type ChainState,
  type CommitPayload,
  domainFrom,
  type Entry,
  type Hash,
  haltArgs,
  isUpgrade,
  keyAfter,
  LedgerFault,
  type Payload,
} from 'assize/internal/ledger';
import { BundleRefusal, must } from './fault.ts';
import type { BundledEntry } from './form.ts';
import { commitsOf, resolvedBy, startOf } from './relations.ts';

/**
 * Checks the entries of a bundle against each other: places and context. Checks each entry by the
 * rules of its chain where the bundle shows the state of the chain
 * (docs/reference/proof-bundle.md).
 *
 * @throws BundleRefusal
 */
export function verifyChains(entries: readonly BundledEntry[]): void {
  const byId = new Map(entries.map((entry) => [entry.id, entry]));
  must(byId.size === entries.length, 'bad_form', 'an entry stands twice');
  requireOneResolution(entries);
  const chains = new Map<string, Seen>();
  for (const entry of entries) {
    const { trajectory_id } = entry.payload;
    const seen = chains.get(trajectory_id);
    chains.set(trajectory_id, seen === undefined ? begun(entry) : continued(seen, entry, byId));
  }
}

/** The last entry of a trajectory so far, and what the entries so far put in force. */
interface Seen {
  readonly first: BundledEntry;
  readonly last: BundledEntry;
  readonly domain: ChainState['domain'];
  readonly upgraded?: { readonly id: Hash; readonly seq: number };
}

function requireOneResolution(entries: readonly BundledEntry[]): void {
  const resolved = new Set<Hash>();
  for (const { payload } of entries) {
    const id = resolvedBy(payload);
    must(id === undefined || !resolved.has(id), 'bad_entry', `two entries resolve ${id}`);
    if (id !== undefined) resolved.add(id);
  }
}

function begun(entry: BundledEntry): Seen {
  const { id, payload } = entry;
  must(
    payload.seq === 0,
    'context_missing',
    `the first entry of the trajectory of ${id} is missing (first)`,
  );
  accept(new Chain(payload.trajectory_id), entry);
  return { first: entry, last: entry, domain: domainFrom(payload) as ChainState['domain'] };
}

function continued(seen: Seen, entry: BundledEntry, byId: ReadonlyMap<Hash, BundledEntry>): Seen {
  const { id, payload } = entry;
  const { last } = seen;
  must(
    payload.seq > last.payload.seq,
    'bad_entry',
    `${id} has no seq above that of the entry before it`,
  );
  const follows = payload.seq > last.payload.seq + 1 || payload.parent === last.id;
  must(follows, 'bad_entry', `${last.id} is not the parent of ${id}`);
  must(payload.parent !== null, 'bad_entry', `${id} has no parent`);
  accept(chainBefore(seen, entry, byId), entry);
  const upgraded = isUpgrade(payload) ? { id, seq: payload.seq } : seen.upgraded;
  return {
    first: seen.first,
    last: entry,
    domain: domainFrom(payload) ?? seen.domain,
    ...(upgraded !== undefined && { upgraded }),
  };
}

/** The chain before an entry, with all that the rules may ask about it. */
function chainBefore(
  { first, last, domain, upgraded }: Seen,
  { id, payload }: BundledEntry,
  byId: ReadonlyMap<Hash, BundledEntry>,
): Chain {
  const find = (named: Hash, rule: string): BundledEntry => {
    const found = byId.get(named);
    const isThere = found !== undefined && found.payload.trajectory_id === payload.trajectory_id;
    must(isThere, 'context_missing', `the entry ${named}, which ${id} names, is missing (${rule})`);
    must(found.payload.seq < payload.seq, 'bad_entry', `${id} names the later entry ${named}`);
    return found;
  };
  const resolves = resolvedBy(payload);
  const start = startOf(payload);
  const open = resolves === undefined ? [] : [find(resolves, 'resolved')];
  const delegated = start === undefined ? [] : [find(start, 'start')];
  const commits = [...new Set(commitsOf(payload))].map((commit) => find(commit, 'settled'));
  const key = keyAfter(last.payload);
  const halts = haltsBefore(id, payload);
  const delegatedFrom = first.payload.kind === 'root' ? first.payload.delegated_from : undefined;
  const state: ChainState = {
    head: payload.parent as Hash,
    seq: payload.seq,
    at: last.payload.at,
    last_commit: payload.kind === 'commit' ? payload.parent_commit : first.id,
    root: first.id,
    open: open.map((one) => one.id),
    delegated: delegated.map((one) => one.id),
    children: [],
    revoked: [],
    unsettled: commits.filter(isCommit).map(({ id: commit, payload: { writ_id, delta } }) => ({
      commit,
      writ_id,
      effects: delta.effects.map((effect) => effect.id),
    })),
    domain,
    ...(delegatedFrom !== undefined && { delegated_from: delegatedFrom }),
    ...(upgraded !== undefined && { upgraded }),
    ...(halts !== undefined && { halts }),
    ...(key !== undefined && { key }),
  };
  return inRefusals(id, () =>
    Chain.from(payload.trajectory_id, state, (named) => asEntry(byId.get(named)!)),
  );
}

/** The halts that a resume ends, and says to remain. */
function haltsBefore(id: Hash, payload: Payload): ChainState['halts'] {
  const args = haltArgs(payload);
  if (args?.does !== 'resume') return undefined;
  const halt = { id, seq: 0, at: payload.at, reason: args.reason, principal: args.principal };
  const [own, above] = [args.from === undefined, args.from !== undefined].map(
    (is) => is || args.remains === true,
  );
  return { ...(own && { own: halt }), ...(above && { above: halt }) };
}

function accept(chain: Chain, entry: BundledEntry): void {
  inRefusals(entry.id, () => chain.accept(asEntry(entry)));
}

function inRefusals<T>(id: Hash, run: () => T): T {
  try {
    return run();
  } catch (error) {
    if (!isInstance(error, LedgerFault)) throw error;
    throw new BundleRefusal('bad_entry', `${id}: ${error.message}`);
  }
}

function isCommit(
  entry: BundledEntry,
): entry is BundledEntry & { readonly payload: CommitPayload } {
  return entry.payload.kind === 'commit';
}

function asEntry({ id, payload }: BundledEntry): Entry {
  const { trajectory_id, parent, seq, kind } = payload;
  return { id, trajectory_id, parent, seq, kind, payload };
}
