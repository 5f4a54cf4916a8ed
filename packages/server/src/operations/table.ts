import { chat, runs, simulations } from '@assize/agents/internal/operations';
import {
  backtests,
  bundles,
  checkpoints,
  incidents,
  mining,
  proofs,
  reports,
} from '@assize/audit/internal/operations';
import type { Operation } from '@assize/command/operation';
import { calls, hooks, rules, servers, standing } from '@assize/gate/internal/operations';
import type { ServerService } from '../service.ts';
import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { branches } from './branches.ts';
import { control } from './control.ts';
import { domains } from './domains.ts';
import { effects } from './effects.ts';
import { entries } from './entries.ts';
import { lineage } from './lineage.ts';
import { log } from './log.ts';
import { memory } from './memory.ts';
import { notices } from './notices.ts';
import { outlines } from './outline.ts';
import { principals } from './principals.ts';
import { proposals } from './proposals.ts';
import { trajectories } from './trajectories.ts';
import { writs } from './writs.ts';

/** Every operation of the API, by resource: of the server and of the packages. */
export const OPERATIONS: readonly Operation<ServerService>[] = [
  ...domains,
  ...trajectories,
  ...outlines,
  ...proposals,
  ...hooks,
  ...servers,
  ...calls,
  ...standing,
  ...rules,
  ...approvals,
  ...entries,
  ...proofs,
  ...lineage,
  ...incidents,
  ...branches,
  ...agents,
  ...writs,
  ...effects,
  ...memory,
  ...chat,
  ...checkpoints,
  ...log,
  ...bundles,
  ...reports,
  ...control,
  ...backtests,
  ...mining,
  ...simulations,
  ...notices,
  ...runs,
  ...principals,
];
