import { Assize, type Store } from 'assize';
import { readAnchors } from './anchors.ts';
import { loadDomains } from './domains.ts';
import type { OpeningOptions } from './options.ts';

/** The runtime over a store, with every domain at hand and the store's anchors. @throws CliError */
export async function openAssize(store: Store, storeUrl: string, { domain, anchors }: OpeningOptions): Promise<Assize> {
  const domains = await loadDomains(domain);
  return new Assize({ store, domains, anchors: readAnchors(storeUrl, anchors) });
}
