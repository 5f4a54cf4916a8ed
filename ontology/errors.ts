import { AssizeError } from 'assize/internal/base';

export type OntologyErrorCode =
  /** The text is not Turtle; evidence `{line}`. */
  | 'bad_turtle'
  /** The text does not say of which domain it is, says it twice, or says what can't be its name. */
  | 'no_ontology'
  /** A term of the vocabulary `a:` that it does not have; evidence `{term, line, meant}`. */
  | 'unknown_term'
  /** A value of another sort than its property takes, too many, or of what can't have it; evidence `{term, line}`. */
  | 'bad_value'
  /** What is derived needs an ontology that `check` finds no error in; evidence `{findings}`. */
  | 'unsound'
  /** The execution has no state to begin with, or one that does not fit the domain. */
  | 'bad_state'
  /** The model's answers are no ontology, also after it was told what is wrong; evidence `{answer, findings}`. */
  | 'bad_draft';

/** What is wrong with an ontology, or with what is asked of it. `check` finds more, and answers instead of throwing. */
export class OntologyError extends AssizeError<OntologyErrorCode> {
  override readonly name = 'OntologyError';
}
