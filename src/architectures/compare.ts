import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Json } from '#base';
import { contentHash, type Instant, readInstant } from '#canon';
import type { Domain } from '#kernel';
import { type DomainRun, watched } from '#runtime';
import { type ComparedAgent, GivenAgent } from './agents.ts';
import type { Architecture, Setting } from './architecture.ts';
import { beginnings } from './cases/beginnings.ts';
import { type Case, CaseDrawer } from './cases/cases.ts';
import { isDrawable } from './cases/places.ts';
import { Choices } from './draw/index.ts';
import { ArchitectureError } from './errors.ts';
import { Evaluator } from './evaluator.ts';
import { FigureCounter } from './figures.ts';
import { kernel } from './kernel.ts';
import { microservices } from './microservices.ts';
import { type CompareOptions, requireOptions } from './options.ts';
import type { ArchitectureComparison, ArchitectureFigures } from './report.ts';
import { runSchedule } from './run-schedule.ts';
import { allSchedules, type Schedule, someSchedules } from './schedule.ts';

const AT: Instant = '2026-06-01T12:00:00.000000Z';
/** Generated cases are at least so many, where the number of schedules allows it. */
const CASES_MIN = 10;
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
  requireOptions(domain, options);
  return new Comparison(domain, options).run();
}

/** A case with the schedules that are run in it. */
interface Planned {
  readonly case: Case;
  readonly schedules: readonly Schedule[];
}

class Comparison {
  readonly #domain: Domain;
  readonly #options: CompareOptions;
  readonly #evaluator: Evaluator;
  readonly #choices: Choices;
  readonly #at: Instant;

  constructor(domain: Domain, options: CompareOptions) {
    this.#domain = domain;
    this.#options = options;
    this.#at = readInstant(options.at) ?? AT;
    this.#evaluator = new Evaluator(domain, this.#at, watchedBy(domain, options));
    this.#choices = new Choices(2 * (options.seed ?? 1));
  }

  async run(): Promise<ArchitectureComparison> {
    const { agents, turns = 1, seed = 1, architectures = [microservices(), kernel()] } = this.#options;
    const starts = beginnings(this.#evaluator, this.#options.states);
    const plan = agents === undefined ? await this.#generated(starts) : this.#given(starts, agents);
    const figures = await this.#figuresOf(architectures, plan.cases);
    if (figures.every(({ proposals }) => proposals === 0)) throw noProposals();
    const { name, version, hash } = this.#domain;
    return {
      domain: { name, version, hash },
      seed,
      agents: agents === undefined ? 'generated' : 'given',
      ...{ population: plan.population, turns, cases: plan.cases.length, schedules: countOf(plan.cases) },
      contended_cases: plan.cases.filter(({ case: { isContended } }) => isContended === true).length,
      exhaustive: plan.isExhaustive,
      left_out: agents === undefined ? this.#leftOut() : [],
      architectures: figures,
    };
  }

  #leftOut(): readonly string[] {
    return Object.keys(this.#domain.actions).filter((action) => !isDrawable(this.#domain, action));
  }

  // ── the cases ──

  #given(starts: readonly Json[], given: readonly ComparedAgent[]): Plan {
    const agents = given.map((agent) => new GivenAgent(agent));
    const { schedules: most = 400 } = this.#options;
    const each = Math.max(1, Math.floor(most / starts.length));
    const all = this.#all(given.length, each);
    const cases = starts.slice(0, most).map((start) => ({
      case: { start, reachedBy: [], agents },
      schedules: all ?? this.#some(given.length, each),
    }));
    return { population: given.length, isExhaustive: all !== undefined && starts.length <= most, cases };
  }

  /** @throws ArchitectureError `no_proposals` */
  async #generated(starts: readonly Json[]): Promise<Plan> {
    const { population = 2, schedules: most = 400 } = this.#options;
    const drawer = await CaseDrawer.on(this.#evaluator, starts, this.#choices, () => this.#pause());
    const each = Math.max(1, Math.ceil(most / CASES_MIN));
    const all = this.#all(population, each);
    const cases: Planned[] = [];
    for (let left = most; left > 0; ) {
      const drawn = drawer.next(population);
      if (drawn === undefined) break;
      const schedules = (all ?? this.#some(population, each)).slice(0, left);
      cases.push({ case: drawn, schedules });
      left -= schedules.length;
    }
    if (cases.length === 0) throw noProposals();
    return { population, isExhaustive: cases.every(({ schedules }) => schedules.length === all?.length), cases };
  }

  #all(agents: number, most: number): readonly Schedule[] | undefined {
    return allSchedules(agents, this.#options.turns ?? 1, most);
  }

  #some(agents: number, count: number): readonly Schedule[] {
    return someSchedules(agents, this.#options.turns ?? 1, count, this.#choices);
  }

  // ── the runs ──

  async #figuresOf(
    architectures: readonly Architecture[],
    cases: readonly Planned[],
  ): Promise<readonly ArchitectureFigures[]> {
    const total = countOf(cases) * architectures.length;
    const figures: ArchitectureFigures[] = [];
    let done = 0;
    for (const architecture of architectures) {
      const counter = new FigureCounter();
      const setting = this.#setting(counter);
      for (const { case: of, schedules } of cases)
        for (const schedule of schedules) {
          if (done % PAUSE_EACH === 0) await this.#pause();
          counter.count(of, schedule, await runSchedule(architecture, of, schedule, this.#evaluator, setting));
          this.#options.onProgress?.(++done, total);
        }
      figures.push(await counter.figures({ architecture, evaluator: this.#evaluator, setting }));
    }
    return figures;
  }

  #setting({ onQuestion }: FigureCounter): Omit<Setting, 'start'> {
    const { signal, watch } = this.#options;
    return {
      ...{ domain: this.#domain, at: this.#at, onQuestion },
      evaluate: (state, proposal) => this.#evaluator.evaluate(state, proposal),
      ...(signal !== undefined && { signal }),
      ...(watch !== undefined && { watch }),
    };
  }

  /** Other work of the process goes on. */
  async #pause(): Promise<void> {
    await nextTurn();
    this.#options.signal?.throwIfAborted();
  }
}

interface Plan {
  readonly population: number;
  readonly isExhaustive: boolean;
  readonly cases: readonly Planned[];
}

/** The same run for the same domain and numbers. */
function watchedBy(domain: Domain, options: CompareOptions): <T>(code: () => T) => T {
  const { watch, seed = 1, schedules = 400, population = 2, turns = 1 } = options;
  const id = contentHash({ seed, schedules, population, turns });
  const run: DomainRun = { step: 'comparison', trajectoryId: domain.name, domain: domain.hash, id };
  return (code) => watched(watch, () => run, code);
}

function countOf(cases: readonly Planned[]): number {
  return cases.reduce((sum, { schedules }) => sum + schedules.length, 0);
}

function noProposals(): ArchitectureError {
  const message = 'No agent proposes anything on the starting states. Pass other states, or other agents.';
  return new ArchitectureError('no_proposals', message);
}
