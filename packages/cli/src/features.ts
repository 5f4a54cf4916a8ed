import { audit } from '@assize/audit/internal/commands';
import { cells } from '@assize/cells/internal/feature.ts';
import type { Feature } from '@assize/command';

/** The parts of the product that a package adds. Without its line here a part is not there. */
export const FEATURES: readonly Feature[] = [audit, cells];
