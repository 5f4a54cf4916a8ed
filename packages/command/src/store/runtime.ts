import { generateKeys } from 'assize/internal/canon';
import { runtimeServices } from 'assize/internal/config';
import type { Tool } from 'assize/internal/effects';
import type { Domain } from 'assize/internal/kernel';
import type { Embedder } from 'assize/internal/memory';
import { Assize, type AssizeOptions, type EffectOptions } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';
import { note } from '../errors.ts';
import type { KeyOptions, OpeningOptions } from '../files/options.ts';
import { readPrivateKey } from '../input/private-key.ts';
import { readAnchors } from './anchors.ts';
import { everyDomain } from './domains.ts';
import { projectPolicy } from './policies.ts';
import { project } from './project.ts';
import { rootRecovery } from './root-key.ts';

/**
 * The runtime over a store, with every available domain, the anchors, and the options of the
 * config. `more`: domains of another module.
 * @throws CliError
 */
export async function openAssize(
  store: Store,
  storeUrl: string,
  { domain, anchors, ...keys }: OpeningOptions,
  tools: readonly Tool[] = [],
  recovery: Pick<EffectOptions, 'recoveryKey'> = {},
  more: readonly Domain[] = [],
): Promise<Assize> {
  const found = [...more, ...(await everyDomain(domain))];
  const domains = [...new Map(found.map((one) => [one.hash, one])).values()];
  return new Assize({
    store,
    snapshots: store,
    oracle: store,
    domains,
    anchors: readAnchors(storeUrl, anchors),
    ...runtimeKeys(keys),
    ...(await projectOptions()),
    effects: {
      ...(keys.signer === undefined && rootRecovery(storeUrl)),
      ...project()?.effects,
      ...recovery,
      onRecoveryFailed: ({ message }) => note(message),
    },
    ...(tools.length > 0 && { tools }),
  });
}

/** Opens a runtime as `openAssize` does, and closes it when the work ends or fails. */
export async function withAssize<T>(
  store: Store,
  storeUrl: string,
  options: OpeningOptions,
  work: (assize: Assize) => Promise<T>,
): Promise<T> {
  const assize = await openAssize(store, storeUrl, options);
  try {
    return await work(assize);
  } finally {
    await assize.close();
  }
}

/** The options of a runtime that the config of the project has. @throws CliError */
export async function projectOptions(): Promise<
  Pick<AssizeOptions, 'policy' | 'approvals' | 'memory'>
> {
  const policy = await projectPolicy();
  const { approvals, memory } = project() ?? {};
  return {
    ...(policy && { policy }),
    ...(approvals && { approvals }),
    ...(memory && { memory: runtimeServices(memory) }),
  };
}

/** The keys that sign a ledger, as options of a runtime. @throws CliError */
export function runtimeKeys({
  signer,
  entryKey = [],
}: KeyOptions): Pick<AssizeOptions, 'signer' | 'entryKeys'> {
  return {
    ...(signer !== undefined && { signer: readPrivateKey(signer) }),
    ...(entryKey.length > 0 && { entryKeys: entryKey }),
  };
}

/** The runtime over a store for reads. Reads need neither domains nor anchors. */
export function readingAssize(store: Store, embedder?: Embedder): Assize {
  const anchors = [generateKeys().publicKey];
  return new Assize({ store, domains: [], anchors, ...(embedder && { memory: { embedder } }) });
}
