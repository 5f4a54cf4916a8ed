import { agents } from '@assize/agents/internal/commands';
import { audit } from '@assize/audit/internal/commands';
import { cedar } from '@assize/cedar/internal/feature.ts';
import { cells } from '@assize/cells/internal/feature.ts';
import type { Feature } from '@assize/command';
import { gate } from '@assize/gate/internal/commands';
import { server } from '@assize/server/internal/commands';
import { testing } from '@assize/testing/internal/commands';
import { core } from './commands/index.ts';

/** The parts of the product, in the order of the help. Without its line here a part is absent. */
export const FEATURES: readonly Feature[] = [
  core,
  server,
  agents,
  gate,
  audit,
  cells,
  cedar,
  testing,
];
