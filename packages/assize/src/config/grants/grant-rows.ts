import type { Amounts } from '#authority';
import { hashText } from '#canon';
import type { SideStore } from '#ledger';
import { type SealedRow, SealedRows } from '#stores';
import type { ResolvedGrant } from '../resolved-config.ts';

/** Few rows are of one trajectory. */
const PREFIX_PAGE = 100;

/** The terms of a grant in one trajectory. */
export interface GrantTerms extends Omit<ResolvedGrant, 'trajectories' | 'scopes'> {
  readonly scopes: readonly string[];
}

/** A grant that was used in a trajectory. Its writ is made from the members of the row. */
export interface GrantRow {
  readonly principal: string;
  readonly trajectory: string;
  readonly terms: GrantTerms;
  /** Counts the grants of the principal there with these terms that were withdrawn before. */
  readonly generation: number;
  /** Spent under withdrawn grants of the principal. It counts against the budget of this one. */
  readonly carried: Amounts;
  /** Whether the configuration had the grant. The others came from the claims of a sign-in. */
  readonly isConfigured: boolean;
  /** The amounts that were spent when the configuration no longer had the grant. */
  readonly withdrawn?: Amounts;
}

/**
 * The grants that were used, in the side log, by trajectory and by the id of their writ. A row is
 * written before the first use of its writ, and is never deleted. So the principal of a writ is
 * known when the configuration no longer has the grant.
 */
export class GrantRows {
  readonly #rows: SealedRows<GrantRow>;

  /** `secret`: shared by all servers of a store, and derived from the root key. */
  constructor(side: SideStore, secret: Uint8Array) {
    this.#rows = new SealedRows(side, 'grant', secret);
  }

  /** The row of a writ. Undefined for a writ that is not a whole grant. */
  async find(trajectoryId: string, writId: string): Promise<GrantRow | undefined> {
    return (await this.#rows.get(keyOf(trajectoryId, writId)))?.value;
  }

  /** The rows of a trajectory, in the order of their writs' ids. */
  async inTrajectory(trajectoryId: string): Promise<GrantRow[]> {
    const rows: GrantRow[] = [];
    for await (const { value } of this.all(trajectoryId)) rows.push(value);
    return rows;
  }

  /** The rows of one trajectory or of all, with their versions. */
  async *all(trajectoryId?: string): AsyncGenerator<SealedRow<GrantRow>> {
    if (trajectoryId === undefined) return yield* this.#rows.list();
    const prefix = keyOf(trajectoryId, '');
    for await (const row of this.#rows.list(prefix, PREFIX_PAGE)) {
      if (!row.key.startsWith(prefix)) return;
      yield row;
    }
  }

  /** Writes a row unless there is one. */
  async add(writId: string, row: GrantRow): Promise<void> {
    const key = keyOf(row.trajectory, writId);
    if ((await this.#rows.put(key, null, row)) || (await this.#rows.get(key)) !== undefined) return;
    // A row with another MAC is not of a server with this root key.
    await this.#rows.delete(key);
    await this.#rows.put(key, null, row);
  }

  /** Records that the configuration no longer has the grant. */
  async withdraw({ key, version, value }: SealedRow<GrantRow>, spent: Amounts): Promise<void> {
    await this.#rows.put(key, version, { ...value, withdrawn: spent });
  }
}

/** The name of a trajectory may have any character. */
function keyOf(trajectoryId: string, writId: string): string {
  return `${hashText(trajectoryId)}/${writId}`;
}
