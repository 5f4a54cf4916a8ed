import type { CounselorRecord, Payload } from '#ledger';

/** An approver that overrode rules, with the violations. */
export interface Override {
  readonly principal: string;
  readonly violations: readonly { readonly invariant_id: string; readonly detail?: string }[];
}

/** The overrides that an entry records: those of the earlier approvers, and of the counselor. */
export function overridesIn(payload: Payload): Override[] {
  if (payload.kind !== 'commit' && payload.kind !== 'pending_approval') return [];
  const { approved_by: earlier = [] } = payload;
  const last =
    payload.kind === 'commit' && payload.counselor !== undefined ? [payload.counselor] : [];
  // The counselor of an upgrade overrides what the state of the new version breaks.
  const broken =
    'detection_vector' in payload
      ? payload.detection_vector?.filter(({ result }) => result !== 'pass')
      : [];
  return [...earlier, ...last]
    .filter(({ override }) => override === true)
    .map((one) => overrideOf({ overridden: broken, ...one }));
}

function overrideOf({
  principal,
  overridden = [],
}: Pick<CounselorRecord, 'principal' | 'overridden'>): Override {
  const violations = overridden.map(({ invariant_id, detail }) => ({
    invariant_id,
    ...(detail === undefined ? {} : { detail }),
  }));
  return { principal, violations };
}

/** `override of LEVEL by dr-a, dr-b`. */
export function overridesText(overrides: readonly Override[]): string {
  const rules = new Set(
    overrides.flatMap(({ violations }) => violations.map(({ invariant_id }) => invariant_id)),
  );
  return `override of ${[...rules].join(', ')} by ${overrides.map(({ principal }) => principal).join(', ')}`;
}

/** `dr-a overrode LEVEL: 9 is too much`. */
export function overrideText({ principal, violations }: Override): string {
  const what = violations.map(({ invariant_id, detail }) =>
    detail === undefined ? invariant_id : `${invariant_id}: ${detail}`,
  );
  return `${principal} overrode ${what.join('; ')}`;
}
