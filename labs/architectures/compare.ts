import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Domain } from 'assize/internal/kernel';
import type { Setting } from './architecture.ts';
import { isDrawable } from './cases/places.ts';
import {
  type CasePlan,
  generatedCases,
  givenCases,
  noProposals,
  type PlannedCase,
} from './cases/plan-cases.ts';
import { startingStates } from './cases/starting-states.ts';
import { Choices } from './draw/index.ts';
import { Evaluator } from './evaluator.ts';
import { FigureCounter } from './figures.ts';
import { type CheckedOptions, type CompareOptions, checkedOptions } from './options.ts';
import type { ArchitectureComparison, ArchitectureFigures } from './report.ts';
import { runSchedule } from './run-schedule.ts';

/** Schedules between two looks at the event loop. */
const PAUSE_EACH = 8;

/**
 * Runs the same agents in the same schedules under several architectures, and counts the committed
 * states that break a rule (Agentic Redux, Definitions A.33 and A.55). In a schedule, an agent
 * reads and submits at two different times, and other agents submit in between.
 *
 * The result depends on the domain, the options and the answers of models alone. It holds for the
 * schedules that were run, and no further. Nothing is written, and no tool is called.
 *
 * @throws ArchitectureError; ArgumentError `bad_argument`; the errors of a model, such as
 * ModelError `unreachable`; the reason of the signal
 */
export async function compareArchitectures(
  domain: Domain<any, any, any>,
  options: CompareOptions = {},
): Promise<ArchitectureComparison> {
  return new Comparison(domain, checkedOptions(domain, options)).run();
}

class Comparison {
  readonly #domain: Domain;
  readonly #options: CheckedOptions;
  readonly #evaluator: Evaluator;
  readonly #choices: Choices;

  constructor(domain: Domain, options: CheckedOptions) {
    this.#domain = domain;
    this.#options = options;
    this.#evaluator = new Evaluator(domain, options.at);
    // Two seeds that differ only in their last bit are one seed of `Choices`.
    this.#choices = new Choices(2 * options.seed);
  }

  async run(): Promise<ArchitectureComparison> {
    const { agents, population, turns, seed } = this.#options;
    const { cases, isExhaustive } = await this.#plan();
    const architectures = await this.#figuresOf(cases);
    if (architectures.every(({ proposals }) => proposals === 0)) throw noProposals();
    const { name, version, hash } = this.#domain;
    return {
      domain: { name, version, hash },
      seed,
      agents: agents === undefined ? 'generated' : 'given',
      ...{ population, turns, cases: cases.length, schedules: countOf(cases) },
      contended_cases: cases.filter(({ case: { isContended } }) => isContended === true).length,
      exhaustive: isExhaustive,
      left_out: agents === undefined ? this.#leftOut() : [],
      architectures,
    };
  }

  async #plan(): Promise<CasePlan> {
    const { agents, states } = this.#options;
    const starts = startingStates(this.#evaluator, states);
    return agents === undefined
      ? generatedCases(this.#evaluator, starts, this.#options, this.#choices, () => this.#pause())
      : givenCases(starts, agents, this.#options, this.#choices);
  }

  #leftOut(): readonly string[] {
    return Object.keys(this.#domain.actions).filter((action) => !isDrawable(this.#domain, action));
  }

  async #figuresOf(cases: readonly PlannedCase[]): Promise<readonly ArchitectureFigures[]> {
    const { architectures, onProgress } = this.#options;
    const total = countOf(cases) * architectures.length;
    const figures: ArchitectureFigures[] = [];
    let done = 0;
    for (const architecture of architectures) {
      const counter = new FigureCounter();
      const setting = this.#setting(counter);
      for (const { case: tried, schedules } of cases)
        for (const schedule of schedules) {
          if (done % PAUSE_EACH === 0) await this.#pause();
          counter.count(
            tried,
            schedule,
            await runSchedule(architecture, tried, schedule, this.#evaluator, setting),
          );
          onProgress?.(++done, total);
        }
      figures.push(await counter.figures({ architecture, evaluator: this.#evaluator, setting }));
    }
    return figures;
  }

  #setting({ onQuestion }: FigureCounter): Omit<Setting, 'start'> {
    const { at, signal } = this.#options;
    return {
      ...{ domain: this.#domain, at, onQuestion },
      evaluate: (state, proposal) => this.#evaluator.evaluate(state, proposal),
      ...(signal !== undefined && { signal }),
    };
  }

  /** Lets other work of the process go on. */
  async #pause(): Promise<void> {
    await nextTurn();
    this.#options.signal?.throwIfAborted();
  }
}

function countOf(cases: readonly PlannedCase[]): number {
  return cases.reduce((sum, { schedules }) => sum + schedules.length, 0);
}
