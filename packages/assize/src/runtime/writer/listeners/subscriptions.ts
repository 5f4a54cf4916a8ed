import { overlaps, type Pattern } from '#kernel';

export type SliceListener<Slice = unknown> = (slice: Slice) => void;

interface Subscription {
  readonly footprint: readonly Pattern[];
  readonly slice: () => unknown;
  readonly listener: SliceListener;
}

/** The new slices of one commit for its subscribers, as that commit left them. */
export type SliceUpdates = readonly {
  readonly subscription: Subscription;
  readonly slice: unknown;
}[];

export const NO_UPDATES: SliceUpdates = Object.freeze([]);

/**
 * The subscribers, and the slices that they get when commits become durable
 * (docs/decisions/008-footprints-and-slices.md).
 */
export class Subscriptions {
  readonly #all: Set<Subscription> = new Set();

  add(footprint: readonly Pattern[], slice: () => unknown, listener: SliceListener): () => void {
    const subscription = { footprint, slice, listener };
    this.#all.add(subscription);
    return () => {
      this.#all.delete(subscription);
    };
  }

  /**
   * For subscribers with a footprint that a commit overlaps. Call this as soon as memory has the
   * commit, because later commits change the slices.
   */
  updatesOf(paths: readonly (readonly string[])[]): SliceUpdates {
    if (this.#all.size === 0) return NO_UPDATES;
    const met = [...this.#all].filter(({ footprint }) =>
      paths.some((segments) =>
        footprint.some((pattern) => overlaps(pattern, { segments, append: false })),
      ),
    );
    return met.map((subscription) => ({ subscription, slice: subscription.slice() }));
  }

  /** For all subscribers. */
  allUpdates(): SliceUpdates {
    return [...this.#all].map((subscription) => ({ subscription, slice: subscription.slice() }));
  }

  /** Called when the commit is durable. Only `failed` gets a listener's error. */
  publish(news: SliceUpdates, failed: (cause: unknown) => void): void {
    for (const { subscription, slice } of news) {
      queueMicrotask(async () => {
        try {
          if (this.#all.has(subscription)) await subscription.listener(slice);
        } catch (error) {
          failed(error);
        }
      });
    }
  }
}
