import type { Entity } from './ontology.ts';

export type FindingCode =
  | 'no_label'
  | 'no_definition'
  | 'same_name'
  | 'same_term'
  | 'unknown_reference'
  | 'described_twice'
  | 'no_category'
  | 'two_categories'
  | 'wrong_category'
  | 'circular'
  | 'no_bearer'
  | 'not_about'
  | 'no_participant'
  | 'no_path'
  | 'bad_path'
  | 'same_path'
  | 'untouched'
  | 'touches_nothing'
  | 'no_process_name'
  | 'primary'
  | 'no_order'
  | 'same_order'
  | 'bad_failure'
  | 'refers_to_nothing'
  | 'unknown_parameter'
  | 'no_source'
  | 'precondition_footprint'
  | 'gates_nothing'
  | 'not_timed'
  | 'no_reason'
  | 'contradiction'
  | 'same_role'
  | 'unread';

/** Something that is wrong, or that may be: a warning leaves the ontology usable. */
export interface Finding {
  readonly severity: 'error' | 'warning';
  readonly code: FindingCode;
  readonly term: string;
  readonly line: number;
  readonly says: string;
  readonly todo: string;
}

export function error(
  code: FindingCode,
  of: Pick<Entity, 'term' | 'line'>,
  says: string,
  todo: string,
): Finding {
  return { severity: 'error', code, term: of.term, line: of.line, says, todo };
}

export function warning(
  code: FindingCode,
  of: Pick<Entity, 'term' | 'line'>,
  says: string,
  todo: string,
): Finding {
  return { severity: 'warning', code, term: of.term, line: of.line, says, todo };
}
