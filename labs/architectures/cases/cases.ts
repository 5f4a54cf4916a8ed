import type { Json } from 'assize/internal/base';
import type { Intent } from 'assize/internal/kernel';
import { type Decider, GeneratedAgent } from '../agents.ts';
import type { AgentProposal } from '../architecture.ts';
import type { Choices } from '../draw/index.ts';
import type { Evaluator } from '../evaluator.ts';
import { type ContendedPair, contendedPairs } from './contention.ts';
import { type Place, reachedPlaces, workerName } from './places.ts';

/** A starting state with the agents that begin there. */
export interface Case {
  readonly start: Json;
  /** The proposals that lead there. */
  readonly reachedBy: readonly AgentProposal[];
  readonly agents: readonly Decider[];
  /** Whether two of its proposals break a rule together. Undefined for given agents. */
  readonly isContended?: boolean;
}

/** The most proposals that a generated agent chooses from. */
const WISHES_MAX = 3;
/** Repeated draws in a row, after which no further case is drawn. */
const REPEATED_MAX = 50;

type Wishes = readonly [Intent, ...Intent[]];

/**
 * Draws cases of generated agents. Every other case has two proposals that break a rule together,
 * with each such rule in turn. The others are drawn without regard to that.
 */
export class CaseDrawer {
  readonly #places: readonly Place[];
  /** The pairs that break each rule, by rule. */
  readonly #contended: readonly (readonly ContendedPair[])[];
  readonly #choices: Choices;
  readonly #drawn: Set<string> = new Set();
  #turn = 0;

  private constructor(
    places: readonly Place[],
    contended: readonly (readonly ContendedPair[])[],
    choices: Choices,
  ) {
    this.#places = places;
    this.#contended = contended;
    this.#choices = choices;
  }

  /** Finds the states and the pairs that break a rule together, from which cases are drawn. */
  static async on(
    evaluator: Evaluator,
    starts: readonly Json[],
    choices: Choices,
    pause: () => Promise<void>,
  ): Promise<CaseDrawer> {
    const places = await reachedPlaces(evaluator, starts, choices, pause);
    const contended = await contendedPairs(evaluator, places, choices, pause);
    return new CaseDrawer(places, [...contended.values()], choices);
  }

  /** A case with this number of agents. Undefined after many draws that repeat earlier cases. */
  next(population: number): Case | undefined {
    if (this.#places.length === 0) return undefined;
    for (let draw = 0; draw < REPEATED_MAX; draw++) {
      const rules = this.#contended.length;
      const turn = this.#turn++;
      const pairs = turn % 2 === 0 && rules > 0 ? this.#contended[(turn / 2) % rules] : undefined;
      const pair = pairs && this.#choices.oneOf(pairs);
      const place = pair?.place ?? this.#choices.oneOf(this.#places);
      const wishes = this.#shuffled(
        this.#wishes(place, pair === undefined ? [] : [pair.first, pair.second], population),
      );
      const text = JSON.stringify([place.reachedBy, place.state, wishes]);
      if (this.#drawn.has(text)) continue;
      this.#drawn.add(text);
      const { state: start, reachedBy } = place;
      return { start, reachedBy, agents: agentsOf(wishes), isContended: pair !== undefined };
    }
    return undefined;
  }

  /**
   * The wishes of each agent, the wanted ones first. Agents are different workers where the state
   * has enough of them.
   */
  #wishes({ workers }: Place, wanted: readonly Intent[], population: number): readonly Wishes[] {
    const own = (first: Intent): Wishes => {
      const others = (workers.get(workerName(first.role)) ?? []).filter(
        (intent) => intent !== first,
      );
      return [first, ...this.#shuffled(others).slice(0, this.#choices.below(WISHES_MAX))];
    };
    const busy = new Set(wanted.map(({ role }) => workerName(role)));
    const free = this.#shuffled([...workers].filter(([name]) => !busy.has(name)));
    const rest = free.length > 0 ? free : this.#shuffled([...workers]);
    const others = Array.from({ length: population - wanted.length }, (_, i) => {
      const [, intents] = rest[i % rest.length] as (typeof rest)[number];
      return own(this.#choices.oneOf(intents));
    });
    return [...wanted.map(own), ...others];
  }

  #shuffled<T>(list: readonly T[]): T[] {
    const left = [...list];
    return list.map(() => left.splice(this.#choices.below(left.length), 1)[0] as T);
  }
}

/** Agents with the names of their workers. The second one of a worker has a number. */
function agentsOf(wishes: readonly Wishes[]): readonly GeneratedAgent[] {
  const counts = new Map<string, number>();
  return wishes.map((own) => {
    const name = workerName(own[0].role);
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    return new GeneratedAgent(count === 1 ? name : `${name} ${count}`, own);
  });
}
