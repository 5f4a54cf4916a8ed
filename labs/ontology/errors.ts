import { AssizeError } from 'assize/internal/base';

export type OntologyErrorCode =
  /** The text is not Turtle. Correct the syntax at the line. Evidence `{line}`. */
  | 'bad_turtle'
  /**
   * The text names no domain, names it twice, or gives it an unusable name. Declare the domain
   * once.
   */
  | 'no_ontology'
  /**
   * The vocabulary `a:` has no such term. Use the term that the message suggests. Evidence `{term,
   * line, meant}`.
   */
  | 'unknown_term'
  /**
   * A property has a value of the wrong sort, too many values, or a subject that can't have it.
   * Correct the line. Evidence `{term, line}`.
   */
  | 'bad_value'
  /**
   * The ontology has errors, so nothing can be derived from it. Mend the findings of `check` first.
   * Evidence `{findings}`.
   */
  | 'unsound'
  /**
   * The execution has no initial state, or one that does not fit the domain. Give a state that fits
   * the schema.
   */
  | 'bad_state'
  /**
   * A walk is not one of the domain: it names a process that the ontology lacks, or one of its
   * proposals does not pass. Correct the walk. Evidence `{proposal}` or `{exception}`, from 0.
   */
  | 'bad_walk'
  /**
   * Two architectures have too many parts that look alike to be compared within the bound. Raise
   * `stepsMax`. Evidence `{steps_max}`.
   */
  | 'too_symmetric'
  /**
   * The model wrote no valid ontology, even after its errors were shown to it. Shorten the text, or
   * use another model. Evidence `{answer, findings}`.
   */
  | 'bad_draft'
  /**
   * The reference text is longer than a model is given. Pass a part of it. Evidence `{characters,
   * characters_max}`.
   */
  | 'reference_too_long'
  /**
   * No draft of a module in the folder can be accepted: there is none, it has errors, or its file
   * was changed. Run `assize-experiments ontology scaffold` again. Evidence `{found}` for a file:
   * its hash.
   */
  | 'not_acceptable';

/**
 * An ontology with a fault, or a request that it can't answer. `check` returns findings and does
 * not throw.
 */
export class OntologyError extends AssizeError<OntologyErrorCode> {
  override readonly name = 'OntologyError';
}
