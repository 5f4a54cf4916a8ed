import { ArgumentError, arg, checkArgument } from 'assize/internal/base';
import { type Instant, readInstant, type Time } from 'assize/internal/canon';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import { AGENT_FORM, type ComparedAgent, requireAgents } from './agents.ts';
import type { Architecture } from './architecture.ts';
import { kernel } from './kernel.ts';
import { microservices } from './microservices.ts';

export interface CompareOptions {
  /** Default: `microservices()` and `kernel()`. */
  readonly architectures?: readonly Architecture[];
  /** The agents of every case: 1 to 6. Default: generated ones. */
  readonly agents?: readonly ComparedAgent[];
  /** The number of generated agents of a case: 2 to 6. Default: 2. */
  readonly population?: number;
  /** How often each agent reads and submits in a schedule: 1 to 4. Default: 1. */
  readonly turns?: number;
  /** The most schedules that each architecture runs: 1 to 100,000. Default: 400. */
  readonly schedules?: number;
  /** The same seed, the same cases and schedules. Default: 1. */
  readonly seed?: number;
  /** States to begin with, on which every rule passes. Default: the domain's initial one. */
  readonly states?: readonly unknown[];
  /** The time of all proposals. Default: 2026-06-01T12:00:00.000000Z. */
  readonly at?: Time;
  /** Ends the comparison with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Called after each schedule, with the schedules of all architectures. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** The limits of a comparison. */
export const COMPARE_LIMITS: {
  readonly population: number;
  readonly turns: number;
  readonly schedules: number;
} = Object.freeze({ population: 6, turns: 4, schedules: 100_000 });

const DOMAIN = arg.of('a domain that defineDomain returned', (value) => {
  const { bind, rules } = (value ?? {}) as Partial<Domain>;
  return typeof bind === 'function' && Array.isArray(rules);
});
const OPTIONS = arg.options<CompareOptions>({
  architectures: arg.optional(arg.list(arg.members({ name: arg.text, begin: arg.code }))),
  agents: arg.optional(arg.list(AGENT_FORM)),
  population: arg.optional(arg.wholeFrom(2, COMPARE_LIMITS.population)),
  turns: arg.optional(arg.wholeFrom(1, COMPARE_LIMITS.turns)),
  schedules: arg.optional(arg.wholeFrom(1, COMPARE_LIMITS.schedules)),
  seed: arg.optional(arg.whole),
  states: arg.optional(arg.list(arg.any)),
  at: arg.optional(arg.of('a time', (given) => readInstant(given) !== undefined)),
  signal: arg.optional(arg.object),
  onProgress: arg.optional(arg.code),
});

/** The options with their defaults. */
export type CheckedOptions = Omit<CompareOptions, 'at'> & {
  readonly architectures: readonly Architecture[];
  readonly population: number;
  readonly turns: number;
  readonly schedules: number;
  readonly seed: number;
  readonly at: Instant;
};

const AT: Instant = '2026-06-01T12:00:00.000000Z';

/** @throws ArgumentError `bad_argument`; DuplicatePackageError `duplicate_package` */
export function checkedOptions(domain: Domain, options: CompareOptions): CheckedOptions {
  checkArgument(DOMAIN, domain, 'domain');
  requireOwnDomain(domain);
  checkArgument(OPTIONS, options, 'options');
  requireTogether(domain, options);
  const {
    agents,
    population = agents?.length ?? 2,
    turns = 1,
    schedules = 400,
    seed = 1,
  } = options;
  const { architectures = [microservices(), kernel()] } = options;
  return {
    ...options,
    architectures,
    population,
    turns,
    schedules,
    seed,
    at: readInstant(options.at) ?? AT,
  };
}

/** The checks that need more than one member. */
function requireTogether(
  domain: Domain,
  { agents, population, architectures, states }: CompareOptions,
): void {
  if (agents !== undefined) {
    if (population !== undefined)
      throw bad('population', 'left out with agents; their number is the population');
    if (agents.length === 0 || agents.length > COMPARE_LIMITS.population)
      throw bad('agents', `a list of 1 to ${COMPARE_LIMITS.population} agents`);
    requireAgents(domain, agents);
  }
  if (states?.length === 0) throw bad('states', 'left out, or a list with at least one state');
  const names = architectures?.map(({ name }) => name) ?? [''];
  if (names.length === 0) throw bad('architectures', 'a list with at least one architecture');
  if (new Set(names).size < names.length)
    throw bad('architectures', 'a list of architectures with different names');
}

function bad(option: string, wanted: string): ArgumentError {
  const argument = `options.${option}`;
  return new ArgumentError(
    'bad_argument',
    `The argument ${argument} must be ${wanted}; nothing was done.`,
    {
      evidence: { argument },
    },
  );
}
