/**
 * Vulnerability disclosure: Agentic Redux §3.2, with docs/decisions/019-shipped-domains.md. Four
 * agents take validated vulnerabilities from report to
 * disclosure. None of them sees the portfolio.
 *
 * Guarantees: every commit obeys the nine lines of Agentic Redux, Table 2, over all vulnerabilities
 * at the same time. A disclosure is checked against the record at its time, and never again against
 * later records. An agent that tracks patches or manages commitments sees one vulnerability, and
 * serves one organisation at a time. An action that reverts an earlier one requires a coordinator.
 * The cost of a proposal follows its vulnerability and its group, not the portfolio.
 *
 * Not promised: that a commitment is ever opened (the paper defers that), nor that observations
 * from outside are true.
 */
import { defineDomain } from 'assize/internal/kernel';
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
  // A coordinator's decision about one vulnerability does not block the work on others.
  freeze: 'footprint',
});
