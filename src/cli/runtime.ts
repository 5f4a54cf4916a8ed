import { Assize, type Store } from 'assize';
import { generateKeys } from 'assize/canon';
import type { Tool } from 'assize/effects';
import type { Embedder } from 'assize/memory';
import { readAnchors } from './anchors.ts';
import { loadBenchmarks } from './benchmarks.ts';
import { loadDomains } from './domains.ts';
import { note } from './errors.ts';
import type { OpeningOptions } from './options.ts';

/** The runtime over a store, with every domain at hand and the store's anchors. @throws CliError */
export async function openAssize(
  store: Store,
  storeUrl: string,
  { domain, anchors }: OpeningOptions,
  tools: readonly Tool[] = [],
): Promise<Assize> {
  // What `adjudicate --no-invariants` begins is of a domain that is not shipped under a name of its own.
  const bare = (await loadBenchmarks()).map((benchmark) => benchmark.bare);
  const domains = [...(await loadDomains(domain)), ...bare];
  return new Assize({
    store,
    snapshots: store,
    oracle: store,
    domains,
    anchors: readAnchors(storeUrl, anchors),
    ...(tools.length > 0 && { tools, onRecoveryFailed: ({ message }) => note(message) }),
  });
}

/** The runtime over a store for what is only read, and needs neither domains nor anchors. */
export function readingAssize(store: Store, embedder?: Embedder): Assize {
  const anchors = [generateKeys().publicKey];
  return new Assize({ store, domains: [], anchors, ...(embedder && { embedder }) });
}
