import { AssizeError } from 'assize/internal/base';

export type CellsErrorCode =
  /**
   * The tenant of the trajectory lives in another cell. Use that cell. Evidence `{tenant, cell}`,
   * and the `url` of the cell if the file has it.
   */
  | 'other_cell'
  /**
   * The tenant of the trajectory moves to another cell, and no cell accepts its entries meanwhile.
   * Try again; the error is retryable. Evidence `{tenant, cell}`.
   */
  | 'tenant_moves'
  /**
   * No cell has the tenant of a new trajectory. Place it with `assize cells place TENANT`. Evidence
   * `{tenant}`.
   */
  | 'tenant_not_placed'
  /**
   * The tenant is halted in every cell. Resume it with `assize cells resume`. Evidence `{tenant}`.
   */
  | 'tenant_halted'
  /**
   * A principal was revoked in every cell. Use another name for the one that replaces it. Evidence
   * `{principal}`.
   */
  | 'principal_revoked'
  /**
   * Every tenant is halted in every cell, so a server of a cell is not ready. Resume them with
   * `assize cells resume '*'`.
   */
  | 'cell_halted'
  /**
   * The log of the cell does not continue its last checkpoint in the root log: entries were lost or
   * changed. Restore the cell from its standby or a backup. Evidence `{cell, size}`.
   */
  | 'cell_diverged'
  /**
   * The cell has not heard from the root log for the configured time, or has not applied its
   * orders. Follow the message; the error is retryable. Evidence `{seconds}` or `{orders,
   * applied}`.
   */
  | 'cell_behind';

/** A cell that refused or could not work. Nothing was written, unless the message says so. */
export class CellsError extends AssizeError<CellsErrorCode> {
  override readonly name = 'CellsError';
}
