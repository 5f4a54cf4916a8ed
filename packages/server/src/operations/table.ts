import { agents } from './agents.ts';
import { approvals } from './approvals.ts';
import { branches } from './branches.ts';
import { bundles } from './bundles.ts';
import { calls } from './calls.ts';
import { chat } from './chat.ts';
import { control } from './control.ts';
import { domains } from './domains.ts';
import { effects } from './effects.ts';
import { entries } from './entries.ts';
import { hooks } from './hooks.ts';
import { incidents } from './incidents.ts';
import { log } from './log.ts';
import { memory } from './memory.ts';
import { mining } from './mining.ts';
import { notices } from './notices.ts';
import type { Operation } from './operation.ts';
import { outlines } from './outline.ts';
import { principals } from './principals.ts';
import { proposals } from './proposals.ts';
import { reports } from './reports.ts';
import { runs } from './runs.ts';
import { servers } from './servers.ts';
import { simulations } from './simulations.ts';
import { standing } from './standing.ts';
import { trajectories } from './trajectories.ts';
import { writs } from './writs.ts';

/** Every operation of the API, by resource. */
export const OPERATIONS: readonly Operation[] = [
  ...domains,
  ...trajectories,
  ...outlines,
  ...proposals,
  ...hooks,
  ...servers,
  ...calls,
  ...standing,
  ...approvals,
  ...entries,
  ...incidents,
  ...branches,
  ...agents,
  ...writs,
  ...effects,
  ...memory,
  ...chat,
  ...log,
  ...bundles,
  ...reports,
  ...control,
  ...mining,
  ...simulations,
  ...notices,
  ...runs,
  ...principals,
];
