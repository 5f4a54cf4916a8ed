import type { Instant } from 'assize/internal/canon';
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type {
  Commitment,
  DisclosureRecord,
  DisclosureState,
  Patch,
  Resolution,
  Signal,
} from '../schema.ts';
import { isBy } from '../time.ts';
import { idsFor } from './cve.ts';
import { isRobustlyFixed } from './preconditions.ts';

export function completeness({ each }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'DISCLOSURE_COMPLETENESS',
      '/records/*',
      {
        reads: ['/patches', '/signals', '/commitments', '/resolutions', '/cves'],
        with: (_, [vulnerability]) => ({
          patches: `/patches/${vulnerability}`,
          signals: `/signals/${vulnerability}`,
          commitments: `/commitments/${vulnerability}`,
          resolutions: `/resolutions/${vulnerability}`,
          cves: `/cves/${vulnerability}`,
        }),
      },
      (
        record,
        { patches = [], signals = [], commitments = {}, resolutions = [], cves = { assigned: {} } },
      ) => {
        const { disclosed_at } = record;
        if (disclosed_at === undefined) return pass;
        const fault =
          linkFault(record, patches, signals, disclosed_at) ??
          commitmentFault(record, commitments, resolutions, disclosed_at) ??
          (record.cves.length === 0 && idsFor(cves, disclosed_at).length > 0
            ? `the record does not name ${idsFor(cves, disclosed_at).join(', ')}`
            : undefined) ??
          (record.attribution.some((name) => name.trim() !== '')
            ? undefined
            : 'the record has no attribution');
        return fault === undefined ? pass : reject(fault);
      },
    ),
  ];
}

/**
 * (a) A link to the released patch (its development or its release), or the reason why there is
 * none.
 */
function linkFault(
  { patch_link, patch_unavailable = '' }: DisclosureRecord,
  patches: readonly Patch[],
  signals: readonly Signal[],
  at: Instant,
): string | undefined {
  if (patch_link === undefined) {
    if (isRobustlyFixed(patches, at))
      return 'the record has no link to the patch that was released';
    return patch_unavailable.trim() === ''
      ? 'the record has no link to a patch and does not say why'
      : undefined;
  }
  const released = patches.filter((patch) => isBy(patch.released, at));
  const robust = released.filter((patch) => isRobustlyFixed([patch], at));
  // A reader of the record must reach the final fix, and not one that was found insufficient before
  // it.
  const shown = (robust.length > 0 ? robust : released).flatMap((patch) => [
    patch.developed,
    patch.released,
  ]);
  return shown.some((seen) => seen !== undefined && signals[seen.signal]?.reference === patch_link)
    ? undefined
    : `${patch_link} does not lead to the patch that was released`;
}

/** (b) Every commitment is opened, and named. */
function commitmentFault(
  { resolved }: DisclosureRecord,
  commitments: Readonly<Record<string, Commitment>>,
  resolutions: readonly Resolution[],
  at: Instant,
): string | undefined {
  const opened = new Set(
    resolutions.filter((resolution) => isBy(resolution, at)).map(({ hash }) => hash),
  );
  const published = Object.keys(commitments).filter((hash) => isBy(commitments[hash], at));
  const closed = published.find((hash) => !opened.has(hash));
  if (closed !== undefined) return `the commitment ${closed} has not been opened`;
  const missing = published.find((hash) => !resolved.includes(hash));
  if (missing !== undefined) return `the record does not name the commitment ${missing}`;
  const stranger = resolved.find((hash) => !published.includes(hash));
  return stranger === undefined
    ? undefined
    : `the record names ${stranger}, which is not a commitment to the vulnerability`;
}
