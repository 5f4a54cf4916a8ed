import type { Instant } from 'assize/internal/canon';
import { type Invariant, pass, type Rules, reject } from 'assize/internal/kernel';
import type { CveAttribution, CveSource, DisclosureState } from '../schema.ts';
import { isBy } from '../time.ts';

export function cve({ each, unique }: Rules<DisclosureState>): Invariant<DisclosureState>[] {
  return [
    each(
      'CVE_ATTRIBUTION_CONSISTENCY',
      '/cves/*',
      {
        reads: ['/records'],
        with: (_, [vulnerability]) => ({ record: `/records/${vulnerability}` }),
      },
      (attribution, { record }) => {
        const [known] = idsOf(attribution, attribution.requested_at, 'deduplication');
        if (known !== undefined) return reject(`${known} is on record; use this identifier`);
        if (record === undefined) return pass;
        const stranger = record.cves.find((cve) => attribution.assigned[cve] === undefined);
        if (stranger !== undefined)
          return reject(`${stranger} is not assigned to this vulnerability`);
        const due = idsFor(attribution, record.disclosed_at);
        // The rule of completeness checks records without identifiers.
        return record.disclosed_at === undefined ||
          record.cves.length === 0 ||
          isSameSet(record.cves, due)
          ? pass
          : reject(`the record names ${record.cves.join(', ')}; it must name ${due.join(', ')}`);
      },
    ),

    unique('CVE_ATTRIBUTION_UNIQUENESS', '/cves/*/assigned/*', { by: (_, [, cve]) => cve }),
  ];
}

/**
 * The identifiers that a disclosure must name: those on record here before, or else all assigned
 * ones.
 */
export function idsFor(attribution: CveAttribution, at: Instant | undefined): string[] {
  const known = idsOf(attribution, at, 'deduplication');
  return known.length > 0 ? known : idsOf(attribution, at, 'assigned');
}

function idsOf({ assigned }: CveAttribution, at: Instant | undefined, source: CveSource): string[] {
  if (at === undefined) return [];
  return Object.keys(assigned).filter(
    (cve) => assigned[cve]?.source === source && isBy(assigned[cve], at),
  );
}

function isSameSet(left: readonly string[], right: readonly string[]): boolean {
  return (
    new Set(left).size === right.length &&
    left.length === right.length &&
    left.every((id) => right.includes(id))
  );
}
