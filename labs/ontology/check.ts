import { alignment } from './check-alignment.ts';
import { names } from './check-names.ts';
import { stateRules } from './check-state.ts';
import { workRules } from './check-work.ts';
import { OntologyError } from './errors.ts';
import type { Finding } from './finding.ts';
import { type Ontology, requireOntology } from './ontology.ts';

/**
 * All problems of an ontology: errors first, in the order of the file. Without errors, the
 * derivations apply.
 *
 * @throws ArgumentError `bad_argument`
 */
export function check(ontology: Ontology): Finding[] {
  requireOntology(ontology);
  const found = [
    ...names(ontology),
    ...alignment(ontology),
    ...stateRules(ontology),
    ...workRules(ontology),
  ];
  return found.sort(
    (a, b) =>
      Number(a.severity === 'warning') - Number(b.severity === 'warning') || a.line - b.line,
  );
}

/** @throws OntologyError `unsound` */
export function requireSound(ontology: Ontology): void {
  const errors = check(ontology).filter(({ severity }) => severity === 'error');
  const [first] = errors;
  if (first === undefined) return;
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : '';
  throw new OntologyError(
    'unsound',
    `${first.term}: ${first.says}${more}. Fix the findings of check, and try again.`,
    {
      evidence: { findings: errors },
    },
  );
}
