/** The reasons of rejections and of pending proposals, in words. */
const REASONS: Readonly<Record<string, string>> = {
  invalid_authority: 'its writ does not allow it',
  policy_denied: 'the policy denies it',
  budget_exhausted: 'its budget is spent',
  precondition_failed: 'a precondition of the action does not hold',
  unknown_tool: 'the domain has no such tool',
  type_mismatch: 'the arguments do not fit the action',
  unjudged_call: 'a tool was called that was not judged',
  invariant_rejected: 'a rule of the domain rejects it',
  counselor_rejected: 'a person rejected it',
  effect_failed: 'a tool call failed',
  conflict: 'another entry changed the same values first',
  expired: 'no decision came in time',
  upgraded: 'the domain was upgraded meanwhile',
  invariant_escalated: 'a rule of the domain asks a person',
  policy_needs_approval: 'the policy asks a person',
  writ_requires_approval: 'its writ asks a person',
  irreversible: 'a call cannot be undone',
  contradiction: 'a statement contradicts known facts',
  in_doubt: 'it is not known whether a call ran',
  unresolved: 'an effect could not be settled',
};

export function reasonText(reason: string): string {
  return REASONS[reason] ?? reason.replaceAll('_', ' ');
}
