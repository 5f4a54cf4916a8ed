import { overlaps, type Pattern } from '#kernel';

export type SliceListener = (slice: unknown) => void;

interface Subscription {
  readonly footprint: readonly Pattern[];
  readonly slice: () => unknown;
  readonly listener: SliceListener;
  /** A commit met the footprint since the last publication. */
  met: boolean;
}

/** Who wants to see new slices, and whose footprint was met by commits that are becoming durable (decisions §2.8). */
export class Subscriptions {
  readonly #all: Set<Subscription> = new Set();

  add(footprint: readonly Pattern[], slice: () => unknown, listener: SliceListener): () => void {
    const subscription = { footprint, slice, listener, met: false };
    this.#all.add(subscription);
    return () => {
      this.#all.delete(subscription);
    };
  }

  note(paths: readonly (readonly string[])[]): void {
    for (const subscription of this.#all) {
      subscription.met ||= paths.some((segments) =>
        subscription.footprint.some((pattern) => overlaps(pattern, { segments, append: false })),
      );
    }
  }

  /** Called when the disk has what was noted. A listener's error is its own: it never reaches who proposed. */
  publish(): void {
    for (const subscription of this.#all) {
      if (!subscription.met) continue;
      subscription.met = false;
      queueMicrotask(() => subscription.listener(subscription.slice()));
    }
  }
}
