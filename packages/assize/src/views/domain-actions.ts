import { GenerationalMap } from '#base';
import type { Domain } from '#kernel';
import type { LedgerStore } from '#ledger';
import { readable } from './entries.ts';

type Actions = Domain['actions'];

const NONE: Actions = {};
/** Trajectories whose domains are kept. */
const KEPT = 1_024;

/**
 * Finds the actions whose words show the entries of a trajectory: of the last given version of its
 * domain. Empty for an unknown domain.
 */
export class DomainActions {
  readonly #store: LedgerStore;
  readonly #domains: ReadonlyMap<string, Domain>;
  readonly #names: GenerationalMap<string, string> = new GenerationalMap(KEPT);

  constructor(store: LedgerStore, domains: readonly Domain[]) {
    this.#store = store;
    this.#domains = new Map(domains.map((domain) => [domain.name, domain]));
  }

  async of(trajectoryId: string): Promise<Actions> {
    const name = this.#names.get(trajectoryId) ?? (await this.#nameOf(trajectoryId));
    return this.#domains.get(name ?? '')?.actions ?? NONE;
  }

  /** An upgrade keeps the name. */
  async #nameOf(trajectoryId: string): Promise<string | undefined> {
    const [first] = await this.#store.entries(trajectoryId, { from: 0, limit: 1 });
    const payload = first && readable(first)?.payload;
    if (payload?.kind !== 'root' && payload?.kind !== 'branch') return undefined;
    this.#names.set(trajectoryId, payload.domain.name);
    return payload.domain.name;
  }
}
