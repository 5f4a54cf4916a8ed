/**
 * cells: a deployment over several databases. Each cell is one store with its servers and its own
 * log, and each tenant lives in one cell.
 *
 * Guarantees
 * - The root log says where a tenant lives, and which halts and revocations hold everywhere. A cell
 *   writes only for its own tenants, and nothing while it has not heard from the root log for the
 *   time of silence.
 * - The root log has a checkpoint of each cell, and refuses one that does not continue the last. A
 *   cell whose log lost entries stops.
 * - A move copies, verifies and flips: at no time do two cells accept entries of one tenant.
 *
 * Never: spans a transaction over two cells, or trusts a clock of another machine.
 */
export { auditCells, type CellAudit, openCellReadonly } from './audit-cells.ts';
export {
  type CellPlace,
  type CellsFile,
  isCellsUrl,
  partsOfCellsUrl,
  readCellsFile,
} from './cells-file.ts';
export { type DirectoryState, EVERY_TENANT, ROOT_LOG } from './directory.ts';
export { CellsError, type CellsErrorCode } from './errors.ts';
export { explainedHalt, ORDERS_PRINCIPAL } from './explained-halt.ts';
export { cancelMove, type Move, type MoveStep, moveTenant } from './move-tenant.ts';
export { type Cell, openCell } from './open-cell.ts';
export { reportCheckpoint } from './report-checkpoint.ts';
export { RootLog } from './root-log.ts';
export { RootWatch } from './root-watch.ts';
export { cellDeployment } from './served/cell-deployment.ts';
export { TenantLog } from './tenant-log.ts';
export { requireSameTenant, tenantOf } from './tenant-of.ts';
