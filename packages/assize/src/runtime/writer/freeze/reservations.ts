import { setImmediate as nextTurn } from 'node:timers/promises';
import { isAssizeError } from '#base';
import { copyJson, parsePointer, WORLD_LIMITS } from '#canon';
import {
  type Change,
  type PatchOperation,
  type Pattern,
  patternFromText,
  type Reservation,
  type Waiting,
  waitingNear,
} from '#kernel';
import {
  type Hash,
  type Instant,
  isBlobRef,
  isEffectPending,
  isExpired,
  type Patch,
  type PendingPayload,
  type Stored,
} from '#ledger';
import { type NeedsFacts, needs } from '../../records/needs.ts';
import type { PendingSources } from '../../records/pending-proposal.ts';
import { readOperations } from '../../records/stored-values.ts';
import type { TrajectoryState } from '../ports.ts';

/** An open approval of a domain with `freeze: 'reserve'`, as the kernel judges with it. */
export interface OpenReservation extends Opened, Reservation {}

interface Opened {
  readonly id: Hash;
  readonly pending: PendingPayload;
}

/** Reads values of entries that the store may not have yet, as `Writer.readValues`. */
type ReadValues = <T>(read: () => Promise<T>) => Promise<T>;

/**
 * The operations that the open approvals of a trajectory would commit
 * (docs/decisions/009-freeze.md). The values of an approval are read when a change comes near to
 * it. So none are read to open a trajectory, or to reject.
 */
export class Reservations {
  readonly #sources: PendingSources;
  readonly #reading: ReadValues;
  /** A pending payload never changes, so its operations are read once, and its places too. */
  #read: WeakMap<PendingPayload, OpenReservation> = new WeakMap();
  #places: WeakMap<PendingPayload, Waiting['places']> = new WeakMap();

  constructor(sources: PendingSources, reading: ReadValues) {
    this.#sources = sources;
    this.#reading = reading;
  }

  /**
   * The open approvals at that time that a rule sees together with these changes, oldest first,
   * except the given one. An expired approval reserves nothing. `needs`: their values must be read
   * first.
   */
  near(
    { chain: { open }, domain, world }: Pick<TrajectoryState, 'chain' | 'domain' | 'world'>,
    changes: readonly Pick<Change, 'keys'>[],
    at: Instant,
    but?: Hash,
  ): readonly OpenReservation[] | NeedsFacts {
    if (
      open.size === 0 ||
      domain.freeze !== 'reserve' ||
      Object.keys(domain.counselors).length === 0
    )
      return [];
    const waiting: (Opened & Waiting)[] = [];
    const unread: Opened[] = [];
    for (const [id, pending] of open) {
      if (id === but || isEffectPending(pending) || isExpired(pending, at)) continue;
      const places = this.#placesOf(pending);
      if (places === undefined) unread.push({ id, pending });
      else waiting.push({ id, pending, places });
    }
    const reservations: OpenReservation[] = [];
    const changed = changes.map(({ keys }) => keys);
    for (const one of waitingNear(world, changed, waiting)) {
      const known = this.#read.get(one.pending) ?? this.#readInline(one);
      if (known === undefined) unread.push(one);
      else reservations.push(known);
    }
    return unread.length > 0 ? needs(() => this.#readAll(unread)) : reservations;
  }

  /** After an erasure. It may have erased values of open approvals. */
  forget(): void {
    this.#read = new WeakMap();
    this.#places = new WeakMap();
  }

  /** The places that it would change. Undefined if only unread blobs say. */
  #placesOf(pending: PendingPayload): Waiting['places'] | undefined {
    const known = this.#places.get(pending);
    if (known !== undefined) return known;
    const { delta, approval } = pending.proposal;
    const patches = this.#read.get(pending)?.operations ?? inOrder(delta.state, approval);
    const places =
      patches === undefined ? frozenPlaces(pending) : changesIn(patches).map(({ keys }) => keys);
    if (places !== undefined) this.#places.set(pending, places);
    return places;
  }

  #readInline({ id, pending }: Opened): OpenReservation | undefined {
    const { delta, approval } = pending.proposal;
    const patches = inOrder(delta.state, approval);
    if (
      patches === undefined ||
      patches.some((patch) => 'value' in patch && isBlobRef(patch.value))
    )
      return undefined;
    return this.#keep(id, pending, patches as PatchOperation[]);
  }

  async #readAll(unread: readonly Opened[]): Promise<void> {
    for (const { id, pending } of unread) {
      if (this.#read.has(pending)) continue;
      this.#keep(id, pending, await this.#reading(() => this.#operationsOf(pending)));
      // Each is large, and a local file answers immediately.
      await nextTurn();
    }
  }

  /** An approval with an erased value cannot be committed, so it reserves nothing. */
  async #operationsOf(pending: PendingPayload): Promise<PatchOperation[]> {
    const { delta, approval } = pending.proposal;
    const { replayer } = this.#sources;
    try {
      return [
        ...(await readOperations(pending, delta.state, replayer)),
        ...(await readOperations(pending, approval, replayer)),
      ];
    } catch (error) {
      if (isAssizeError(error, 'erased')) return [];
      throw error;
    }
  }

  #keep(id: Hash, pending: PendingPayload, operations: readonly PatchOperation[]): OpenReservation {
    const kept = {
      id,
      pending,
      operations: copyJson(operations, WORLD_LIMITS) as unknown as PatchOperation[],
    };
    this.#read.set(pending, kept);
    return kept;
  }
}

/**
 * The members around its changes, as recorded. Undefined if it was submitted under another freeze,
 * or if a blob has a later mark.
 */
function frozenPlaces({ freezes, proposal }: PendingPayload): Waiting['places'] | undefined {
  if (freezes === 'world' || freezes.length === 0 || isBlobRef(proposal.approval)) return undefined;
  const members = freezes.map((text) => patternFromText(text).segments);
  const marks = changesIn(proposal.approval).map(({ keys }) => keys);
  return members.every(isPlace) ? [...members, ...marks] : undefined;
}

function isPlace(segments: Pattern['segments']): segments is readonly string[] {
  return segments.every((segment) => typeof segment === 'string');
}

/** An append changes its list. */
export function changesIn(patches: readonly { readonly path: string }[]): Pick<Change, 'keys'>[] {
  return patches.map(({ path }) => ({ keys: parsePointer(path.replace(/\/-$/, '')) }));
}

/** Both lists. Undefined if one is in a blob. */
function inOrder(
  state: Stored<readonly Patch[]>,
  approval: Stored<readonly Patch[]>,
): readonly Patch[] | undefined {
  return isBlobRef(state) || isBlobRef(approval) ? undefined : [...state, ...approval];
}
