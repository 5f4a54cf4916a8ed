/** The status codes of errors. */
export type ErrorStatus =
  | 400
  | 401
  | 403
  | 404
  | 408
  | 409
  | 410
  | 412
  | 413
  | 415
  | 421
  | 422
  | 429
  | 500
  | 503;

/**
 * The status of every code that a request can cause. A code that is not listed is a fault of the
 * server, and gets 500: so do all codes of a damaged ledger. Callers get `invalid_ledger` for
 * these.
 */
const STATUS: Readonly<Partial<Record<ErrorStatus, readonly string[]>>> = {
  400: [
    'invalid_request',
    'bad_input',
    'bad_argument',
    'bad_intent',
    'bad_writ',
    'bad_instant',
    'syntax',
    'too_complex',
    'invalid_state',
    'invalid_amendment',
    'invalid_domain',
    'unknown_predicate',
    'unknown_writ',
    'bad_key',
    'usage',
    'not_attenuated',
    'answers_needed',
    'nothing_to_erase',
    'needs_confirmation',
    'unknown_tool',
    'unsupported_node',
    'store_invalid_input',
    'stale_answer',
    'not_json',
  ],
  401: ['unauthenticated', 'sign_in_failed'],
  403: [
    'forbidden',
    'bad_origin',
    'unauthorised_counselor',
    'unauthorised_operator',
    'final_rule',
    'principal_revoked',
    'agent_stopped',
  ],
  404: ['not_found', 'unknown_operation', 'store_not_found', 'no_branch'],
  408: ['request_timeout', 'client_left'],
  409: [
    'session_changed',
    'idempotency_conflict',
    'conflict',
    'exists',
    'not_pending',
    'effect_unresolved',
    'digest_mismatch',
    'frozen',
    'changed_since',
    'override_needed',
    'already_approved',
    'already_done',
    'halted',
    'concluded',
    'wrong_state',
    'ambiguous',
    'domain_mismatch',
    'key_collision',
    'stale',
    'resource_in_doubt',
    'other_cell',
    'tenant_not_placed',
    'tenant_halted',
    'incident_refused',
    'duplicate_package',
    'budget_exhausted',
    'observation_missing',
    'signer_needed',
    'not_checkpointed',
    'erased',
    'no_counselor',
    'imported_trajectory',
    'misuse',
  ],
  412: ['precondition_failed'],
  413: ['too_large'],
  415: ['unsupported_media_type'],
  421: ['bad_host'],
  422: ['bad_extraction', 'simulation_late', 'bad_simulation'],
  429: ['too_fast', 'too_busy', 'too_many_open', 'too_many_pending'],
  500: ['invalid_ledger'],
  503: [
    'stopping',
    'issuer_unreachable',
    'closed',
    'calls_cut',
    'background_failed',
    'judge_late',
    'commit_unknown',
    'lease_lost',
    'effects_busy',
    'still_pending',
    'outcome_unknown',
    'outcome_not_recorded',
    'deadline',
    'clock_ahead',
    'store_unreachable',
    'store_failed',
    'store_locked',
    'store_unknown',
    'store_closed',
    'store_poisoned',
    'store_readonly',
    'store_retired',
    'store_other_schema',
    'store_copied',
    'store_rewound',
    'root_key_missing',
    'tool_failed',
    'witness_failed',
    'store_facts_incomplete',
    'store_not_scrubbed',
    'concurrent_run',
    'archive_damaged',
    'archive_not_named',
    'tenant_moves',
    'cell_behind',
    'cell_diverged',
    'cell_halted',
  ],
};

const STATUS_OF: ReadonlyMap<string, ErrorStatus> = new Map(
  Object.entries(STATUS).flatMap(([status, codes]) =>
    codes.map((code): [string, ErrorStatus] => [code, Number(status) as ErrorStatus]),
  ),
);

/** The status of an error with that code. */
export function statusOf(code: string): ErrorStatus {
  return STATUS_OF.get(code) ?? 500;
}

/** The codes that have a status, for the tests and the OpenAPI document. */
export function codesWithStatus(): ReadonlyMap<string, ErrorStatus> {
  return STATUS_OF;
}
