/** The status codes of errors. */
export type ErrorStatus = 400 | 401 | 403 | 404 | 408 | 409 | 410 | 412 | 413 | 415 | 421 | 422 | 429 | 500 | 503;

/**
 * The status of every code that a request can cause. A code that is not listed is a fault of the
 * server, and gets 500: so do all codes of a damaged ledger, which are told as `invalid_ledger`.
 */
const STATUS: Readonly<Partial<Record<ErrorStatus, readonly string[]>>> = {
  400: [
    ...[
      'invalid_request',
      'idempotency_key_missing',
      'bad_input',
      'bad_argument',
      'bad_option',
      'bad_intent',
      'bad_name',
    ],
    ...[
      'bad_writ',
      'bad_resource',
      'bad_pointer',
      'bad_instant',
      'bad_time',
      'bad_recall',
      'bad_cursor',
      'bad_filter',
      'bad_alias',
      'bad_metadata',
      'bad_messages',
      'no_model',
      'invalid_run',
      'bad_resolution',
      'bad_policy',
    ],
    ...['bad_amount', 'bad_hash', 'bad_confidence', 'bad_text', 'bad_request', 'bad_limits', 'bad_size'],
    ...[
      'syntax',
      'duplicate_key',
      'byte_order_mark',
      'invalid_utf8',
      'unsafe_integer',
      'lone_surrogate',
      'not_finite',
      'too_deep',
    ],
    ...['too_many_nodes', 'long_text', 'empty_text', 'empty_period', 'reversed_period'],
    ...['invalid_state', 'invalid_initial_state', 'invalid_replacement', 'invalid_amendment', 'invalid_domain'],
    ...[
      'unknown_predicate',
      'unknown_relation',
      'unknown_fact',
      'unknown_member',
      'unknown_writ',
      'wrong_key',
      'usage',
    ],
    ...[
      'unknown_strategy',
      'not_attenuated',
      'answers_needed',
      'repeated_answer',
      'repeated_claim',
      'not_single_valued',
    ],
    ...['too_much', 'too_much_at_once', 'too_much_inherited', 'nothing_to_erase', 'needs_confirmation', 'no_embedder'],
    ...['strategy_not_allowed', 'invalid_call', 'unknown_tool', 'scope_exceeded', 'bad_public_key', 'bad_private_key'],
    ...['no_claim_key', 'variant_refused', 'no_instant', 'bad_vector', 'array_property', 'hidden_property', 'to_json'],
    ...['symbol', 'symbol_key', 'undefined', 'function', 'bigint', 'class_instance', 'accessor', 'proxy', 'cycle'],
    ...['sparse_array', 'unsupported_node', 'bad_row', 'store_invalid_input', 'unknown_row_kind'],
    ...['bad_question', 'bad_decision', 'over_refunded', 'stale_answer'],
  ],
  401: ['unauthenticated', 'sign_in_failed'],
  403: [
    ...['forbidden', 'bad_origin', 'unauthorised_counselor', 'unauthorised_operator', 'not_authorised', 'not_granted'],
    'final_rule',
    'space_not_covered',
    'no_writ',
    'principal_revoked',
    'agent_stopped',
  ],
  404: [
    ...['unknown_framework', 'unknown_trajectory', 'unknown_log_size'],
    ...[
      'unknown_operation',
      'not_found',
      'never_pending',
      'unknown_effect',
      'not_logged',
      'no_such_run',
      'store_not_found',
      'no_branch',
    ],
    ...['unknown_proposal', 'no_such_value', 'no_such_fact', 'unknown_run'],
    ...['nothing_affected', 'no_approved_incident', 'unknown_incident'],
  ],
  408: ['request_timeout', 'client_left'],
  409: [
    'session_changed',
    'key_conflict',
    ...['conflict', 'idempotency_conflict', 'exists', 'not_pending', 'effect_unresolved', 'digest_mismatch', 'frozen'],
    ...['changed_since', 'override_needed', 'already_approved', 'already_resolved', 'already_upgraded', 'halted'],
    ...['not_halted', 'concluded', 'nothing_to_resolve', 'open_delegations', 'not_delegated', 'not_open', 'ambiguous'],
    ...['domain_mismatch', 'branch_conflict', 'overlaps_open', 'key_collision', 'stale', 'resource_in_doubt'],
    ...['writ_conflict', 'source_withdrawn', 'not_awaited', 'not_a_ruling'],
    ...['other_cell', 'tenant_not_placed', 'tenant_halted', 'other_tenant', 'order_refused'],
    ...['incident_refused', 'no_incident_trajectory', 'no_steps'],
    ...['other_run', 'run_conflict', 'run_ended', 'run_not_failed'],
    ...['duplicate_package', 'import_conflict', 'budget_exhausted', 'second_pivot', 'observation_missing'],
    ...[
      'signer_needed',
      'not_checkpointed',
      'foreign_checkpoint',
      'erased',
      'no_counselor',
      'stale_callback',
      'invalid_tool',
      'imported_trajectory',
    ],
  ],
  412: ['precondition_failed'],
  413: ['trajectory_too_long', 'body_too_large', 'too_large', 'bundle_too_large', 'too_many_steps'],
  415: ['unsupported_media_type'],
  421: ['bad_host'],
  422: ['bad_extraction', 'simulation_late', 'bad_simulation'],
  429: ['too_fast', 'too_busy', 'too_many_streams', 'too_many_pending', 'too_many_delegations'],
  500: ['invalid_ledger'],
  503: [
    ...[
      'stopping',
      'issuer_unreachable',
      'closed',
      'calls_cut',
      'recovery_failed',
      'judge_late',
      'commit_unknown',
      'lease_lost',
      'effects_busy',
      'still_pending',
      'outcome_unknown',
      'outcome_not_recorded',
    ],
    ...[
      'deadline',
      'clock_ahead',
      'store_unreachable',
      'store_failed',
      'store_locked',
      'store_unknown',
      'store_closed',
    ],
    ...[
      'store_poisoned',
      'store_readonly',
      'store_retired',
      'store_changed_schema',
      'store_denied',
      'store_copied',
      'store_rewound',
      'unsealed_writer',
      'tool_failed',
      'witness_failed',
    ],
    ...['store_facts_incomplete', 'store_not_scrubbed', 'concurrent_run'],
    ...['archive_failed', 'archive_missing', 'archive_not_named'],
    ...['tenant_moves', 'root_silent', 'root_diverged', 'orders_waiting', 'cell_diverged', 'cell_halted'],
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
