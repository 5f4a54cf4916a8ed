import type { components } from '../../api/openapi.d.ts';

export type ComplianceReport = components['schemas']['ComplianceReport'];
export type ReportClause = components['schemas']['ReportClause'];

/** The period and the trajectory of a report. Absent: all. */
export interface ReportScope {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
  readonly trajectory?: string | undefined;
}

/** The address of a report as a file, of the same entries as the one that is shown. */
export function pageHref(framework: string, scope: ReportScope, size: number): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(scope))
    if (value !== undefined) query.set(name, value);
  // An empty log has no size that can be asked for.
  if (size > 0) query.set('size', String(size));
  return `/v1/reports/${encodeURIComponent(framework)}/page?${query}`;
}
