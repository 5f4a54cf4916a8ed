import { toPointer } from 'assize/internal/canon';
import type { Scalar } from '../rule.ts';

/** One call, or one value of its arguments, in a run. */
export interface Case {
  readonly tool: string;
  /** With a value: its place in the arguments. */
  readonly path?: string;
  readonly value?: Scalar;
  /** The index of the call in its run. */
  readonly at: number;
  readonly isDone: boolean;
  readonly isLetThrough: boolean;
}

/** A tool, or a place in its arguments. */
interface Subject {
  readonly tool: string;
  readonly path?: string;
}

interface Later extends Subject {
  /** Cases by value. */
  readonly values: Map<Scalar, number>;
  readonly runs: Set<string>;
}

/** A case in which both tools were called. */
interface Both {
  /** Numbers of calls. */
  readonly earlier: number;
  readonly later: number;
  readonly isFirst: boolean;
}

interface OrderedPair {
  readonly needs: Subject;
  readonly later: Later;
  readonly both: readonly Both[];
  /** The cases of the later tool, with those in which the earlier one was not called. */
  readonly all: number;
}

/** The occurrences of a subject in one case. */
interface Occurrence {
  readonly subject: Subject;
  done: number;
  firstDone: number;
  letThrough: number;
  firstLetThrough: number;
}

/** A value at more places of one run names nothing. */
const SUBJECTS_MAX = 20;
/** Names of arguments come from calls, so their pairs are bounded. Later pairs are left out. */
const PAIRS_MAX = 100_000;

/** Counts the cases of pairs of tools that were called with the same value in one run. */
export class Cases {
  readonly #laters: Map<string, Later> = new Map();
  readonly #pairs: Map<
    string,
    { readonly needs: Subject; readonly later: string; readonly both: Both[] }
  > = new Map();

  /** Adds the cases of one run. */
  add(run: string, cases: readonly Case[]): void {
    const byValue = new Map<Scalar | undefined, Map<string, Occurrence>>();
    for (const one of cases) {
      const occurrences = byValue.get(one.value) ?? new Map<string, Occurrence>();
      byValue.set(one.value, occurrences);
      count(occurrences, one);
    }
    for (const [value, occurrences] of byValue)
      if (value === undefined || occurrences.size <= SUBJECTS_MAX)
        this.#addCase(run, value, occurrences);
  }

  pairs(): OrderedPair[] {
    return [...this.#pairs.values()].map(({ needs, later: key, both }) => {
      const later = this.#laters.get(key) as Later;
      return {
        needs,
        later,
        both,
        all: [...later.values.values()].reduce((sum, each) => sum + each, 0),
      };
    });
  }

  #addCase(
    run: string,
    value: Scalar | undefined,
    occurrences: ReadonlyMap<string, Occurrence>,
  ): void {
    for (const [key, later] of occurrences) {
      if (later.letThrough === 0) continue;
      const known = this.#laters.get(key) ?? {
        ...later.subject,
        values: new Map(),
        runs: new Set(),
      };
      this.#laters.set(key, known);
      known.values.set(value ?? null, (known.values.get(value ?? null) ?? 0) + 1);
      known.runs.add(run);
      for (const [needsKey, needs] of occurrences) {
        if (needs.done === 0 || needs.subject.tool === later.subject.tool) continue;
        const pairKey = toPointer([needsKey, key]);
        if (this.#pairs.size >= PAIRS_MAX && !this.#pairs.has(pairKey)) continue;
        const pair = this.#pairs.get(pairKey) ?? { needs: needs.subject, later: key, both: [] };
        this.#pairs.set(pairKey, pair);
        const isFirst = needs.firstDone < later.firstLetThrough;
        pair.both.push({ earlier: needs.done, later: later.letThrough, isFirst });
      }
    }
  }
}

function count(
  occurrences: Map<string, Occurrence>,
  { tool, path, at, isDone, isLetThrough }: Case,
): void {
  const key = path === undefined ? tool : toPointer([tool, path]);
  const subject = path === undefined ? { tool } : { tool, path };
  const one = occurrences.get(key) ?? {
    subject,
    done: 0,
    firstDone: Infinity,
    letThrough: 0,
    firstLetThrough: Infinity,
  };
  occurrences.set(key, one);
  if (isDone) {
    one.done++;
    one.firstDone = Math.min(one.firstDone, at);
  }
  if (isLetThrough) {
    one.letThrough++;
    one.firstLetThrough = Math.min(one.firstLetThrough, at);
  }
}
