import type { LifeCycleProposal } from '@assize/testing';
import { stepsFrom } from '@assize/testing/internal/life-cycle.ts';
import { isAssizeError, type Json } from 'assize/internal/base';
import { canonicalize, type Instant, WORLD_LIMITS } from 'assize/internal/canon';
import { type Domain, firstFinding, initialState } from 'assize/internal/kernel';
import { proposalsOf } from '../drawn-proposals.ts';
import { OntologyError } from '../errors.ts';

/** A run of a domain: proposals in the order in which they are put. */
export interface Walk {
  /** The name of the domain. */
  readonly domain: string;
  readonly at: Instant;
  /** Default: the domain's own. */
  readonly initial?: unknown;
  /** The approvers by channel. Default: one for each channel. */
  readonly counselors?: Readonly<Record<string, readonly string[]>>;
  readonly proposals: readonly LifeCycleProposal[];
  /** Proposals outside of the happy path, for every reached state in addition to the drawn ones. */
  readonly exceptions?: readonly LifeCycleProposal[];
}

/** A proposal that passed, with the process that its action performs. */
export interface RehearsedStep {
  readonly process: string;
  readonly action: string;
  readonly role: LifeCycleProposal['role'];
  readonly args: Json;
  /** The approver, if the proposal escalated. */
  readonly approvedBy?: string;
}

export interface Rehearsal {
  /** Processes in the order in which they first passed, in the walk or in the longest run. */
  readonly order: readonly string[];
  /** For each process that passed: a step without an approver, if there was one. */
  readonly passed: ReadonlyMap<string, RehearsedStep>;
  /** Number of states on which proposals were drawn. */
  readonly states: number;
}

export interface RehearsalBounds {
  readonly depth: number;
  readonly width: number;
  readonly tries: number;
}

interface Visited {
  readonly state: Json;
  readonly at: Instant;
  readonly done: readonly RehearsedStep[];
}

const AT = '2026-06-01T12:00:00.000000Z';

/**
 * Runs a domain with the kernel: first the proposals of a walk, if there is one, and then drawn
 * proposals from every state that was reached, level by level.
 *
 * @throws OntologyError `bad_state`; `bad_walk` for a proposal that does not pass, or an exception
 * that never does
 */
export function rehearse(
  domain: Domain,
  walk: Walk | undefined,
  bounds: RehearsalBounds,
): Rehearsal {
  return new Runner(domain, walk, bounds).run();
}

class Runner {
  readonly #domain: Domain;
  readonly #walk: Walk | undefined;
  readonly #bounds: RehearsalBounds;
  readonly #counselors: Readonly<Record<string, readonly string[]>>;
  readonly #passed: Map<string, RehearsedStep> = new Map();
  /** The proposals that passed. */
  readonly #taken: Set<string> = new Set();
  #states = 0;

  constructor(domain: Domain, walk: Walk | undefined, bounds: RehearsalBounds) {
    this.#domain = domain;
    this.#walk = walk;
    this.#bounds = bounds;
    const some = Object.keys(domain.counselors).map((kind) => [kind, [`${kind}:walking`]] as const);
    this.#counselors = { ...Object.fromEntries(some), ...walk?.counselors };
  }

  run(): Rehearsal {
    const given = this.#given();
    const drawn = this.#draw(given);
    this.#requireExceptions();
    // A given walk is the order. Without one, it is the run through the most processes.
    const longest = this.#walk === undefined ? fullest([...given, ...drawn]) : given.at(-1);
    const order = [...new Set(longest?.done.map(({ process }) => process))];
    return { order, passed: this.#passed, states: this.#states };
  }

  /** The states of the walk. */
  #given(): Visited[] {
    const visited = [this.#beginning()];
    for (const [i, proposal] of (this.#walk?.proposals ?? []).entries()) {
      const last = visited.at(-1) as Visited;
      const { next, refusal } = this.#put(last, [proposal]);
      if (next[0] === undefined)
        throw new OntologyError(
          'bad_walk',
          `Proposal ${i} of the walk (${proposal.action}) does not pass: ${refusal}. Correct the walk.`,
          { evidence: { proposal: i } },
        );
      visited.push(next[0]);
    }
    return visited;
  }

  #requireExceptions(): void {
    for (const [i, exception] of (this.#walk?.exceptions ?? []).entries())
      if (!this.#taken.has(textOf(exception)))
        throw new OntologyError(
          'bad_walk',
          `Exception ${i} of the walk (${exception.action}) passes on no reached state. Correct it, or leave it out.`,
          { evidence: { exception: i } },
        );
  }

  #beginning(): Visited {
    const state = this.#initial();
    const broken = firstFinding(this.#domain, state as never)?.rule.id;
    if (broken !== undefined)
      throw new OntologyError('bad_state', `The initial state breaks ${broken}. Give another one.`);
    return { state, at: this.#walk?.at ?? AT, done: [] };
  }

  #initial(): Json {
    try {
      return initialState(this.#domain, this.#walk?.initial) as Json;
    } catch (cause) {
      if (!isAssizeError(cause)) throw cause;
      throw new OntologyError('bad_state', `The domain has no initial state: ${cause.message}`, {
        cause,
      });
    }
  }

  #draw(from: readonly Visited[]): Visited[] {
    const draw = proposalsOf(this.#domain, this.#bounds.tries);
    const exceptions = this.#walk?.exceptions ?? [];
    const seen = new Set(from.map(keyOf));
    const all: Visited[] = [];
    let level = from;
    for (let depth = 0; depth < this.#bounds.depth && level.length > 0; depth++) {
      const fresh = new Map<string, Visited>();
      for (const one of level) {
        this.#states++;
        for (const next of this.#put(one, [...exceptions, ...draw(one.state)]).next)
          fresh.set(keyOf(next), next);
      }
      for (const key of seen) fresh.delete(key);
      level = varied([...fresh.values()], this.#bounds.width);
      for (const one of level) seen.add(keyOf(one));
      all.push(...level);
    }
    return all;
  }

  /** The states after each proposal that passes, alone or with a counselor. */
  #put(
    from: Visited,
    proposals: readonly LifeCycleProposal[],
  ): { next: Visited[]; refusal: string } {
    const stopped: Record<string, number> = {};
    const problems: string[] = [];
    const life = { domain: this.#domain, proposals: () => proposals, counselors: this.#counselors };
    const next: Visited[] = [];
    for (const { step, state } of stepsFrom(life, from, stopped, (problem) =>
      problems.push(problem),
    )) {
      const { at, action, role, args, approvedBy } = step;
      const { process } = this.#domain.actions[action] as { readonly process: string };
      const taken = {
        process,
        action,
        role,
        args,
        ...(approvedBy !== undefined && { approvedBy }),
      };
      this.#note(taken);
      next.push({ state, at, done: [...from.done, taken] });
    }
    const by = Object.keys(stopped).map((id) => `${id} stops it`);
    return {
      next,
      refusal: [...problems, ...by].join('; ') || 'its action throws, or its time is past',
    };
  }

  #note(step: RehearsedStep): void {
    this.#taken.add(textOf(step));
    const known = this.#passed.get(step.process);
    if (known === undefined || (known.approvedBy !== undefined && step.approvedBy === undefined))
      this.#passed.set(step.process, step);
  }
}

/**
 * Takes states in turn from the groups of states after the same processes. The group after most
 * processes comes first.
 */
function varied(states: readonly Visited[], count: number): Visited[] {
  const groups = [
    ...Map.groupBy(states, ({ done }) => processesOf(done).sort().join('\n')).values(),
  ];
  const sorted = groups.sort(
    ([a], [b]) => processesOf(b?.done).length - processesOf(a?.done).length,
  );
  const chosen: Visited[] = [];
  for (let i = 0; i < count; i++) for (const group of sorted) chosen.push(...group.slice(i, i + 1));
  return chosen.slice(0, count);
}

/** Most processes, then fewest approvals, then fewest steps. */
function fullest(visited: readonly Visited[]): Visited | undefined {
  const approvals = ({ done }: Visited): number =>
    done.filter(({ approvedBy }) => approvedBy !== undefined).length;
  return visited.toSorted(
    (a, b) =>
      processesOf(b.done).length - processesOf(a.done).length ||
      approvals(a) - approvals(b) ||
      a.done.length - b.done.length,
  )[0];
}

function processesOf(done: readonly RehearsedStep[] = []): string[] {
  return [...new Set(done.map(({ process }) => process))];
}

function textOf({
  action,
  role,
  args,
}: Pick<LifeCycleProposal, 'action' | 'role' | 'args'>): string {
  return canonicalize([action, role.name, role.params, args], WORLD_LIMITS);
}

function keyOf({ state, at }: Visited): string {
  return `${at} ${canonicalize(state, WORLD_LIMITS)}`;
}
