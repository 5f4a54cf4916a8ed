/**
 * The records of the ledger reference, sections 3 and 8. Each member has `name:form`. `?` marks an
 * optional one, `[x]` a list of x, `{x}` an object whose members are all x, and `a|b` a choice of
 * texts. `+entry` stands for the members of every entry.
 */
const TEXT = `
domain = name:text version:text hash:hash
role = name:text params:{text}
action = name:text role:role args:stored
observation = name:text value?:stored oracle_key?:hash hash?:hash
effect = id:hash effect:stored
key = fact_id:column system_time_start:instant
row = fact_id:column object:salted valid_from:start valid_to:end provenance_id:column confidence:confidence
  resolution_strategy_id:lww|lww-valid|evi|await|rule row_kind:current|audit resolution_id:column_or_null
  lineage:column asserted_seq:from_one asserted_from:start
inherited = fact_id:column object:salted valid_from:start valid_to:end provenance_id:column confidence:confidence
  resolution_strategy_id:lww|lww-valid|evi|await|rule row_kind:current resolution_id:column_or_null
  lineage:column asserted_seq:from_one asserted_from:start system_time_start:instant entry_id:hash seq:from_one
  cardinality:single-valued|multi-valued
inheritance = until:instant rows:[inherited]
change = partition:salted version:from_one cardinality:single-valued|multi-valued system_time:instant close:[key]
  insert:[row] merged?:[column] inherit?:inheritance
delta = state:stored_operations effects:[effect] beliefs:[change]
proposed = state:stored_operations effects:[effect] beliefs:empty
policy = digest:hash decision:allow|deny|needs_approval rule?:text
result = invariant_id:text result:pass|reject|escalate detail?:text
counselor = principal:text as:text method:text at?:instant override?:true overridden?:[result] reason?:text
  token_by?:[text]
deputy = of:text kind:text from:instant
amendment = action:action difference:stored
intent = action:text role:role args:stored observations:[observation] calls?:salted
proposal = proposal_id:hash writ_id:hash action:action observations:[observation] at:instant delta:proposed
  approval:stored_operations budget_cost:{count} key_hash?:hash questions?:salted said_at?:instant
beginning = domain:domain initial_state:stored_object sensitive?:operations
origin = trajectory_id:text entry_id:hash
signed = key:hash value:signature
entry = kind:text trajectory_id:trajectory seq:count parent:hash_or_null at:instant signature?:signed
root = +entry domain:domain initial_state:stored_object compiler_version:text writs:list policy_hash?:hash
  delegated_from?:origin detection_vector?:[result] note?:text sensitive?:operations
branch = +entry source_trajectory_id:text source_commit_id:hash domain:domain compiler_version:text writs:list
  note:text policy_hash?:hash detection_vector?:[result]
commit = +entry proposal_id:hash writ_id:hash parent_commit:hash action:action delta:delta
  observations:[observation] budget_cost:{count} compiler_version:text epoch?:from_one key_hash?:hash
  policy?:policy resolves?:hash counselor?:counselor approved_by?:[counselor] detection_vector?:[result]
  amended?:amendment
rejection = +entry intent:intent detail:text reason:invalid_authority|policy_denied|budget_exhausted|\
precondition_failed|unknown_tool|type_mismatch|unjudged_call|invariant_rejected|counselor_rejected|\
effect_failed|conflict|expired|upgraded
  proposal_id?:hash key_hash?:hash writ_id?:hash policy?:policy invariant_id?:text resolves?:hash
  counselor?:counselor
pending_approval = +entry proposal:proposal digest:hash channel:text detail:text freezes:freezing head:hash
  reason:invariant_escalated|policy_needs_approval|writ_requires_approval|irreversible|contradiction|\
in_doubt|unresolved
  policy?:policy invariant_id?:text expires?:instant approvals?:several resolves?:hash approved_by?:[counselor]
  deputies?:[deputy]
delegation = +entry child_trajectory_id:text task:text writ:value begins?:beginning concludes?:hash
  child_head?:hash final_answer?:stored budget_cost?:{count}
key_change = +entry to:hash reason:text
writ = v:one issuer:hash subject:name parent:hash_or_null not_before:instant expires:instant max_depth:depth
  nonce:name signature:signature trajectory?:name actions?:[text] scopes?:[text] require_approval?:[text]
  budget?:{count}
`;

/** The members of each record, as texts `name:form`. */
export const TABLES: ReadonlyMap<string, readonly string[]> = read();

function read(): Map<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  for (const line of TEXT.replaceAll('\n  ', ' ').trim().split('\n')) {
    const [name = '', members = ''] = line.split(' = ');
    const all = members.replace('+entry', (tables.get('entry') ?? []).join(' '));
    tables.set(name, all.split(/\s+/));
  }
  return tables;
}
