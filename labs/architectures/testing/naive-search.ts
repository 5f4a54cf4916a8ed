import {
  type CapSpec,
  type Counts,
  moveOf,
  ruleId,
  type SmallAgent,
  START,
} from './small-domain.ts';

/** A step of a raw interleaving. */
interface RawStep {
  readonly does: 'read' | 'submit';
  readonly agent: number;
}

/**
 * Every interleaving of reads and submissions, in which each agent takes at most this many turns.
 * No two of them are taken to be equal.
 */
export function* rawInterleavings(agents: number, turns: number): Generator<readonly RawStep[]> {
  const progress = Array.from({ length: agents }, () => 0);
  yield* continued([], progress, turns);
}

function* continued(
  done: readonly RawStep[],
  progress: readonly number[],
  turns: number,
): Generator<readonly RawStep[]> {
  if (progress.every((steps) => steps % 2 === 0)) yield done;
  for (const [agent, steps] of progress.entries()) {
    if (steps === 2 * turns) continue;
    const does = steps % 2 === 0 ? 'read' : 'submit';
    yield* continued([...done, { does, agent }], progress.with(agent, steps + 1), turns);
  }
}

/** The least number of steps by broken rule and kind, under microservices. */
export function naiveShortest(
  caps: readonly CapSpec[],
  agents: readonly SmallAgent[],
  turns: number,
): ReadonlyMap<string, number> {
  const shortest = new Map<string, number>();
  for (const steps of rawInterleavings(agents.length, turns))
    for (const [key, length] of brokenIn(caps, agents, steps))
      shortest.set(key, Math.min(length, shortest.get(key) ?? Infinity));
  return shortest;
}

function brokenIn(
  caps: readonly CapSpec[],
  agents: readonly SmallAgent[],
  steps: readonly RawStep[],
): [string, number][] {
  let now: Counts = START;
  const reads = new Map<number, Counts>();
  const found: [string, number][] = [];
  for (const [i, { does, agent: index }] of steps.entries()) {
    if (does === 'read') {
      reads.set(index, now);
      continue;
    }
    const agent = agents[index] as SmallAgent;
    const read = reads.get(index) as Counts;
    const by = moveOf(agent, read);
    if (by === 0) continue;
    const added = (to: Counts): Counts => ({ ...to, [agent.key]: (to[agent.key] ?? 0) + by });
    const isBroken = ({ keys, max }: CapSpec, on: Counts) =>
      keys.reduce((sum, key) => sum + (on[key] ?? 0), 0) > max;
    const sees = (cap: CapSpec) => agent.seesAll || cap.keys.every((key) => key === agent.key);
    if (caps.some((cap) => sees(cap) && isBroken(cap, added(read)))) continue;
    const after = added(now);
    for (const [rule, cap] of caps.entries())
      if (isBroken(cap, after) && !isBroken(cap, now))
        found.push([
          `${ruleId(rule)} ${isBroken(cap, added(read)) ? 'let_through' : 'skew'}`,
          i + 1,
        ]);
    now = after;
  }
  return found;
}
