import { overlaps, type Pattern } from '#kernel';

export type SliceListener<Slice = unknown> = (slice: Slice) => void;

interface Subscription {
  readonly footprint: readonly Pattern[];
  readonly slice: () => unknown;
  readonly listener: SliceListener;
}

/** What one commit has for who watches: the slices as that commit left them. */
export type News = readonly { readonly subscription: Subscription; readonly slice: unknown }[];

export const NO_NEWS: News = Object.freeze([]);

/** Who wants to see new slices, and what commits that are becoming durable will show them (decisions §2.8). */
export class Subscriptions {
  readonly #all: Set<Subscription> = new Set();

  add(footprint: readonly Pattern[], slice: () => unknown, listener: SliceListener): () => void {
    const subscription = { footprint, slice, listener };
    this.#all.add(subscription);
    return () => {
      this.#all.delete(subscription);
    };
  }

  /** For those whose footprint a commit met; to be called when memory has it, because later ones will change it. */
  newsOf(paths: readonly (readonly string[])[]): News {
    if (this.#all.size === 0) return NO_NEWS;
    const met = [...this.#all].filter(({ footprint }) =>
      paths.some((segments) => footprint.some((pattern) => overlaps(pattern, { segments, append: false }))),
    );
    return met.map((subscription) => ({ subscription, slice: subscription.slice() }));
  }

  /** For everybody. */
  allNews(): News {
    return [...this.#all].map((subscription) => ({ subscription, slice: subscription.slice() }));
  }

  /** Called when the disk has it. A listener's error is its own: it never reaches who proposed. */
  publish(news: News): void {
    for (const { subscription, slice } of news) {
      queueMicrotask(() => {
        if (this.#all.has(subscription)) subscription.listener(slice);
      });
    }
  }
}
