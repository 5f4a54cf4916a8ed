import type { Experiment } from '../experiment.ts';
import { composition } from './composition.ts';
import { configuration } from './configuration.ts';
import { confluence } from './confluence.ts';
import { judgeRows } from './judge-rows.ts';
import { lattice } from './lattice.ts';
import { openRows } from './open-rows.ts';
import { prompts } from './prompts.ts';
import { revisions } from './revisions.ts';
import { schemaModes } from './schema-modes.ts';
import { selectivity } from './selectivity.ts';
import {
  ablation,
  bridge,
  carriers,
  drift,
  isolation,
  oracle,
  schema,
  weakened,
} from './structural.ts';
import { verdicts } from './verdicts.ts';

/** The experiments: on schedules, on the package's own memory, and on a real server. */
export const EXPERIMENTS: readonly Experiment[] = [
  verdicts,
  isolation,
  schema,
  drift,
  composition,
  weakened,
  oracle,
  bridge,
  carriers,
  confluence,
  ablation,
  prompts,
  configuration,
  selectivity,
  lattice,
  revisions,
  openRows,
  schemaModes,
  judgeRows,
];
