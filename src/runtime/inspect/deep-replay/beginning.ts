import type { Domain } from '#kernel';
import { stateFault } from '#kernel';
import type { BranchPayload, Entry, Folded, RootPayload } from '#ledger';
import { RecordedWorld } from './recorded-world.ts';
import type { Findings } from './report.ts';
import { placeOf } from './stage.ts';
import { brokenBy, compareVectors, vectorOf } from './vector.ts';

/**
 * The state that a trajectory begins with: it must break just the invariants that it was said to break, and fit the schema.
 * `fits`: that is known, because what led to it was run again.
 */
export function replayBeginning(
  findings: Findings,
  entry: Entry<RootPayload | BranchPayload>,
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
