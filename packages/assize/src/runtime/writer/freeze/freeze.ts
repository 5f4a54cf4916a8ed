import type { Json } from '#base';
import { parsePointer, toPointer } from '#canon';
import {
  type Approved,
  type Binding,
  type Change,
  type CounselorCommit,
  contains,
  type Domain,
  type Escalated,
  heldBy,
  type Intent,
  overlaps,
  type Pattern,
  patternFromText,
  patternText,
  reservedPlaces,
  WHOLE_STATE,
} from '#kernel';
import {
  type Chain,
  ERASE_ACTION,
  erasureArgs,
  type Hash,
  type Instant,
  isBlobRef,
  isExpired,
  type OpenApprovalListener,
  type PendingPayload,
} from '#ledger';
import { RuntimeError } from '../../errors.ts';
import type { NeedsFacts } from '../../records/needs.ts';
import type { Ruling } from '../../records/ruling.ts';
import type { TrajectoryState } from '../ports.ts';
import { PlaceIndex } from './place-index.ts';
import { changesIn, type Reservations } from './reservations.ts';

/**
 * The patterns that a pending proposal freezes under `freeze: 'footprint'`
 * (docs/decisions/009-freeze.md). No other proposal changes its reads, and no other proposal reads
 * its changes. So the pending proposal, and commits in the meantime, mean the same when it is
 * approved.
 */
interface Freeze {
  readonly frozen: readonly Pattern[];
  /** The patterns that the proposal and the mark of its approval may change. */
  readonly changing: readonly Pattern[];
}

interface OpenFreeze extends Freeze {
  readonly by: Hash;
  readonly pending: PendingPayload;
  /** The older proposal has the lower number. */
  readonly n: number;
}

/**
 * The open approvals, indexed by the paths that they freeze and change. A lookup does not scan all
 * pending proposals.
 */
class FreezeIndex implements OpenApprovalListener {
  readonly domain: Domain;
  readonly #held: Map<Hash, OpenFreeze> = new Map();
  readonly #frozen: PlaceIndex<OpenFreeze> = new PlaceIndex();
  readonly #changing: PlaceIndex<OpenFreeze> = new PlaceIndex();
  /** Opened since the last lookup; not indexed yet. */
  readonly #fresh: Map<Hash, PendingPayload> = new Map();
  #count = 0;

  constructor(domain: Domain) {
    this.domain = domain;
  }

  added(id: Hash, pending: PendingPayload): void {
    this.#fresh.set(id, pending);
  }

  removed(id: Hash): void {
    this.#fresh.delete(id);
    const held = this.#held.get(id);
    if (held === undefined) return;
    this.#held.delete(id);
    for (const pattern of held.frozen) this.#frozen.remove(pattern, held);
    for (const pattern of held.changing) this.#changing.remove(pattern, held);
  }

  /**
   * The oldest open approval that freezes one of these writes or would change one of these reads at
   * that time, except the given one. An expired approval freezes nothing, also before its expiry is
   * recorded: no later entry can approve it.
   */
  first(
    writes: readonly Pattern[],
    reads: readonly Pattern[],
    at: Instant,
    but?: Hash,
  ): OpenFreeze | undefined {
    this.#placeFresh();
    let first: OpenFreeze | undefined;
    const look = (held: OpenFreeze): void => {
      const isOlder = first === undefined || held.n < first.n;
      if (isOlder && held.by !== but && !isExpired(held.pending, at)) first = held;
    };
    for (const pattern of writes) this.#frozen.match(pattern, look);
    for (const pattern of reads) this.#changing.match(pattern, look);
    return first;
  }

  /** The freeze of one open approval. */
  get(id: Hash): OpenFreeze | undefined {
    this.#placeFresh();
    return this.#held.get(id);
  }

  #placeFresh(): void {
    for (const [by, pending] of this.#fresh) {
      const held = { ...knownFreezeOf(this.domain, pending), by, pending, n: this.#count++ };
      this.#held.set(by, held);
      for (const pattern of held.frozen) this.#frozen.add(pattern, held);
      for (const pattern of held.changing) this.#changing.add(pattern, held);
      this.#fresh.delete(by);
    }
  }
}

/**
 * Cached by pending payload, because that never changes. After contention a writer continues a
 * copied chain that starts with all its open approvals. The cache does not keep a domain alive.
 */
const known: WeakMap<Domain, WeakMap<PendingPayload, Freeze>> = new WeakMap();

function knownFreezeOf(domain: Domain, pending: PendingPayload): Freeze {
  let ofDomain = known.get(domain);
  if (ofDomain === undefined) {
    ofDomain = new WeakMap();
    known.set(domain, ofDomain);
  }
  let freeze = ofDomain.get(pending);
  if (freeze === undefined) {
    freeze = freezeOf(domain, pending);
    ofDomain.set(pending, freeze);
  }
  return freeze;
}

const followed: WeakMap<Chain['open'], FreezeIndex> = new WeakMap();

function freezesOf({ open }: Chain, domain: Domain): FreezeIndex {
  const before = followed.get(open);
  if (before?.domain === domain) return before;
  const freezes = new FreezeIndex(domain);
  open.follow(freezes);
  followed.set(open, freezes);
  return freezes;
}

/**
 * The ruling for an intent that an open approval blocks, according to footprints; undefined if none
 * does. Under `reserve` only the changes decide. They are known after adjudication. `but`: the
 * approval that the intent resolves, if it is an amendment.
 */
export function frozenFor(
  chain: Chain,
  domain: Domain,
  intent: Intent,
  at: Instant,
  but?: Hash,
): Ruling | undefined {
  if (chain.open.size === 0) return undefined;
  const { reads, writes } = domain.freeze === 'reserve' ? NOTHING : touchedBy(domain, intent);
  const freezes = freezesOf(chain, domain);
  const first = freezes.first(writes, reads, at, but);
  const { freezing } = chain.open;
  const world = freezing === undefined || freezing === but ? undefined : freezes.get(freezing);
  if (world !== undefined && (first === undefined || world.n <= first.n))
    return frozenBy(world, 'the whole state is frozen');
  if (first === undefined) return undefined;
  const { frozen, changing } = first;
  // The answer omits the reason, and shows only paths that the caller may access. The pending
  // proposal may concern data that the caller must not see.
  const met =
    writes.find((pattern) => meetsAny(pattern, frozen)) ??
    reads.find((pattern) => meetsAny(pattern, changing));
  return frozenBy(first, `${patternText(met as Pattern)} is frozen`);
}

/**
 * Same, by the reads of the rules. They are known after adjudication. `judgedBy` is called only if
 * a proposal is pending.
 */
export function frozenByRules(
  chain: Chain,
  domain: Domain,
  judgedBy: () => readonly Pattern[],
  at: Instant,
  but?: Hash,
): Ruling | undefined {
  if (chain.open.size === 0 || domain.freeze === 'reserve') return undefined;
  const first = freezesOf(chain, domain).first([], judgedBy(), at, but);
  return first && frozenBy(first, 'the read set of a rule for it is frozen');
}

/**
 * The ruling for an adjudicated proposal under `freeze: 'reserve'`: an open approval changes the
 * same members, or would no longer pass after it. Its change is undone then.
 */
export function frozenByReservations(
  chain: Chain,
  { world, domain }: Pick<TrajectoryState, 'world' | 'domain'>,
  judged: Approved | Escalated,
  reservations: Reservations,
  at: Instant,
): Ruling | NeedsFacts | undefined {
  if (chain.open.size === 0) return undefined;
  const places =
    judged.verdict === 'approved' ? changedPlaces(judged.changes) : frozenPatterns(judged.freezes);
  const first = freezesOf(chain, domain).first(places, [], at);
  if (first !== undefined) {
    const met = places.find((place) => meetsAny(place, first.frozen)) as Pattern;
    if (judged.verdict === 'approved') judged.undo();
    return frozenBy(first, `${patternText(met)} is frozen`);
  }
  const own = judged.verdict === 'approved' ? [] : [...judged.patches, ...judged.approval];
  const changes = judged.verdict === 'approved' ? judged.changes : changesIn(own);
  const waiting = reservations.near({ chain, domain, world }, changes, at);
  if ('needs' in waiting) {
    if (judged.verdict === 'approved') judged.undo();
    return waiting;
  }
  if (waiting.length === 0) return undefined;
  const held = judged.verdict === 'approved' ? judged.heldBy(waiting) : heldBy(world, own, waiting);
  if (held === undefined) return undefined;
  const { by, invariantId } = held;
  return frozenBy(
    { by: by.id, pending: by.pending },
    `${invariantId} does not pass together with a pending proposal`,
  );
}

function changedPlaces(changes: readonly Pick<Change, 'keys'>[]): Pattern[] {
  return changes.map(({ keys }) => ({ segments: keys, append: false }));
}

/** The answer shows what waits, for whom, since when and until when. */
function frozenBy({ by, pending }: Pick<OpenFreeze, 'by' | 'pending'>, what: string): Ruling {
  const { proposal, channel, expires } = pending;
  const { action, at } = proposal;
  const until = expires === undefined ? '' : `, until ${expires}`;
  return {
    ruling: 'frozen',
    by,
    detail: `${what} until an approval is resolved (${by}, by ${channel}): ${action.name} waits since ${at}${until}`,
    waiting: {
      action: action.name,
      channel,
      since: at,
      ...(expires === undefined ? {} : { until: expires }),
    },
  };
}

/**
 * Checks that an approval changes nothing that another open approval freezes. So each approval
 * means the same as when it was submitted, in any order of approval. For proposals that check runs
 * on submission; the mark of an approval and a counselor's replacement are known only here. If the
 * mark of one pending proposal changes the reads of another, the other must be resolved first.
 *
 * @throws RuntimeError `frozen`
 */
export function checkOthers(
  chain: Chain,
  domain: Domain,
  id: Hash,
  changes: readonly Change[],
  at: Instant,
): void {
  const changed = changedPlaces(changes);
  const first = freezesOf(chain, domain).first(changed, [], at, id);
  if (first === undefined) return;
  const { by, pending, frozen } = first;
  const path = toPointer(
    (changed.find((pattern) => meetsAny(pattern, frozen)) as { segments: readonly string[] })
      .segments,
  );
  throw new RuntimeError(
    'frozen',
    `This approval would change ${path}, which is frozen until ${by} is resolved (by ${pending.channel}). Resolve ${by} first, or reject this proposal.`,
    { evidence: { by, path }, retryable: true },
  );
}

function meetsAny(pattern: Pattern, others: readonly Pattern[]): boolean {
  return others.some((other) => overlaps(other, pattern));
}

function freezeOf(domain: Domain, pending: PendingPayload): Freeze {
  const recorded = frozenPatterns(pending.freezes);
  const reserved = domain.freeze === 'reserve' ? reservedBy(domain, pending) : undefined;
  // Under `footprint`, an earlier version of the domain recorded what the rules read, too.
  const frozen =
    reserved === undefined || recorded.every((one) => contains(reserved, one))
      ? recorded
      : reserved;
  return { frozen, changing: changingOf(domain, pending) ?? frozen };
}

/** Undefined if it freezes the whole state or nothing, or if only blobs have its changes. */
function reservedBy(
  domain: Domain,
  { freezes, proposal }: PendingPayload,
): readonly Pattern[] | undefined {
  const { delta, approval } = proposal;
  if (freezes === 'world' || freezes.length === 0 || isBlobRef(delta.state) || isBlobRef(approval))
    return undefined;
  return reservedPlaces(domain, changesIn([...delta.state, ...approval]));
}

export function frozenPatterns(freezes: PendingPayload['freezes']): readonly Pattern[] {
  return freezes === 'world' ? [WHOLE_STATE] : freezes.map(patternFromText);
}

/**
 * The same by the rules, under `freeze: 'reserve'`. The change is undone then, and if values of
 * other approvals must be read first.
 *
 * @throws RuntimeError `frozen`
 */
export function checkReservations(
  { parts, reservations }: { readonly parts: TrajectoryState; readonly reservations: Reservations },
  commit: CounselorCommit,
  at: Instant,
  but: Hash,
): NeedsFacts | undefined {
  const others = reservations.near(parts, commit.changes, at, but);
  if ('needs' in others) {
    commit.undo();
    return others;
  }
  const held = others.length === 0 ? undefined : commit.heldBy(others);
  if (held === undefined) return undefined;
  const { by, invariantId } = held;
  throw new RuntimeError(
    'frozen',
    `After this approval, ${invariantId} would not pass with ${by.id}, which waits for ${by.pending.channel}. Resolve ${by.id} first, or reject this proposal.`,
    { evidence: { by: by.id, invariant_id: invariantId }, retryable: true },
  );
}

/** Undefined if only the blobs contain the changes. */
function changingOf(domain: Domain, { proposal }: PendingPayload): readonly Pattern[] | undefined {
  const { action, approval } = proposal;
  if (isBlobRef(approval) || isBlobRef(action.args)) return undefined;
  const { writes } = touchedBy(domain, {
    action: action.name,
    role: action.role,
    args: action.args,
  });
  return [...writes, ...changedPlaces(changesIn(approval))];
}

const NOTHING: Pick<Binding, 'reads' | 'writes'> = { reads: [], writes: [] };

/** The paths of values that are still where they were written. Other values access no state. */
function erasedPlaces(args: Json): readonly Pattern[] {
  return (erasureArgs(args)?.values ?? []).flatMap(({ path }) =>
    path === undefined ? [] : [{ segments: parsePointer(path), append: false }],
  );
}

/** The patterns that an intent may read and write, if known before adjudication. */
function touchedBy(domain: Domain, intent: Intent): Pick<Binding, 'reads' | 'writes'> {
  if (intent.action === ERASE_ACTION) return { reads: [], writes: erasedPlaces(intent.args) };
  // An intent that does not compile accesses nothing.
  return bindingOf(domain, intent) ?? NOTHING;
}

/** The process of an intent, bound to its role; undefined if the intent does not compile. */
export function bindingOf(domain: Domain, intent: Intent): Binding | undefined {
  const process = (domain.actions as Record<string, { process: string } | undefined>)[intent.action]
    ?.process;
  const role = Object.hasOwn(domain.roles, intent.role.name)
    ? domain.roles[intent.role.name]
    : undefined;
  if (process === undefined || !role?.processes.includes(process)) return undefined;
  if (role.params?.some((param) => !Object.hasOwn(intent.role.params, param))) return undefined;
  return domain.bind(process, intent.role.params);
}
