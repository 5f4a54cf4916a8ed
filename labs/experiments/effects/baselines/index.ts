/**
 * Protocols to compare the runtime with: locks, optimistic validation, and try-confirm-cancel.
 *
 * Guarantees: they call the same tools at the same sinks, and meet the same faults.
 *
 * Never: read an outcome from anything but a sink.
 */

import type { Tool } from 'assize/internal/effects';
import type { Baseline } from './baseline.ts';
import { locking } from './locking.ts';
import { occ } from './occ.ts';
import { tcc } from './tcc.ts';

export type { Baseline, BaselineBranch, BaselineCall } from './baseline.ts';

export const BASELINES: readonly {
  readonly name: string;
  readonly open: (tools: readonly Tool[]) => Baseline;
}[] = [
  { name: 'Locking', open: locking },
  { name: 'OCC', open: occ },
  { name: 'TCC', open: tcc },
];
