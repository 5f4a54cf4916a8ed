import type { Figure } from '../evidence/figures.ts';
import type { Evidence } from '../evidence/gather.ts';
import { type Example, type Tally, together } from '../evidence/tally.ts';

/**
 * `shown`: entries of the ledger show it. `gap`: they do not, and `remedy` says what to do.
 * `none`: nothing of the kind happened in the period, which alone shows nothing.
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

/** How a reader checks a figure without this report: a command, and a request to a server. */
export interface Proof {
  readonly command: string;
  readonly api?: string;
}

/** One question to the evidence. Several clauses may ask it. */
export interface Measure {
  readonly id: string;
  readonly title: string;
  readonly proof: Proof;
  readonly find: (evidence: Evidence) => Finding;
}

export const LIST_ENTRIES: Proof = {
  command: 'assize log TRAJECTORY',
  api: 'GET /v1/trajectories/{trajectory}/entries',
};

/** The number of entries of some kinds. None of them is no gap: it may not have been needed. */
export function events(
  id: string,
  title: string,
  noun: readonly [one: string, many: string],
  figures: readonly Figure[],
  proof: Proof = LIST_ENTRIES,
): Measure {
  return { id, title, proof, find: (evidence) => happened(tallyOf(evidence, ...figures), noun) };
}

export function happened({ count, examples }: Tally, [one, many]: readonly [string, string]): Finding {
  const figure = `${number(count)} ${count === 1 ? one : many}`;
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
  return together(...figures.map((figure) => collected.tallies.of(figure)));
}

export function number(count: number): string {
  return count.toLocaleString('en');
}

export function plural(count: number, one: string, many: string): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}
