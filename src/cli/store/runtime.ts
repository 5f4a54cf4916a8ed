import { generateKeys } from '#canon';
import type { Tool } from '#effects';
import type { Embedder } from '#memory';
import { Assize, type EffectOptions } from '#runtime';
import type { Store } from '#stores';
import { note } from '../errors.ts';
import type { OpeningOptions } from '../files/options.ts';
import { readAnchors } from './anchors.ts';
import { domainsWithoutInvariants, loadDomains } from './domains.ts';

/**
 * The runtime over a store, with every available domain and the store's anchors.
 * @throws CliError
 */
export async function openAssize(
  store: Store,
  storeUrl: string,
  { domain, anchors }: OpeningOptions,
  tools: readonly Tool[] = [],
  recovery: Pick<EffectOptions, 'recoveryKey'> = {},
): Promise<Assize> {
  // A trajectory of recorded runs without a policy has one of these domains.
  const bare = await domainsWithoutInvariants();
  const domains = [...(await loadDomains(domain)), ...bare];
  return new Assize({
    store,
    snapshots: store,
    oracle: store,
    domains,
    anchors: readAnchors(storeUrl, anchors),
    ...(tools.length > 0 && { tools, effects: { ...recovery, onRecoveryFailed: ({ message }) => note(message) } }),
  });
}

/** The runtime over a store for reads, which need neither domains nor anchors. */
export function readingAssize(store: Store, embedder?: Embedder): Assize {
  const anchors = [generateKeys().publicKey];
  return new Assize({ store, domains: [], anchors, ...(embedder && { memory: { embedder } }) });
}
