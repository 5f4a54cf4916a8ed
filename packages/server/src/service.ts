import type { AgentsService } from '@assize/agents/internal/operations';
import type { AuditService } from '@assize/audit/internal/operations';
import { operationsOf, type Tokens } from '@assize/command/operation';
import type { GateService } from '@assize/gate/internal/operations';
import type { Deployment } from 'assize/internal/config';
import type { Migration } from 'assize/internal/kernel';
import type { DomainActions } from 'assize/internal/views';
import type { Blocks } from './activity/blocks.ts';
import type { Metrics } from './log/metrics.ts';
import type { FailedNotices } from './notices/queue/failed-notices.ts';
import type { FreeNames } from './principals/free-names.ts';
import type { Sessions } from './principals/sessions.ts';

/** The parts that operations use. One for each server process. */
export interface ServerService extends AgentsService, AuditService, GateService {
  /** The migrations of upgrades, by the hash of the later version. */
  readonly migrations: ReadonlyMap<string, Migration>;
  readonly tokens: Tokens;
  readonly sessions: Sessions;
  readonly names: FreeNames;
  readonly metrics: Metrics;
  readonly failedNotices: FailedNotices;
  /** The words of actions, by trajectory. */
  readonly actions: DomainActions;
  /** The facts of entries by which they are found. */
  readonly activity: Blocks;
  /** The deployment over several stores that the server is part of. */
  readonly deployment?: Deployment | undefined;
}

export const operation = operationsOf<ServerService>();
