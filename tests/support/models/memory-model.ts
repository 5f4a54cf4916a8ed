/**
 * The expected facts of a memory, computed naively. Valid time is twelve cells, each cell is
 * decided separately, and every change stores a complete new picture. Shares no code with
 * `packages/assize/src/memory`.
 */

export const CELLS = 12;

/** An assertion: its claim and its cells. */
export interface AssertedCells {
  readonly claim: string;
  readonly object: string;
  readonly confidence: number;
  /** The first cell, and the one after the last. */
  readonly from: number;
  readonly to: number;
  readonly token: string;
}

export type MemoryOperation =
  | { readonly verb: 'assert'; readonly batch: readonly AssertedCells[] }
  | { readonly verb: 'change'; readonly said: AssertedCells }
  | { readonly verb: 'correct'; readonly said: AssertedCells; readonly was?: string }
  | {
      readonly verb: 'retract';
      readonly from: number;
      readonly to: number;
      readonly object?: string;
    };

export interface Rules {
  readonly strategy: 'lww' | 'lww-valid' | 'evi' | 'await' | 'rule';
  readonly isSingle: boolean;
  readonly keeps: boolean;
  /** Whether a chosen fact also rests on the answer. Its chosen cells are then a separate fact. */
  readonly trusts?: boolean;
}

/** One version of a fact. */
export interface Fact {
  readonly object: string;
  readonly confidence: number;
  readonly claim: string;
  readonly seq: number;
  readonly since: number;
  readonly tokens: readonly string[];
  readonly cells: readonly number[];
}

/** The losing and the winning assertion of a cell, with all tokens there. */
export interface LostContradiction {
  readonly cell: number;
  readonly loser: string;
  readonly winner: string;
  readonly objects: readonly string[];
  readonly tokens: readonly string[];
}

/** The claim that a judge elects, of those that are there in alphabetical order. */
export type Judge = (claims: readonly string[]) => string;

interface Side {
  object: string;
  facts: Fact[];
  isNew: (fact: Fact) => boolean;
  /** The trust in the answer that chose it. */
  trust?: string;
}

export class MemoryModel {
  facts: readonly Fact[] = [];
  losses: readonly LostContradiction[] = [];

  readonly #rules: Rules;
  readonly #judge: Judge;

  constructor(rules: Rules, judge: Judge) {
    this.#rules = rules;
    this.#judge = judge;
  }

  do(deed: MemoryOperation, seq: number): void {
    if (deed.verb === 'assert') this.#write(this.facts, deed.batch, seq, this.#rules.keeps);
    if (deed.verb === 'change') this.#write(this.facts, [deed.said], seq, true);
    if (deed.verb === 'correct') {
      const { said, was } = deed;
      const wrong = this.facts.filter(({ object }) => object === was).flatMap(({ cells }) => cells);
      const corrected = { ...said, only: was === undefined ? undefined : wrong };
      this.#write(this.#without(said.from, said.to, was), [corrected], seq, true, this.facts);
    }
    if (deed.verb === 'retract')
      this.#write(this.#without(deed.from, deed.to, deed.object), [], seq, true, this.facts);
  }

  /** Removes cells from the facts. A fact that is then in two pieces stays the same fact. */
  #without(from: number, to: number, object: string | undefined): Fact[] {
    return this.facts.map((fact) =>
      object === undefined || fact.object === object
        ? { ...fact, cells: fact.cells.filter((cell) => cell < from || cell >= to) }
        : fact,
    );
  }

  /** `only`: in no other cells. */
  #write(
    old: readonly Fact[],
    batch: readonly (AssertedCells & { readonly only?: readonly number[] | undefined })[],
    seq: number,
    keeps: boolean,
    before = old,
  ): void {
    const news = batch.map(
      ({ claim, object, confidence, from, to, token, only }): Fact => ({
        object,
        confidence,
        claim,
        seq,
        since: from,
        tokens: [token],
        cells: Array.from({ length: to - from }, (_, i) => from + i).filter(
          (cell) => only?.includes(cell) ?? true,
        ),
      }),
    );
    const start = (fact: Fact): number => Math.min(...before[old.indexOf(fact)]!.cells);
    const isNew = (fact: Fact): boolean => news.includes(fact);
    const pictures: Side[][] = [];
    const contested: boolean[] = [];
    const losers = new Set<Fact>();
    const losses: LostContradiction[] = [];
    for (let cell = 0; cell < CELLS; cell++) {
      const there = [...old, ...news].filter(({ cells }) => cells.includes(cell));
      const sides = [...new Set(there.map(({ object }) => object))].map(
        (object): Side => ({
          object,
          facts: there.filter((fact) => fact.object === object),
          isNew,
        }),
      );
      contested[cell] = this.#rules.isSingle && sides.length > 1;
      if (!contested[cell]) {
        pictures[cell] = sides;
        continue;
      }
      const winner = this.#winner(sides);
      pictures[cell] = [this.#trusted(winner, sides)];
      for (const side of sides) {
        if (side === winner) continue;
        for (const fact of side.facts) losers.add(fact);
        losses.push({
          cell,
          loser: this.#head(side, start).claim,
          winner: this.#head(winner, start).claim,
          objects: sides.map(({ object }) => object).sort(),
          tokens: there.flatMap(({ tokens }) => tokens).sort(),
        });
      }
    }
    if (!keeps) {
      for (let cell = 0; cell < CELLS; cell++) {
        if (contested[cell]) continue;
        pictures[cell] = pictures[cell]!.map((side) => ({
          ...side,
          facts: side.facts.filter((fact) => !losers.has(fact)),
        })).filter(({ facts }) => facts.length > 0);
      }
    }
    this.losses = [...this.losses, ...losses];
    this.facts = this.#painted(pictures, start);
  }

  #painted(pictures: readonly Side[][], start: (fact: Fact) => number): Fact[] {
    const painted: Fact[] = [];
    for (const object of new Set(pictures.flat().map((side) => side.object))) {
      let run: { head: Fact; fact: Fact & { cells: number[] } } | undefined;
      for (let cell = 0; cell < CELLS; cell++) {
        const side = pictures[cell]!.find((one) => one.object === object);
        if (side === undefined) {
          run = undefined;
          continue;
        }
        const head = this.#head(side, start);
        const { confidence } = this.#best(side.facts);
        const tokens = side.facts
          .flatMap((fact) => fact.tokens.map((token) => product(token, side.trust)))
          .sort();
        const goesOn =
          run?.head === head &&
          run.fact.confidence === confidence &&
          run.fact.tokens.join() === tokens.join();
        if (!goesOn) {
          const { claim, seq, since } = head;
          run = { head, fact: { object, confidence, claim, seq, since, tokens, cells: [] } };
          painted.push(run.fact);
        }
        run!.fact.cells.push(cell);
      }
    }
    return painted;
  }

  /**
   * The fact that names a side: by valid time the best one, otherwise the existing fact that starts
   * first, else the best new fact.
   */
  #head({ facts, isNew }: Side, start: (fact: Fact) => number): Fact {
    const old = facts.filter((fact) => !isNew(fact));
    if (old.length === 0 || this.#rules.strategy === 'lww-valid') return this.#best(facts);
    return old.reduce((first, next) => (start(next) < start(first) ? next : first));
  }

  #winner(sides: readonly Side[]): Side {
    // In a cell at most one fact of a side is believed already.
    const standing = sides.map((side) => {
      const head = this.#head(side, () => 0);
      return { side, as: { ...head, confidence: this.#best(side.facts).confidence } };
    });
    if (this.#rules.strategy === 'await' || this.#rules.strategy === 'rule') {
      const claim = this.#judge(standing.map(({ as }) => as.claim).sort());
      return standing.find(({ as }) => as.claim === claim)!.side;
    }
    const best = this.#best(standing.map(({ as }) => as));
    return standing.find(({ as }) => as === best)!.side;
  }

  /** A fact that stood before does not rest on the answer that left it standing. */
  #trusted(winner: Side, sides: readonly Side[]): Side {
    const { strategy, trusts } = this.#rules;
    const isChosen =
      (strategy === 'await' || strategy === 'rule') && winner.facts.some(winner.isNew);
    if (trusts !== true || !isChosen) return winner;
    const question = sides.map(({ facts }) =>
      facts
        .map(({ claim, confidence, cells }) =>
          JSON.stringify([claim, confidence, cells[0], cells.length]),
        )
        .sort(),
    );
    return {
      ...winner,
      trust: strategy === 'await' ? 'approver' : `judge ${question.map(String).sort().join(' ')}`,
    };
  }

  #best(facts: readonly Fact[]): Fact {
    const rank = (fact: Fact): (number | string)[] => [
      ...(this.#rules.strategy === 'evi' ? [fact.confidence] : []),
      ...(this.#rules.strategy === 'lww-valid' ? [fact.since] : []),
      fact.seq,
      fact.claim,
    ];
    return [...facts].sort((a, b) => {
      const [as, bs] = [rank(a), rank(b)];
      const i = as.findIndex((one, at) => one !== bs[at]);
      return i < 0 ? 0 : as[i]! > bs[i]! ? -1 : 1;
    })[0]!;
  }
}

/** The factors of a token in order. A repeated trust counts twice. */
function product(token: string, trust: string | undefined): string {
  return trust === undefined ? token : [...token.split('*'), trust].sort().join('*');
}
