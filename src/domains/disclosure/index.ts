/**
 * Vulnerability disclosure: seed 000 §3.2, with decisions.md §9. Four agents, of whom none sees the portfolio, take validated
 * vulnerabilities from report to disclosure.
 *
 * Guarantees: what is committed keeps to the nine lines of the seed's Table 2, over all vulnerabilities at once; a
 * disclosure is judged by what was on record when it was made, and never again by what comes later; who tracks patches or
 * keeps commitments sees one vulnerability, and serves one organisation at a time; what takes something back waits for a
 * coordinator. The cost of a proposal follows its vulnerability and its group, not the portfolio.
 * Not promised: that a commitment is opened some day (the seed defers that), nor that what was observed outside is true.
 */
import { defineDomain } from '#kernel';
import { actions } from './actions.ts';
import { COORDINATOR, isCoordinator } from './coordinator.ts';
import { disclosureInitial } from './initial.ts';
import { processes, roles } from './processes.ts';
import { rules } from './rules.ts';
import { disclosureState } from './schema.ts';

export { commitmentOf, type Opening } from './commitment.ts';
export { DISCLOSURE_SETTINGS, disclosureInitial } from './initial.ts';
export type {
  Artifact,
  CoDisclosureGroup,
  DisclosureRecord,
  DisclosureState,
  EmbargoSpec,
  Patch,
  Phase,
  PublicKnowledgeStatus,
  Settings,
  Severity,
} from './schema.ts';

export const disclosure = defineDomain({
  name: 'disclosure',
  version: '1',
  state: disclosureState,
  initial: disclosureInitial(),
  processes,
  roles,
  actions,
  invariants: rules,
  counselors: { [COORDINATOR]: isCoordinator },
  // While a coordinator decides about one vulnerability, the work on the others goes on.
  freeze: 'footprint',
});
