import type { Json } from 'assize/internal/base';
import { type Domain, initialState } from 'assize/internal/kernel';
import { type Fingerprint, fingerprint, withSearch } from '../fingerprint.ts';
import type { Ontology } from '../ontology.ts';
import { findWriteSkew } from '../write-skew.ts';
import type { DraftFinding } from './finding.ts';

const VERDICTS = ['writeSkew', 'pipeline', 'auditability', 'timedGovernance'] as const;
/** A smaller search than that of the command, because a draft is searched once a round. */
const SEARCH = { depth: 3, width: 8, tries: 30 } as const;
const EXAMPLES_MAX = 8;

/**
 * The fingerprint of the ontology, compared with a run of the domain from its initial state and
 * from sound states of its examples. A pair of proposals that the
 * ontology excludes is an error. A pair that it implies and the search does not find is a warning.
 */
export function fingerprintFindings(
  domain: Domain,
  ontology: Ontology,
  examples: readonly Json[],
): DraftFinding[] {
  const implied = fingerprint(ontology);
  const search = findWriteSkew(domain, {
    ...SEARCH,
    states: [initialState(domain), ...examples.slice(0, EXAMPLES_MAX)],
  });
  const found = withSearch(implied, search, ontology);
  const changed = VERDICTS.filter(
    (name) => added(implied, found, name).length > 0 && isRefuted(implied, found, name),
  );
  const { writeSkew } = implied;
  const isUnshown = writeSkew.holds && search.witnesses.length === 0;
  return [
    ...changed.map((name) => finding('error', name, added(implied, found, name).join('; '))),
    ...(isUnshown
      ? [finding('warning', 'writeSkew', 'the ontology implies it; no pair of proposals was found')]
      : []),
  ];
}

function added(
  before: Fingerprint,
  after: Fingerprint,
  name: (typeof VERDICTS)[number],
): readonly string[] {
  return after[name].witness.slice(before[name].witness.length);
}

/** Another verdict, or a pair across values of a parameter that the ontology keeps apart. */
function isRefuted(
  before: Fingerprint,
  after: Fingerprint,
  name: (typeof VERDICTS)[number],
): boolean {
  return before[name].holds !== after[name].holds || name === 'writeSkew';
}

function finding(severity: DraftFinding['severity'], where: string, says: string): DraftFinding {
  return { check: 'fingerprint', severity, where, says };
}
