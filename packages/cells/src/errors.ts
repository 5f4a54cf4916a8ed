import { AssizeError } from 'assize/internal/base';

export type CellsErrorCode =
  /**
   * The file of cells does not have its form. Correct the member that the message names. Evidence
   * `{file}`.
   */
  | 'bad_cells_file'
  /**
   * The file has no cell of that name, or the URL names none. Write `cells:FILE?cell=NAME` with one
   * of the cells that the message lists. Evidence `{cells}`.
   */
  | 'no_such_cell'
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
   * A branch or a delegation must be of the tenant of its source, so that the tenant can move. Give
   * it a name that begins with the tenant and a colon. Evidence `{tenant}`.
   */
  | 'other_tenant'
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
   * The cell has not heard from the root log for the configured time, so it accepts no entry. Check
   * the connection to the root store; the error is retryable. Evidence `{seconds}`.
   */
  | 'root_silent'
  /**
   * The store of the root log was away, and came back without entries that this process has read.
   * Put the right file in place; the process then goes on by itself.
   */
  | 'root_diverged'
  /**
   * Every tenant is halted in every cell, so a server of a cell is not ready. Resume them with
   * `assize cells resume '*'`.
   */
  | 'cell_halted'
  /**
   * The root log has orders that the cell has not applied. Start a server of the cell; the error is
   * retryable. Evidence `{orders, applied}`.
   */
  | 'orders_waiting'
  /**
   * The log of the cell does not continue its last checkpoint in the root log: entries were lost or
   * changed. Restore the cell from its standby or a backup. Evidence `{cell, size}`.
   */
  | 'cell_diverged'
  /**
   * The root log refused an order: a tenant that is placed already, a move to the same cell. The
   * message has the reason.
   */
  | 'order_refused'
  /**
   * A policy or a rule refused an order of the root log in one trajectory, so the cell accepts no
   * entry. Correct the rule, and restart the server. Evidence `{trajectory_id}`.
   */
  | 'order_not_applied'
  /**
   * A tenant cannot move now: it has tool transactions without an end, or a copy does not verify.
   * The message names the obstacle. Evidence `{tenant}`.
   */
  | 'move_refused';

/** A cell that refused or could not work. Nothing was written, unless the message says so. */
export class CellsError extends AssizeError<CellsErrorCode> {
  override readonly name = 'CellsError';
}
