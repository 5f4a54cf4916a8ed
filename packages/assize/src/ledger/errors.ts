import { AssizeError } from '#base';
import type { RuleId } from './rule-ids.ts';

/** The violation in an entry. Replay reports it with the entry. */
export type DamageCode =
  /**
   * The stored text is not its own canonical form. Restore the entry from a backup or an export.
   */
  | 'not_canonical'
  /**
   * The stored text does not hash to the entry's id. Restore the entry from a backup or an export.
   */
  | 'tampered'
  /**
   * The payload lacks a field, or has a field that is unknown or has a wrong type. Restore the
   * entry, or use a newer Assize.
   */
  | 'malformed'
  /**
   * The columns next to the text differ from the text. Restore the row from a backup or an export.
   */
  | 'column_mismatch'
  /**
   * `seq` or `parent` does not follow from the entry before. Restore the trajectory from a backup
   * or an export.
   */
  | 'broken_chain'
  /**
   * The entry breaks a chain rule, such as a root that is not first, or a time that goes back.
   * Check the program that wrote the entry.
   */
  | 'rule_broken'
  /**
   * The patch does not apply to the state before it. Restore the entry from a backup or an export.
   */
  | 'bad_patch'
  /** A value that an entry refers to is missing. Restore the blob from a backup or an export. */
  | 'blob_missing'
  /** A stored value does not hash to its name. Restore the blob from a backup or an export. */
  | 'blob_tampered'
  /**
   * The seal of the entry is missing or does not hold, so a process without the root key wrote it.
   * Restore the store from a backup; if the entry is right, check the root keys of this process.
   */
  | 'unsealed'
  /** The signature of an entry is missing or not valid. Check the signing key of the ledger. */
  | 'bad_signature'
  /** The ledger lacks a writ that an entry names. Restore the blob from a backup or an export. */
  | 'writ_missing'
  /**
   * A stored writ is not valid, or was not valid for the entry. Check the program that wrote the
   * entry.
   */
  | 'writ_tampered'
  /**
   * The entry spends more than the writ's budget had left. Check the program that wrote the entry.
   */
  | 'overspent'
  /**
   * The entry refers to an entry or trajectory that is missing or invalid. Restore or import the
   * source too.
   */
  | 'source_missing'
  /**
   * The entry and the effect log of the store disagree about an effect. Restore both from one
   * backup.
   */
  | 'effects_differ';

/** Also for a trajectory that the store does not have, or that has no entries. */
export type FaultCode = DamageCode | 'not_found';

export interface Fault {
  readonly trajectory_id: string;
  readonly seq: number;
  readonly code: FaultCode;
  /** The broken rule of the chain. Absent: the fault is of another kind. */
  readonly rule?: RuleId;
  readonly detail: string;
}

/** An entry that does not verify. `fault` names the entry and the reason. */
export class LedgerFault extends AssizeError<DamageCode> {
  override readonly name: string = 'LedgerFault';
  readonly fault: Fault;

  constructor(fault: Fault, cause?: unknown) {
    const rule = fault.rule === undefined ? '' : ` (${fault.rule})`;
    super(
      fault.code,
      `${String(fault.trajectory_id)} seq ${String(fault.seq)}: ${fault.detail}${rule}`,
      {
        evidence: { ...fault },
        cause,
      },
    );
    this.fault = fault;
  }
}
