import { hashOfValue } from '../bytes/hash.ts';
import { isObject } from '../entries/basic-forms.ts';
import type { Branch, DomainRecord, Entry, Payload, Root, Stored } from '../entries/payloads.ts';

/** A line that says that a blob was erased, and by which entry. */
export interface Erased {
  readonly hash: string;
  readonly by: string;
}

/** The value of a position that may refer to a blob. */
export type Held = { readonly value: unknown } | { readonly erasedBy: string };

/** The entries, blobs and erasures of a bundle, with the questions that checks ask about them. */
export class LedgerPart {
  /** In the order of the log. */
  readonly entries: readonly Entry[];
  /** Values by the hashes of their texts. */
  readonly blobs: ReadonlyMap<string, unknown>;
  readonly erased: readonly Erased[];
  readonly byId: ReadonlyMap<string, Entry>;
  readonly #byTrajectory: ReadonlyMap<string, readonly Entry[]>;
  readonly #erasedBy: ReadonlyMap<string, string>;
  readonly #placeOf = new Map<Entry, number>();

  constructor(
    entries: readonly Entry[],
    blobs: ReadonlyMap<string, unknown>,
    erased: readonly Erased[],
  ) {
    this.entries = entries;
    this.blobs = blobs;
    this.erased = erased;
    this.byId = new Map(entries.map((entry) => [entry.id, entry]));
    this.#byTrajectory = Map.groupBy(entries, ({ payload }) => payload.trajectory_id);
    this.#erasedBy = new Map(erased.map(({ hash, by }) => [hash, by]));
    for (const chain of this.#byTrajectory.values())
      for (const [n, entry] of chain.entries()) this.#placeOf.set(entry, n);
  }

  trajectories(): readonly string[] {
    return [...this.#byTrajectory.keys()];
  }

  chainOf(trajectory: string): readonly Entry[] {
    return this.#byTrajectory.get(trajectory) ?? [];
  }

  /** The root or branch of a trajectory. */
  firstOf(trajectory: string): (Entry & { readonly payload: Root | Branch }) | undefined {
    const first = this.chainOf(trajectory)[0];
    if (first?.payload.kind !== 'root' && first?.payload.kind !== 'branch') return undefined;
    return first as Entry & { readonly payload: Root | Branch };
  }

  /** The last entry of the same trajectory that stands before an entry. */
  before(entry: Entry): Entry | undefined {
    return this.chainOf(entry.payload.trajectory_id)[(this.#placeOf.get(entry) ?? 0) - 1];
  }

  /** The entries of the same trajectory that stand before an entry. */
  allBefore(entry: Entry): readonly Entry[] {
    return this.chainOf(entry.payload.trajectory_id).slice(0, this.#placeOf.get(entry));
  }

  /** The entry that an entry resolves. */
  resolvedBy({ payload }: Entry): Entry | undefined {
    const id = resolvesOf(payload);
    return id === undefined ? undefined : this.byId.get(id);
  }

  /** The entry that resolves a pending. */
  resolutionOf(id: string): Entry | undefined {
    return this.#resolutions().get(id);
  }

  /** The value of a position that is not a list of operations. */
  valueOf(stored: Stored): Held {
    if (!isObject(stored) || !('$blob' in stored)) return { value: stored };
    const hash = stored['$blob'] as string;
    const erasedBy = this.#erasedBy.get(hash);
    if (erasedBy !== undefined) return { erasedBy };
    const value = this.blobs.get(hash);
    return {
      value:
        stored['salted'] === true
          ? (value as { readonly value: unknown } | undefined)?.value
          : value,
    };
  }

  /** A writ by its id: a blob, or one of those that the trajectory began with. */
  writ(id: string, trajectory: string): unknown {
    return this.blobs.get(id) ?? this.#writsOf(trajectory).get(id);
  }

  /** The domain in force at an entry, by the entries of the bundle. */
  domainAt(entry: Entry): DomainRecord | undefined {
    const chain = [...this.allBefore(entry), entry];
    return chain
      .map(({ payload }) => domainFrom(payload))
      .findLast((domain) => domain !== undefined);
  }

  readonly #writs = new Map<string, ReadonlyMap<string, unknown>>();

  #writsOf(trajectory: string): ReadonlyMap<string, unknown> {
    const known = this.#writs.get(trajectory);
    if (known !== undefined) return known;
    const writs = new Map(
      (this.firstOf(trajectory)?.payload.writs ?? []).map((writ) => [hashOfValue(writ), writ]),
    );
    this.#writs.set(trajectory, writs);
    return writs;
  }

  #known: Map<string, Entry> | undefined;

  #resolutions(): Map<string, Entry> {
    this.#known ??= new Map(
      this.entries.flatMap((entry) => {
        const id = resolvesOf(entry.payload);
        return id === undefined ? [] : [[id, entry] as const];
      }),
    );
    return this.#known;
  }
}

/** The id of the pending that an entry decides. */
export function resolvesOf(payload: Payload): string | undefined {
  return 'resolves' in payload ? payload.resolves : undefined;
}

/** The domain that an entry puts in force. */
export function domainFrom(payload: Payload): DomainRecord | undefined {
  if (payload.kind === 'root' || payload.kind === 'branch') return payload.domain;
  if (payload.kind !== 'commit' || payload.action.name !== 'assize.upgrade') return undefined;
  return (payload.action.args as { readonly to?: DomainRecord } | null)?.to;
}
