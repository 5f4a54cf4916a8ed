/**
 * The codes of the format's reference, section 7. Two more are of an export and of checkpoints:
 * `bad_export` and `diverged`.
 */
export type Code =
  | 'bad_zip'
  | 'bad_manifest'
  | 'file_differs'
  | 'bad_form'
  | 'bad_entry'
  | 'bad_writ'
  | 'context_missing'
  | 'bad_checkpoint'
  | 'not_logged'
  | 'other_key'
  | 'not_witnessed'
  | 'scope_differs'
  | 'keys_differ'
  | 'records_differ'
  | 'bad_export'
  | 'diverged';

/** One reason why a bundle is not valid. */
export interface Fault {
  readonly code: Code;
  /** A sentence, or more. It may repeat text of the bundle. */
  readonly reason: string;
  /** The id of the entry at fault. */
  readonly entry?: string;
  /** The trajectory and the number of that entry, where a reader cannot look them up. */
  readonly place?: string;
}

/** The work of a verification, by its parts. */
export const CHECKS = [
  'files',
  'entries',
  'values',
  'proofs',
  'checkpoint',
  'cosignatures',
  'signatures',
  'rules',
  'decisions',
  'writs',
  'records',
  'trees',
  'consistency',
] as const;

export type Check = (typeof CHECKS)[number];

/** A fault after which the rest of a bundle cannot be read. */
export class Unreadable extends Error {
  readonly fault: Fault;

  constructor(code: Code, reason: string) {
    super(reason);
    this.fault = { code, reason };
  }
}

/** Collects the faults of a verification, and counts its checks. */
export class Findings {
  readonly faults: Fault[] = [];
  readonly #counts = new Map<Check, number>();

  fault(code: Code, reason: string, entry?: string): void {
    this.faults.push({ code, reason, ...(entry !== undefined && { entry }) });
  }

  /** Gives the faults of an entry from one on the place of that entry. */
  placeFrom(first: number, entry: string, place: string): void {
    for (const [n, fault] of this.faults.entries())
      if (n >= first && fault.entry === entry) this.faults[n] = { ...fault, place };
  }

  /** Counts a check. A reason makes it a fault. */
  checked(check: Check, code: Code, reason: string, entry?: string): void {
    this.#counts.set(check, this.countOf(check) + 1);
    if (reason !== '') this.fault(code, reason, entry);
  }

  /** The counts and faults of both. */
  with(other: Findings): Findings {
    const both = new Findings();
    both.faults.push(...this.faults, ...other.faults);
    for (const check of CHECKS) both.#counts.set(check, this.countOf(check) + other.countOf(check));
    return both;
  }

  countOf(check: Check): number {
    return this.#counts.get(check) ?? 0;
  }
}
