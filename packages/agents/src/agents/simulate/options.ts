import { isToolName, type Policy } from 'assize/internal/authority';
import { arg, checkArgument } from 'assize/internal/base';
import type { Tool } from 'assize/internal/effects';
import { type Domain, requireOwnDomain } from 'assize/internal/kernel';
import type { EffectStore } from 'assize/internal/ledger';
import type { OracleStore } from 'assize/internal/oracle';
import type { AssizeOptions } from 'assize/internal/runtime';
import { type Agent, populationOf } from '../agent.ts';
import type { ReplayedLedger } from '../replay-store.ts';
import type { RunOptions } from '../run.ts';
import { badOption } from './bad-option.ts';
import { checkPeople, type People } from './people.ts';
import { checkSimulator, type ToolSimulator } from './simulators.ts';

/** A production trajectory with its logs. Nothing of it is written. */
export interface SimulationSource {
  /** Without an effect log, no call is answered from the record. */
  readonly store: ReplayedLedger &
    Partial<Pick<EffectStore, 'listEffects' | 'effectsOf' | 'effectKey'>>;
  readonly oracleStore: Pick<OracleStore, 'oracleGet'>;
  readonly trajectoryId: string;
}

/** Another way to continue the trajectory. */
export interface Variant {
  /** 1 to 64 characters; the same name twice is refused. */
  readonly name: string;
  /**
   * The agents that continue the run. Their functions are called; a model that they ask is asked.
   */
  readonly agents: readonly Agent[];
  /** Another version of the domain. The copy is upgraded to it first. Default: `domain`. */
  readonly domain?: Domain;
  /** Default: the policy of the options. Null: none. */
  readonly policy?: Policy | null;
  /** Other declarations of tools, by name. Their functions are not called either. */
  readonly tools?: readonly Tool[];
  /** As in `RunOptions`: the order of the agents. */
  readonly arbiter?: RunOptions['arbiter'];
  readonly concurrent?: boolean;
  /** Decides pending proposals. Default: `as_recorded`. */
  readonly people?: People;
  /** Asks every question again, also if the record has its answer. Default: false. */
  readonly fresh?: boolean;
}

export interface SimulateOptions extends Pick<AssizeOptions, 'anchors' | 'policy' | 'signer'> {
  /** The domain of the trajectory, in the version in force at `at`. */
  readonly domain: Domain;
  /**
   * The tools of the trajectory: their declarations. No function of theirs that acts is called.
   */
  readonly tools?: readonly Tool[];
  /**
   * The last entry that the branch shares with the record: its seq or its id. Outcomes of calls
   * that directly follow it are shared too. Default: 0.
   */
  readonly at?: number | string;
  readonly variants: readonly Variant[];
  /** By tool: the answers to calls that the record does not have. */
  readonly simulators?: { readonly [tool: string]: ToolSimulator };
  /** Samples of each variant: 1 to 1,000. Default: 1. */
  readonly samples?: number;
  /** The start of all chance. Default: 0. */
  readonly seed?: number | string;
  readonly limits?: SimulationLimits;
  /**
   * Keeps the answers of models and other questions, so that a repeated simulation does not ask
   * again. The production store is refused. Default: in memory, for this simulation.
   */
  readonly record?: OracleStore;
  /** Ends the simulation with the reason of the signal. */
  readonly signal?: AbortSignal;
}

export interface SimulationLimits {
  /** Turns of one sample: 1 to 100,000. Default: 1,000. */
  readonly turns?: number;
  /** How often the clock of one sample moves on to the end of a wait. Default: 100. */
  readonly waits?: number;
}

export const SAMPLES_MAX = 1_000;
const TURNS = 1_000;
const TURNS_MAX = 100_000;
const WAITS = 100;
const VARIANTS_MAX = 100;
const NAME_MAX = 64;

const SOURCE = arg.members({ store: arg.object, oracleStore: arg.object, trajectoryId: arg.text });

const VARIANT = arg.options<Variant>({
  name: arg.text,
  agents: arg.list(arg.object),
  domain: arg.optional(arg.members({ hash: arg.text, roles: arg.object })),
  policy: arg.any,
  tools: arg.optional(arg.list(arg.members({ name: arg.text, spec: arg.object }))),
  arbiter: arg.optional(arg.code),
  concurrent: arg.optional(arg.flag),
  people: arg.any,
  fresh: arg.optional(arg.flag),
});

const OPTIONS = arg.options<SimulateOptions>({
  domain: arg.members({ hash: arg.text, roles: arg.object }),
  anchors: arg.list(arg.text),
  policy: arg.optional(arg.members({ evaluate: arg.code })),
  signer: arg.optional(arg.object),
  tools: arg.optional(arg.list(arg.members({ name: arg.text, spec: arg.object }))),
  at: arg.any,
  variants: arg.list(VARIANT),
  simulators: arg.optional(arg.object),
  samples: arg.any,
  seed: arg.any,
  limits: arg.optional(arg.options<SimulationLimits>({ turns: arg.any, waits: arg.any })),
  record: arg.optional(arg.members({ oracleGet: arg.code, oraclePut: arg.code })),
  signal: arg.optional(arg.object),
});

/** The options with their defaults. */
export interface CheckedOptions extends SimulateOptions {
  readonly tools: readonly Tool[];
  readonly simulators: { readonly [tool: string]: ToolSimulator };
  readonly samples: number;
  readonly seed: number | string;
  readonly limits: Required<SimulationLimits>;
}

/**
 * @throws ArgumentError `bad_argument`; AgentError `bad_argument`; DuplicatePackageError
 * `duplicate_package`
 */
export function checkedOptions(source: SimulationSource, given: SimulateOptions): CheckedOptions {
  checkArgument(SOURCE, source, 'source');
  checkArgument(OPTIONS, given, 'options');
  const {
    domain,
    variants,
    samples = 1,
    seed = 0,
    tools = [],
    simulators = {},
    limits = {},
  } = given;
  const { turns = TURNS, waits = WAITS } = limits;
  requireOwnDomain(domain);
  checkWhole('samples', samples, 1, SAMPLES_MAX);
  checkWhole('limits.turns', turns, 1, TURNS_MAX);
  checkWhole('limits.waits', waits, 0, TURNS_MAX);
  if (typeof seed !== 'string' && !Number.isSafeInteger(seed))
    throw badOption('seed must be a text or a whole number');
  checkVariants(variants, domain);
  for (const [tool, simulator] of Object.entries(simulators)) {
    if (!isToolName(tool))
      throw badOption(`${JSON.stringify(tool)} of simulators is not the name of a tool`);
    checkSimulator(tool, simulator);
  }
  return {
    ...given,
    tools,
    simulators: { ...simulators },
    samples,
    seed,
    limits: { turns, waits },
  };
}

function checkVariants(variants: readonly Variant[], domain: Domain): void {
  if (variants.length === 0 || variants.length > VARIANTS_MAX)
    throw badOption(`variants must have 1 to ${VARIANTS_MAX} elements`);
  const names = new Set<string>();
  for (const variant of variants) {
    if (variant.name.length > NAME_MAX || !variant.name.isWellFormed())
      throw badOption(`the name of a variant must have 1 to ${NAME_MAX} characters`);
    if (names.has(variant.name))
      throw badOption(`two variants are named ${variant.name}; give each its own name`);
    names.add(variant.name);
    checkVariant(variant, domain);
  }
}

function checkVariant(variant: Variant, domain: Domain): void {
  const { name, agents, domain: own = domain, people = 'as_recorded' } = variant;
  checkPolicy(variant);
  checkPeople(people);
  requireOwnDomain(own);
  if (own.name !== domain.name)
    throw badOption(`the domain of ${name} is ${own.name}; pass another version of ${domain.name}`);
  populationOf(agents, own);
}

function checkPolicy({ name, policy }: Variant): void {
  if (policy === undefined || policy === null || typeof policy.evaluate === 'function') return;
  throw badOption(
    `the policy of ${name} has no function evaluate; pass a policy, or null for none`,
  );
}

function checkWhole(option: string, value: unknown, from: number, to: number): void {
  if (Number.isSafeInteger(value) && (value as number) >= from && (value as number) <= to) return;
  throw badOption(`${option} must be a whole number from ${from} to ${to}`);
}
