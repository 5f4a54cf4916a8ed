import type { Json } from '#base';
import { copyJson, type Instant, WORLD_LIMITS } from '#canon';
import { type Authority, adjudicate, candidateOf, compile, type Domain, World } from '#kernel';

/** An agent. It proposes from its slice alone; undefined: no proposal. */
export interface SlicedAgent<Slice = any> {
  readonly role: { readonly name: string; readonly params: Readonly<Record<string, string>> };
  readonly decide: (slice: Slice) => { readonly action: string; readonly args: Json } | undefined;
}

export interface Skew {
  /**
   * The invariants that the state violates after both agents have written to a shared log, by the
   * order of their writes.
   */
  readonly withoutKernel: readonly (readonly string[])[];
  /** The same, when one agent alone has written: it did nothing wrong. */
  readonly alone: readonly (readonly string[])[];
  /**
   * The kernel's answers, by the order of the proposals: `approved`, `escalated`, or the rejecting
   * invariant.
   */
  readonly withKernel: readonly (readonly string[])[];
  /** The invariants that the kernel's states break. */
  readonly broken: readonly string[];
}

const EVERYBODY: Authority = {
  admits: () => ({ ok: true, needsApproval: false }),
  decides: () => undefined,
  affords: () => ({ ok: true }),
};

/**
 * Two agents that have each seen their slice of one state decide at the same time (Agentic Redux,
 * Definition A.55). First they write their decisions to a shared log, with no checks except
 * footprints and types. Then they propose the same decisions to the kernel.
 */
export function skewOf(
  domain: Domain<any, any, any>,
  state: unknown,
  at: Instant,
  agents: readonly [SlicedAgent, SlicedAgent],
): Skew {
  const worldOf = (): World => new World(domain, copyJson(state, WORLD_LIMITS) as never);
  const start = worldOf();
  const intents = agents.map(({ role, decide }) => {
    const decided = decide(start.slice(role.name, role.params));
    if (decided === undefined) throw new Error(`${role.name} proposes nothing`);
    return { ...decided, role };
  });
  const orders = [intents, intents.toReversed()];
  const inputs = { at, observations: [] };

  const written = (of: typeof intents): readonly string[] => {
    const world = worldOf();
    for (const intent of of) {
      const compiled = compile(domain, intent, EVERYBODY);
      if ('reason' in compiled) throw new Error(`${intent.action}: ${compiled.detail}`);
      const candidate = candidateOf(world, compiled, inputs);
      if ('reason' in candidate) throw new Error(`${intent.action}: ${candidate.detail}`);
      world.adopt(candidate.draft);
    }
    return brokenBy(domain, world.state);
  };

  const broken = new Set<string>();
  const proposed = (of: typeof intents): readonly string[] => {
    const world = worldOf();
    const rulings = of.map((intent) => {
      const ruling = adjudicate(world, intent, EVERYBODY, inputs);
      if (ruling.verdict === 'approved') ruling.keep();
      return ruling.verdict === 'rejected' ? (ruling.invariantId ?? ruling.reason) : ruling.verdict;
    });
    for (const id of brokenBy(domain, world.state)) broken.add(id);
    return rulings;
  };

  return {
    alone: intents.map((intent) => written([intent])),
    withoutKernel: orders.map(written),
    withKernel: orders.map(proposed),
    broken: [...broken],
  };
}

/** Judged again, by every rule. */
function brokenBy(domain: Domain<any, any, any>, state: unknown): readonly string[] {
  return new World(domain, copyJson(state, WORLD_LIMITS) as never).failing.map(
    ({ rule }) => rule.id,
  );
}
