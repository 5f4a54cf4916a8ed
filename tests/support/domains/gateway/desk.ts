/** A gateway in memory for tests: agents that call, and people who decide. */

import { MemoryStore } from '@assize/testing/memory';
import type { Tool } from '#effects';
import { Assize, type Ruling, type Trajectory } from '#runtime';
import {
  configuration,
  type GatewayState,
  gateway,
  isConfigured,
  readRules,
  rulesIn,
  rulesPolicy,
} from '../../../../packages/gate/src/gateway/index.ts';
import { isOpen } from '../../../../packages/gate/src/gateway/open-calls.ts';
import { HandClock, operator, RECOVERY_KEY, writFor } from '../../ledger/runtime.ts';

export interface Desk {
  readonly trajectory: Trajectory;
  readonly store: MemoryStore;
  readonly clock: HandClock;
  readonly assize: Assize;
  state(): GatewayState;
  call(agent: string, tool: string, args?: object, more?: object): Promise<Ruling>;
  /** An action in the role of an admin, or of an agent by its name. */
  act(action: string, args: object, agent?: string): Promise<Ruling>;
  approve(ruling: Ruling, principal?: string): Promise<Ruling>;
  configure(yaml: string): Promise<Ruling>;
}

export async function desk(
  yaml: string,
  {
    tools = [],
    policy = true,
    timeoutMs = 'never',
  }: {
    readonly tools?: readonly Tool[];
    readonly policy?: boolean;
    readonly timeoutMs?: number | 'never';
  } = {},
): Promise<Desk> {
  const { rules } = readRules(yaml);
  const domain = gateway({ rules, tools });
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = new Assize({
    store,
    domains: [domain],
    anchors: [operator.publicKey],
    tools,
    oracle: store,
    ports: { clock },
    approvals: { timeoutMs },
    effects: { recoveryKey: RECOVERY_KEY },
    maxClockAheadMs: 'unlimited',
    ...(policy ? { policy: rulesPolicy(rules) } : {}),
  });
  const writs = new Map(['ada', 'ben', 'root'].map((name) => [name, writFor(`agent:${name}`)]));
  const trajectory = await assize.create(domain, {
    trajectoryId: 'desk',
    writs: [...writs.values()],
  });
  let calls = 0;
  const act: Desk['act'] = async (action, args, agent) => {
    clock.forward(1);
    const role =
      agent === undefined ? { name: 'admin', params: {} } : { name: 'agent', params: { agent } };
    const writ = writs.get(agent ?? 'root')!;
    const ruling = await trajectory.propose({ action, role: role as never, args, writ });
    requireOpenCalls(trajectory.state() as GatewayState);
    return ruling;
  };
  return {
    trajectory,
    store,
    clock,
    assize,
    state: () => trajectory.state() as GatewayState,
    call: (agent, tool, args = {}, more = {}) => {
      const slash = tool.indexOf('/');
      const named = { server: tool.slice(0, slash), tool: tool.slice(slash + 1) };
      return act('call', { id: `c${++calls}`, ...named, args, ...more }, agent);
    },
    act,
    approve: (ruling, principal = 'human:grace') => {
      if (ruling.ruling !== 'escalated') throw new Error(`it is ${said(ruling)}`);
      return trajectory.approvals.approve(ruling.pending, { principal, method: 'test' });
    },
    configure: async (text) => {
      const next = configuration(readRules(text).rules, tools);
      if (isConfigured(trajectory.state() as GatewayState, next))
        throw new Error('it is configured already');
      return act('configure', next);
    },
  };
}

/** The calls that the state lists as open are those without a known outcome. */
function requireOpenCalls({ calls, open }: GatewayState): void {
  const expected = Object.keys(calls).filter((id) => isOpen(calls[id]!));
  if (`${Object.keys(open).sort()}` !== `${expected.sort()}`)
    throw new Error(`the state lists ${Object.keys(open)} as open, and ${expected} are`);
}

/** `committed`, or the ruling with the written rules that decided. */
export function said(ruling: Ruling): string {
  if (ruling.ruling === 'committed') return 'committed';
  const rules = rulesIn(ruling.detail);
  return rules.length === 0
    ? `${ruling.ruling}: ${ruling.detail}`
    : `${ruling.ruling} ${rules.join(' ')}`;
}
