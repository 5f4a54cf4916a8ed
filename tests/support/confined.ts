import { type Agent, runAgents } from '#agents';
import { canonicalize, type Json } from '#canon';
import type { CommitPayload, RoleRef } from '#ledger';
import { createOracle, fixedClock, seededRandom } from '#oracle';
import type { Ruling, Trajectory } from '#runtime';
import { MemoryStore } from '#stores';
import { generatedDomain, type RuleSpec, type ShopState } from './generated-domain.ts';
import { clone, isContainer } from './json.ts';
import { type Operation, rfc6902 } from './naive-patch.ts';
import { type AgentSpec, agentOf } from './population.ts';
import { runtimeOver, START } from './runtime.ts';
import { fitted } from './schedule.ts';

/**
 * Part (ii) of Proposition 1 and 1+: runs agents that write to all that they get, and looks at the world, at what is
 * pending and at every slice whenever one has decided and whenever a turn is over. Throws where anything but what is ruled
 * on has changed any of it. With `somebody`, a counselor approves some of what is pending and rejects the rest.
 */
export async function confined(
  rules: readonly RuleSpec[],
  start: ShopState,
  specs: readonly AgentSpec[],
  counselor: 'nobody' | 'somebody',
): Promise<void> {
  const store = new MemoryStore();
  const { domain } = generatedDomain(fitted(rules, start));
  const clock = fixedClock(START, 700);
  const assize = runtimeOver(store, [domain], { oracle: store, clock });
  const trajectory = await assize.create(domain, { trajectoryId: 't', initial: clone(start) });
  let calls = 0;
  const honest = specs.map((spec, n) => agentOf(spec, n, async () => ++calls));
  const roles = new Map(honest.map(({ role }) => [canonicalize(role as unknown as Json), role]));
  let seen = look(trajectory, roles);
  const agents = honest.map((agent): Agent => {
    const role = canonicalize(agent.role as unknown as Json);
    return {
      ...agent,
      async decide(slice, oracle) {
        meddle(slice);
        same(canonicalize(slice), seen.slices.get(role), 'what an agent is given');
        meddle(await oracle.ask({ request: 'hm', call: () => ({ words: [1] }) }));
        const decision = await agent.decide(slice, oracle);
        sameSight(look(trajectory, roles), seen);
        return decision;
      },
    };
  });
  await runAgents(trajectory, agents, {
    oracle: createOracle({ store, clock, mode: 'record' }),
    clock,
    random: seededRandom('confined'),
    maxTurns: 5,
    ...(counselor === 'somebody' && {
      counsel: ({ id }) =>
        ({ do: id < '8' ? 'approve' : 'reject', principal: 'doc', method: 'test', reason: 'so' }) as const,
    }),
    onTurn: ({ ruling }) => {
      const now = look(trajectory, roles);
      sameAsRuled(ruling, seen, now);
      seen = now;
    },
  });
}

/** All that might be changed, as text. */
interface Sight {
  readonly head: string;
  readonly state: string;
  /** By role: agents of one role see the same. */
  readonly slices: ReadonlyMap<string, string>;
  readonly pending: string;
}

function look(trajectory: Trajectory, roles: ReadonlyMap<string, RoleRef>): Sight {
  const slices = new Map<string, string>();
  for (const [key, { name, params }] of roles) slices.set(key, canonicalize(trajectory.slice(name, params) as Json));
  return {
    head: trajectory.head,
    state: canonicalize(trajectory.peek() as Json),
    slices,
    pending: trajectory
      .pending()
      .map(({ id }) => id)
      .join(),
  };
}

/** Only what is ruled on moves anything, it leaves an entry, and it moves what the entry says. */
function sameAsRuled(ruling: Ruling | undefined, before: Sight, after: Sight): void {
  if (ruling === undefined || ruling.ruling === 'frozen') sameSight(after, before);
  else {
    const { id: head, payload } = ruling.entry;
    const { pending } = after;
    if (ruling.ruling === 'committed') same(after.state, stateBy(payload, before), 'the state');
    else sameSight(after, { ...before, head, pending });
    same(after.head, head, 'the head');
  }
}

function stateBy(payload: string, { state }: Sight): string {
  const { delta } = JSON.parse(payload) as CommitPayload;
  return canonicalize(rfc6902(JSON.parse(state), delta.state as unknown as Operation[]) as Json);
}

function sameSight(now: Sight, before: Sight): void {
  same(now.head, before.head, 'the head');
  same(now.state, before.state, 'the state');
  same(now.pending, before.pending, 'what is pending');
  for (const [role, slice] of before.slices) same(now.slices.get(role), slice, `the slice of ${role}`);
}

/** As `expect` says it, which takes longer than the rest of a case. */
function same(is: string | undefined, shall: string | undefined, what: string): void {
  if (is !== shall) throw new Error(`${what} is\n${is}\nand should be\n${shall}`);
}

/** Writes to every member that can be got at, adds some, and takes each away; none of it may be taken. */
function meddle(value: unknown): void {
  if (!isContainer(value)) return;
  const tries = [
    Reflect.set(value, 'stolen', 1),
    Reflect.setPrototypeOf(value, { stolen: 1 }),
    ...(Array.isArray(value) ? [Reflect.set(value, value.length, 99)] : []),
  ];
  for (const [key, member] of Object.entries(value)) {
    meddle(member);
    tries.push(Reflect.set(value, key, 99), Reflect.deleteProperty(value, key));
  }
  if (tries.includes(true)) throw new Error('an agent could write to what it was given');
}
