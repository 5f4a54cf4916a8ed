import { AssizeError } from '#base';

/** What is wrong with an entry; replay names the entry and this. */
export type FaultCode =
  /** The stored text is not its own canonical form. */
  | 'not_canonical'
  /** The text does not hash to the id. */
  | 'tampered'
  /** A member is missing, unknown or of the wrong type. */
  | 'malformed'
  /** The columns beside the text disagree with it. */
  | 'misfiled'
  /** `seq` or `parent` does not follow from the entry before. */
  | 'broken_chain'
  /** A chain rule: root or branch elsewhere than first, time going back, a wrong `parent_commit`, … */
  | 'rule_broken'
  /** A patch can't be applied. */
  | 'bad_patch'
  | 'blob_missing'
  | 'blob_tampered'
  | 'bad_signature'
  /** A writ that an entry names is not in the ledger, does not hold, or was spent beyond its budget. */
  | 'writ_missing'
  | 'writ_tampered'
  | 'overspent'
  /** The entry or trajectory that is referred to is not there, or not valid itself. */
  | 'source_missing'
  /** What it tells of effects is not what the effect log of the store has of them. */
  | 'effects_differ'
  /** The ledger has a trajectory with no entries, or none of that name. */
  | 'not_found';

export interface Fault {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly code: FaultCode;
  readonly detail: string;
}

/** An entry that does not verify. `fault` says which and why. */
export class LedgerFault extends AssizeError<FaultCode> {
  override readonly name: string = 'LedgerFault';
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    super(fault.code, `${String(fault.trajectory_id)} seq ${String(fault.seq)}: ${fault.detail}`, {
      evidence: { ...fault },
      cause,
    });
    this.fault = fault;
  }
}
