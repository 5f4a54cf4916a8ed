import type { Experiment } from '../experiment.ts';
import { judgeRows } from './judge-rows.ts';
import { lattice } from './lattice.ts';
import { openRows } from './open-rows.ts';
import { revisions } from './revisions.ts';
import { schemaModes } from './schema-modes.ts';

/** In the order of the paper; then what the paper has not. */
export const EXPERIMENTS: readonly Experiment[] = [lattice, revisions, openRows, schemaModes, judgeRows];
