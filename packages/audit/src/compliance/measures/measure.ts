import type { Figure } from '../evidence/figures.ts';
import type { Evidence } from '../evidence/gather.ts';
import { type Example, sumOf, type Tally } from '../evidence/tally.ts';
import type { Proof } from './proofs.ts';

/**
 * `shown`: entries of the ledger show it. `gap`: they do not, and `remedy` says what to do. `none`:
 * nothing of the kind happened in the period. That alone shows nothing.
 */
export type Status = 'shown' | 'gap' | 'none';

export interface Finding {
  readonly status: Status;
  /** One line: `12 entries of 3 trajectories`. It may contain names of principals: escape it. */
  readonly figure: string;
  readonly examples?: readonly Example[];
  /** Present for a gap. */
  readonly remedy?: string;
}

/** One question to the evidence. Several clauses may ask it. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly proof: Proof;
  readonly find: (evidence: Evidence) => Finding;
}

/** The number of entries of some kinds. Zero is not a gap: none may have been needed. */
export function events(
  id: string,
  title: string,
  noun: readonly [one: string, many: string],
  figures: readonly Figure[],
  proof: Proof,
): Measure {
  return { id, title, proof, find: (evidence) => happened(tallyOf(evidence, ...figures), noun) };
}

/** The number of entries as the figure: `3 refusals`. */
export function happened(tally: Tally, [one, many]: readonly [one: string, many: string]): Finding {
  return shownBy(tally, plural(tally.count, one, many));
}

/** Shown if there are entries, and none otherwise. */
export function shownBy({ count, examples }: Tally, figure: string): Finding {
  return count === 0 ? { status: 'none', figure } : { status: 'shown', figure, examples };
}

/** A duty that no ledger shows. It is a gap of the report, to be closed by other documents. */
export function outside(id: string, title: string, remedy: string): Measure {
  return {
    id: `outside.${id}`,
    title,
    proof: { command: 'none: this is outside of the ledger' },
    find: () => ({ status: 'gap', figure: 'outside of the ledger', remedy }),
  };
}

export function tallyOf({ collected }: Evidence, ...figures: readonly Figure[]): Tally {
  return sumOf(...figures.map((figure) => collected.tallies.of(figure)));
}

/** The most names in a figure. */
const NAMES_MAX = 5;

/** The first names, and the number of the others: `ada, bob and 3 more`. */
export function namesText(names: readonly string[]): string {
  const others = names.length - NAMES_MAX;
  return `${names.slice(0, NAMES_MAX).join(', ')}${others > 0 ? ` and ${number(others)} more` : ''}`;
}

/** `1,234`. */
export function number(count: number): string {
  return count.toLocaleString('en');
}

/** `1 entry`, `1,234 entries`. */
export function plural(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
