import type { BundleScope } from '#bundle';
import { contentHash } from '#canon';
import type { EntryRow, LedgerStore } from '#ledger';

/** An entry with its payload as plain JSON. */
interface Plain {
  readonly id: string;
  readonly p: any;
}

/**
 * The ids of the entries of a bundle, by the page of its format alone. For every two entries of the
 * store it asks whether one brings the other, until no entry is added.
 */
export async function naiveBundle(
  store: LedgerStore,
  scope: BundleScope,
): Promise<ReadonlySet<string>> {
  const all: Plain[] = [];
  for (const { trajectory_id } of await store.trajectories())
    for (const row of await rowsOf(store, trajectory_id))
      all.push({ id: row.id, p: JSON.parse(row.payload) });
  const texts = new Map<string, any>();
  const erased = new Map<string, string>();
  for (const hash of hashesIn(all.map(({ p }) => p))) {
    const text = await store.blob(hash);
    if (text !== undefined)
      for (const name of hashesIn(JSON.parse(text))) await keep(store, name, texts);
    await keep(store, hash, texts);
    const by = text === undefined ? await store.erasedBy(hash) : undefined;
    if (by !== undefined) erased.set(hash, by);
  }
  const world: World = { all, texts, erased };
  const ids = new Set(all.filter((entry) => isAsked(world, scope, entry)).map(({ id }) => id));
  for (let size = -1; size < ids.size; ) {
    size = ids.size;
    for (const one of all)
      if (ids.has(one.id))
        for (const other of all) if (brings(world, one, other)) ids.add(other.id);
  }
  return ids;
}

interface World {
  readonly all: readonly Plain[];
  readonly texts: ReadonlyMap<string, any>;
  readonly erased: ReadonlyMap<string, string>;
}

function isAsked(world: World, scope: BundleScope, { id, p }: Plain): boolean {
  if (scope.kind === 'entry') return id === scope.entry;
  if (scope.kind === 'approval') return id === scope.approval;
  if (scope.trajectory !== undefined && p.trajectory_id !== scope.trajectory) return false;
  if (scope.from !== undefined && (p.at < scope.from || p.at >= (scope.to as string))) return false;
  if (scope.kind === 'period') return true;
  const args = p.action?.args ?? {};
  const effects = (args.settled ?? []).flatMap((of: any) => of.effects);
  const settlers =
    p.action?.name === 'assize.settle'
      ? [args.decided?.by, ...effects.map((one: any) => one.by)]
      : [];
  const halter = p.action?.name === 'assize.halt' ? args.principal : undefined;
  const counselors = [p.counselor, ...(p.approved_by ?? [])].map((one) => one?.principal);
  const subject = writsAbove(world, p)[0]?.writ.subject;
  return [...counselors, ...settlers, halter, subject].includes(scope.person);
}

/** Whether an entry has another one as context. */
function brings(world: World, one: Plain, other: Plain): boolean {
  const [p, q] = [one.p, other.p];
  if (references(p).some((hash) => world.erased.get(hash) === other.id)) return true;
  if (p.trajectory_id !== q.trajectory_id) return false;
  const isTurn = q.kind === 'key_change' || q.action?.name === 'assize.upgrade';
  if (q.seq === 0 || (isTurn && q.seq < p.seq)) return true;
  if (p.resolves === other.id) return true;
  if (p.kind === 'pending_approval' && q.resolves === one.id) return true;
  if (commitsNamed(p).includes(other.id)) return true;
  if (p.kind === 'commit' && p.delta.effects.length > 0) {
    if (commitsNamed(q).includes(one.id)) return true;
    const isAttempt =
      q.kind === 'rejection' && q.intent.action === 'assize.settle' && q.reason === 'effect_failed';
    if (isAttempt && p.epoch !== undefined && q.intent.args.epoch === p.epoch) return true;
  }
  if (
    p.kind === 'delegation' &&
    p.child_trajectory_id !== p.trajectory_id &&
    p.concludes === other.id
  )
    return true;
  if (q.action?.name !== 'assize.revoke' || p.kind === 'rejection') return false;
  return writsAbove(world, p).some(({ id }) => id === q.action.args.writ);
}

function commitsNamed(p: any): string[] {
  if (p.kind === 'commit' && p.action.name === 'assize.settle')
    return p.action.args.settled.map((of: any) => of.commit);
  const isWaiting = p.kind === 'pending_approval' && ['in_doubt', 'unresolved'].includes(p.reason);
  return isWaiting ? [p.proposal.action.args.commit] : [];
}

/** The writ of an entry, and all that are above it. */
function writsAbove({ all, texts }: World, p: any): { id: string; writ: any }[] {
  const first = all.find((entry) => entry.p.trajectory_id === p.trajectory_id && entry.p.seq === 0);
  const own = new Map<string, any>(
    (first?.p.writs ?? []).map((writ: any) => [contentHash(writ), writ]),
  );
  const start = p.kind === 'delegation' && p.concludes === undefined ? p.writ.parent : undefined;
  const chain: { id: string; writ: any }[] = [];
  for (let id = p.writ_id ?? p.proposal?.writ_id ?? start; id; ) {
    const writ = own.get(id) ?? texts.get(id);
    if (writ === undefined) break;
    chain.push({ id, writ });
    id = writ.parent;
  }
  return chain;
}

/** The hashes of all references in an entry, wherever they are. */
function references(value: any): string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = typeof value.$blob === 'string' && value.salted === true ? [value.$blob] : [];
  return [...own, ...Object.values(value).flatMap(references)];
}

function hashesIn(value: any): ReadonlySet<string> {
  return new Set(JSON.stringify(value).match(/\b[0-9a-f]{64}\b/g) ?? []);
}

async function keep(store: LedgerStore, hash: string, texts: Map<string, any>): Promise<void> {
  const text = await store.blob(hash);
  if (text !== undefined) texts.set(hash, JSON.parse(text));
}

async function rowsOf(store: LedgerStore, trajectoryId: string): Promise<EntryRow[]> {
  return store.entries(trajectoryId, { limit: 100_000 });
}
