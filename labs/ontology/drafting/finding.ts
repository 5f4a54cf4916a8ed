import { z } from 'zod';

/** The check that found something, in the order in which a draft passes them. */
export const CHECKS = [
  'form',
  'source',
  'types',
  'run',
  'definition',
  'ontology',
  'examples',
  'check_domain',
  'life_cycle',
  'fingerprint',
] as const;

/** Maximum number of findings of a round, and of characters in one text. */
export const FINDINGS_MAX = 40;
const TEXT_MAX = 1_200;

/** The form of a finding, also of one that comes from the process that runs a draft. */
export const FINDING = z.strictObject({
  check: z.enum(CHECKS),
  severity: z.enum(['error', 'warning']),
  where: z.string(),
  says: z.string(),
});

/** A fault of a drafted module. A warning leaves the draft acceptable. */
export interface DraftFinding {
  readonly check: (typeof CHECKS)[number];
  readonly severity: 'error' | 'warning';
  /** Such as `action lend: apply` or `invariant WITHIN_FUNDS`. */
  readonly where: string;
  readonly says: string;
}

/** The first findings, errors first, with texts that are not too long. */
export function fewFindings(findings: readonly DraftFinding[]): DraftFinding[] {
  const errors = findings.filter(({ severity }) => severity === 'error');
  const warnings = findings.filter(({ severity }) => severity === 'warning');
  return [...errors, ...warnings]
    .slice(0, FINDINGS_MAX)
    .map((one) => ({ ...one, where: shortened(one.where), says: shortened(one.says) }));
}

export function errorsIn(findings: readonly DraftFinding[]): number {
  return findings.filter(({ severity }) => severity === 'error').length;
}

function shortened(given: string): string {
  return given.length <= TEXT_MAX
    ? given.toWellFormed()
    : `${given.slice(0, TEXT_MAX).toWellFormed()}…`;
}
