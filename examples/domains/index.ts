/**
 * The domains of the workspace, for commands in a clone.
 *
 * Guarantees: every domain is loaded only when a caller asks for it, because schemas take time to
 * build.
 */
import type { Domain } from 'assize';

/** The domains with a name of their own, in the order in which a list shows them. */
export async function domains(): Promise<Domain[]> {
  const loaded = await Promise.all([
    import('./disclosure/index.ts').then(({ disclosure }) => disclosure),
    import('./airline/index.ts').then(({ airline }) => airline),
    import('./retail/index.ts').then(({ retail }) => retail),
    import('./moderation/index.ts').then(({ moderation }) => moderation),
    import('./verification/index.ts').then(({ verification }) => verification),
  ]);
  return loaded as unknown as Domain[];
}

/** The airline and the shop without their policy, as `adjudicate --no-invariants` uses them. */
export async function domainsWithoutInvariants(): Promise<Domain[]> {
  const loaded = await Promise.all([
    import('./airline/adjudicate.ts').then(({ airlineBenchmark }) => airlineBenchmark.bare),
    import('./retail/adjudicate.ts').then(({ retailBenchmark }) => retailBenchmark.bare),
  ]);
  return loaded as unknown as Domain[];
}
