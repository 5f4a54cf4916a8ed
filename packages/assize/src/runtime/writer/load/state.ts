import { type Domain, detailOf, stateFault, World } from '#kernel';
import { Chain, type Folded } from '#ledger';
import { Writs } from '../../authority/writs.ts';
import { RuntimeError } from '../../errors.ts';
import { Overrides } from '../known/overrides.ts';
import { RequestIndex } from '../known/request-index.ts';
import type { TrajectoryState } from '../ports.ts';
import type { FoldedTrajectory } from './fold.ts';

/** The caller knows these of a trajectory that it has read. */
const NOT_READ = { erasures: undefined, base: undefined };

/** `strict`: every rule is checked on every proposal. */
export function worldOf(
  domain: Domain,
  { state, owned }: Pick<Folded, 'state' | 'owned'>,
  strict: boolean,
): World {
  return new World(domain, state, owned, { strict });
}

/** For a trajectory that has no entry yet. */
export function partsToBegin(trajectoryId: string, world: World): TrajectoryState {
  return {
    domain: world.domain,
    chain: new Chain(trajectoryId),
    world,
    writs: new Writs(),
    requests: new RequestIndex(),
    overrides: new Overrides(),
    ...NOT_READ,
  };
}

/** For a trajectory that was read. @throws RuntimeError `invalid_ledger` */
export function partsRead(
  folded: FoldedTrajectory,
  domain: Domain,
  strict: boolean,
): TrajectoryState {
  const parts = partsUnder(folded, domain, strict);
  if (!folded.overridden) parts.world.excuse();
  checkState(parts.world, folded.chain.trajectoryId, folded.overridden);
  return parts;
}

/** For a trajectory that was read, under any version of its domain: nothing is checked. */
export function partsUnder(
  { chain, fold, writs, requests, overridden }: FoldedTrajectory,
  domain: Domain,
  strict: boolean,
): TrajectoryState {
  return {
    ...NOT_READ,
    domain,
    chain,
    world: worldOf(domain, fold, strict),
    writs,
    requests,
    overrides: new Overrides(overridden),
  };
}

/**
 * Chain and hashes show that nothing was changed. This check shows that the committed state is a
 * valid one.
 */
function checkState(world: World, trajectoryId: string, overridden: boolean): void {
  const misfit = stateFault(world.domain.state, world.state);
  const [broken] = overridden ? [] : world.failing;
  const what =
    misfit ??
    (broken === undefined ? undefined : `it violates ${broken.rule.id}: ${detailOf(broken)}`);
  if (what === undefined) return;
  throw new RuntimeError(
    'invalid_ledger',
    `The state of ${trajectoryId} is not valid in ${world.domain.name}@${world.domain.version}: ${what}. If the rules of the domain changed, give it a new version and upgrade the trajectory (assize upgrade).`,
    { evidence: { trajectory_id: trajectoryId } },
  );
}
