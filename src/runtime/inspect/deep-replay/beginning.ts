import type { Domain } from '#kernel';
import { stateFault } from '#kernel';
import type { BranchPayload, Entry, Folded, RootPayload, UpgradePayload } from '#ledger';
import { RecordedWorld } from './recorded-world.ts';
import type { Findings } from './report.ts';
import { placeOf } from './rerun-context.ts';
import { brokenBy, compareVectors, vectorOf } from './vector.ts';

/**
 * Replays the initial state of a trajectory, or the state at the beginning of a new version of its
 * domain. The state must break exactly the recorded invariants, and match the schema. `fits`: known
 * to match, because the commits that led to the state were run again.
 */
export function replayBeginning(
  findings: Findings,
  entry: Entry<RootPayload | BranchPayload | UpgradePayload>,
  domain: Domain,
  { folded, fits }: { readonly folded: Folded; readonly fits: boolean },
): RecordedWorld {
  const place = placeOf(entry);
  const { detection_vector: recorded = [] } = entry.payload;
  findings.compared++;
  const misfit = fits ? undefined : stateFault(domain.state, folded.state);
  if (misfit !== undefined) findings.differs(place, 'state', 'it fits', misfit);
  const world = new RecordedWorld(domain, folded);
  const broken = brokenBy(recorded);
  const found = world.begin(broken);
  compareVectors(findings, place, recorded, vectorOf(found));
  findings.breaks(
    place,
    found.filter(({ rule }) => !broken.has(rule.id)),
  );
  return world;
}
