import type { Evidence } from '../evidence/gather.ts';
import { EXAMPLES_MAX } from '../evidence/tally.ts';
import {
  events,
  type Finding,
  happened,
  type Measure,
  number,
  plural,
  shownBy,
  tallyOf,
} from './measure.ts';
import {
  BLAST_RADIUS,
  LIST_EFFECTS,
  LIST_ENTRIES,
  LIST_PENDING,
  LIST_RESPONSES,
  LIST_WRITS,
  SHOW_ENTRY,
} from './proofs.ts';

const refused = ['refusal', 'refusals'] as const;
const asked = ['proposal that asked a counselor', 'proposals that asked a counselor'] as const;

export const NO_AUTHORITY: Measure = events(
  'control.authority',
  'A proposal without a valid writ for it is refused',
  refused,
  ['refused:invalid_authority'],
  LIST_ENTRIES,
);

export const POLICY: Measure = {
  id: 'control.policy',
  title: 'A policy judges proposals, and its answer is recorded',
  proof: SHOW_ENTRY,
  find: (evidence) => {
    const judged = tallyOf(evidence, 'policy_judged');
    const denied = tallyOf(evidence, 'refused:policy_denied');
    const figure = `${plural(judged.count, 'answer', 'answers')}, ${plural(denied.count, 'refusal', 'refusals')}`;
    return shownBy({ ...judged, ...(denied.count > 0 && { examples: denied.examples }) }, figure);
  },
};

export const RULES: Measure = events(
  'control.invariants',
  'A proposal that would break a rule of the domain is refused',
  refused,
  ['refused:invariant_rejected', 'refused:precondition_failed', 'refused:conflict'],
  LIST_ENTRIES,
);

export const CALLS: Measure = events(
  'control.calls',
  'A call of an unknown tool, with wrong arguments, or that no rule judges, is refused',
  refused,
  ['refused:unknown_tool', 'refused:type_mismatch', 'refused:unjudged_call'],
  LIST_ENTRIES,
);

export const BUDGET: Measure = events(
  'control.budget',
  'A proposal beyond the budget of its writ is refused',
  refused,
  ['refused:budget_exhausted'],
  LIST_WRITS,
);

export const REFUSALS: Measure = events(
  'control.refusals',
  'A refused proposal is recorded with its reason',
  refused,
  [
    'refused:invalid_authority',
    'refused:policy_denied',
    'refused:budget_exhausted',
    'refused:precondition_failed',
    'refused:unknown_tool',
    'refused:type_mismatch',
    'refused:unjudged_call',
    'refused:invariant_rejected',
    'refused:conflict',
  ],
  LIST_ENTRIES,
);

export const GUARDED: Measure = events(
  'control.irreversible',
  'A call that nothing can undo, or that a writ or policy holds back, waits for a counselor',
  asked,
  ['escalated:irreversible', 'escalated:writ_requires_approval', 'escalated:policy_needs_approval'],
  LIST_PENDING,
);

export const ESCALATED_RULES: Measure = events(
  'control.escalated',
  'A result that a rule of the domain doubts waits for a counselor',
  asked,
  ['escalated:invariant_escalated'],
  LIST_PENDING,
);

export const REVOKED: Measure = events(
  'control.revocations',
  'Authority is revoked immediately, with all that was granted under it',
  ['revocation', 'revocations'],
  ['revocations'],
  LIST_WRITS,
);

export const DELEGATED: Measure = events(
  'control.delegations',
  'Work is delegated to another agent under a writ that is not wider, and its answer is pinned by hash',
  ['delegation', 'delegations'],
  ['delegations'],
  LIST_WRITS,
);

export const FACTS: Measure = events(
  'control.facts',
  'Each remembered fact names the entry that stated it, so what derives from it can be listed',
  ['entry with facts', 'entries with facts'],
  ['with_facts'],
  BLAST_RADIUS,
);

export const CONTRADICTIONS: Measure = events(
  'control.contradictions',
  'A fact that contradicts a remembered one waits for a counselor where the domain says so',
  asked,
  ['escalated:contradiction'],
  LIST_PENDING,
);

export const CHANGES: Measure = events(
  'control.changes',
  'A change of rules, of a domain version, of a tool definition or of the signing key is an entry',
  ['change', 'changes'],
  ['upgrades', 'rule_changes', 'pinned_tools', 'key_changes'],
  SHOW_ENTRY,
);

export const TOOLS_PINNED: Measure = events(
  'control.pinned',
  'The definition of a tool is pinned, and a change of it is an entry',
  ['pinned definition', 'pinned definitions'],
  ['pinned_tools'],
  SHOW_ENTRY,
);

export const INCIDENTS: Measure = events(
  'control.incidents',
  'Stops, revoked writs and effects in doubt are recorded as they happen',
  ['entry', 'entries'],
  ['halts', 'revocations', 'in_doubt', 'refused:effect_failed'],
  BLAST_RADIUS,
);

export const RESPONSES: Measure = {
  id: 'control.responses',
  title: 'A person approves the response to an incident, and the outcome of each step is recorded',
  proof: LIST_RESPONSES,
  find: (evidence) => {
    const responses = tallyOf(evidence, 'responses');
    const steps = tallyOf(evidence, 'response_steps');
    const figure = `${plural(responses.count, 'response', 'responses')}, ${plural(steps.count, 'outcome', 'outcomes')}`;
    return shownBy(responses, figure);
  },
};

export const IN_DOUBT: Measure = {
  id: 'control.in_doubt',
  title: 'An effect with an unknown outcome waits for an operator, and is decided',
  proof: LIST_EFFECTS,
  find: (evidence): Finding => {
    const open = evidence.collected.decisions.waiting().filter(({ isEffect }) => isEffect);
    const doubtful = tallyOf(evidence, 'in_doubt');
    const decided = tallyOf(evidence, 'operator_decisions');
    const figure = `${number(doubtful.count)} in doubt, ${plural(decided.count, 'decision', 'decisions')}, ${number(open.length)} open`;
    if (open.length > 0)
      return {
        status: 'gap',
        figure,
        examples: open.slice(0, EXAMPLES_MAX).map(({ example }) => example),
        remedy: 'Look at the other system, and decide with assize effects resolve.',
      };
    return shownBy(tallyOf(evidence, 'in_doubt', 'operator_decisions'), figure);
  },
};

export const UNDONE: Measure = {
  id: 'control.undone',
  title: 'Effects of failed or discarded work are undone, and the outcome is recorded',
  proof: LIST_EFFECTS,
  find: (evidence: Evidence) =>
    happened(tallyOf(evidence, 'undone', 'refused:effect_failed'), [
      'effect or attempt undone',
      'effects or attempts undone',
    ]),
};
