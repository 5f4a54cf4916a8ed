import { MemoryStore } from '@assize/testing/memory';
import { type Agent, runAgents } from '#agents';
import type { Json } from '#base';
import { canonicalize } from '#canon';
import type { CommitPayload, RoleRef } from '#ledger';
import { createOracle, fixedClock, seededRandom } from '#oracle';
import type { Ruling, Trajectory } from '#runtime';
import { runtimeOver, START, writFor } from '../support/ledger/runtime.ts';
import { type AgentSpec, agentOf } from '../support/models/generated-agents.ts';
import {
  generatedDomain,
  type RuleSpec,
  type ShopState,
} from '../support/models/generated-domain.ts';
import { clone, isContainer } from '../support/models/json.ts';
import { type Operation, rfc6902 } from '../support/models/naive-patch.ts';
import { fitted } from '../support/models/schedule.ts';

/** One for all agents: its signature is verified once a case. */
const WRIT = writFor('agents');

/**
 * Part (ii) of Proposition 1 and 1+: runs agents that write to all of their input. After a
 * decision, the state, the pending proposals and every slice must be the same as after the last
 * ruling. A ruling must have made the change that its entry records. Throws if they differ. With
 * `somebody`, a counselor approves some of the pending proposals and rejects the rest.
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
  const assize = runtimeOver(store, [domain], { oracle: store, ports: { clock } });
  const trajectory = await assize.create(domain, { trajectoryId: 't', initial: clone(start) });
  let calls = 0;
  const honest = specs.map((spec, n) => ({ ...agentOf(spec, n, async () => ++calls), writ: WRIT }));
  // Agents of one role see the same.
  const roles = new Map(honest.map(({ role }) => [JSON.stringify(role), role]));
  let world = worldOf(trajectory);
  let slices = slicesOf(trajectory, roles);
  const checkUnchanged = (): void => {
    sameWorld(worldOf(trajectory), world);
    for (const [role, slice] of slicesOf(trajectory, roles))
      same(slice, slices.get(role), `the slice of ${role}`);
  };
  const agents = honest.map((agent): Agent => {
    const role = JSON.stringify(agent.role);
    return {
      ...agent,
      async decide(slice, oracle) {
        meddle(slice);
        same(JSON.stringify(slice), slices.get(role), `what is given to ${role}`);
        meddle(await oracle.ask({ request: 'hm', call: () => ({ words: [1] }) }));
        const decision = await agent.decide(slice, oracle);
        checkUnchanged();
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
        ({
          do: id < '8' ? 'approve' : 'reject',
          principal: 'doc',
          method: 'test',
          reason: 'so',
        }) as const,
    }),
    onTurn: ({ ruling }) => {
      // If no ruling is made, the next decision checks that everything is unchanged.
      if (ruling === undefined || ruling.ruling === 'frozen') return;
      const before = world;
      world = worldOf(trajectory);
      sameAsRuled(ruling, before, world);
      if (ruling.ruling === 'committed') slices = slicesOf(trajectory, roles);
    },
  });
  checkUnchanged();
}

/** All but slices that might be changed, as text. */
interface WorldText {
  readonly head: string;
  readonly state: string;
  readonly pending: string;
}

function worldOf(trajectory: Trajectory): WorldText {
  const pending = trajectory.approvals.pending().map(({ id }) => id);
  return {
    head: trajectory.head,
    state: canonicalize(trajectory.state() as Json),
    pending: pending.join(),
  };
}

/** The keys of a slice are in order, so the same ones have the same text. */
function slicesOf(
  trajectory: Trajectory,
  roles: ReadonlyMap<string, RoleRef>,
): Map<string, string> {
  const slices = new Map<string, string>();
  for (const [key, { name, params }] of roles)
    slices.set(key, JSON.stringify(trajectory.slice(name, params)));
  return slices;
}

/** A ruling leaves an entry, and makes the change that the entry records. */
function sameAsRuled(
  ruling: Exclude<Ruling, { ruling: 'frozen' }>,
  before: WorldText,
  after: WorldText,
): void {
  const { id: head, payload } = ruling.entry;
  const state = ruling.ruling === 'committed' ? stateBy(payload, before) : before.state;
  sameWorld(after, { head, state, pending: after.pending });
}

function stateBy(payload: string, { state }: WorldText): string {
  const { delta } = JSON.parse(payload) as CommitPayload;
  return canonicalize(rfc6902(JSON.parse(state), delta.state as unknown as Operation[]) as Json);
}

function sameWorld(now: WorldText, before: WorldText): void {
  same(now.head, before.head, 'the head');
  same(now.state, before.state, 'the state');
  same(now.pending, before.pending, 'what is pending');
}

/** As `expect` says it: that takes longer than the rest of a case. */
function same(is: string, shall: string | undefined, what: string): void {
  if (is !== shall) throw new Error(`${what} is\n${is}\nand should be\n${shall}`);
}

/**
 * Writes to every field within reach, adds some, and deletes each. None of these writes may
 * succeed.
 */
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
