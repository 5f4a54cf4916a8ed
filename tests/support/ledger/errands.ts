import { z } from 'zod';
import { type Agent, type DurableAgents, RunWorker, type WorkerOptions } from '#agents';
import { isAssizeError } from '#base';
import { addMicros } from '#canon';
import { type CallContext, declareTool, type Tool } from '#effects';
import { call, type Domain, defineDomain, escalate } from '#kernel';
import { systemClock, systemRandom } from '#oracle';
import type { Assize } from '#runtime';
import type { Store } from '#stores';
import { runtimeOver, writFor } from './runtime.ts';

// Errands: each trajectory has one. A clerk pays for it with the approval of a manager, waits for
// a time, and closes it.

/** The payment at a sink that knows the key of each call. */
export function payTool(pay: (key: string, what: string) => unknown): Tool<{ errand: string }> {
  return declareTool({
    name: 'errand.pay',
    input: z.strictObject({ errand: z.string() }),
    class: { reversibility: 'reversible', delivery: 'buffered', sink: 'keyed' },
    writes: ['errand:{errand}'],
    execute: async ({ errand }: { errand: string }, { key }: CallContext) => {
      await pay(key, errand);
      return null;
    },
    compensate: () => ({ undone: 'all' }),
  }) as Tool<{ errand: string }>;
}

export function errands(pay: Tool<{ errand: string }>, version = '1'): Domain<any, any> {
  return defineDomain<any, any>({
    name: 'errands',
    version,
    state: z.object({ due: z.string(), closed: z.boolean() }),
    initial: { due: '', closed: false },
    processes: { work: { writes: ['/due', '/closed'] } },
    roles: { clerk: { processes: ['work'] } },
    counselors: { manager: (principal: string) => principal.startsWith('manager:') },
    actions: {
      pay: {
        process: 'work',
        args: z.strictObject({ errand: z.string(), due: z.string() }),
        apply: (state: any, { due }: any) => {
          state.due = due;
        },
        calls: (_state: any, { errand }: any) => [call(pay, { errand })],
      },
      close: {
        process: 'work',
        args: z.strictObject({}),
        apply: (state: any) => {
          state.closed = true;
        },
      },
    },
    invariants: (rules: any) => [
      rules.eachCall('ASK', pay, {}, () => escalate('a manager looks at each payment')),
    ],
    unjudgedCalls: 'refuse',
  });
}

/** Waits so many milliseconds after the payment. */
export function clerk(errand: string, waitMs = 200): Agent {
  return {
    name: 'clerk',
    role: { name: 'clerk', params: {} },
    writ: writFor('clerk'),
    async decide({ due, closed }, oracle) {
      if (closed) return 'done';
      if (due !== '')
        return (await oracle.now()) < due ? { waitUntil: due } : { action: 'close', args: {} };
      const ruling = await oracle.ruling();
      if (ruling?.ruling === 'escalated') return 'wait';
      if (ruling?.ruling === 'rejected') return 'done';
      return {
        action: 'pay',
        args: { errand, due: addMicros(await oracle.now(), waitMs * 1_000) },
      };
    },
  };
}

export const CLERKS: DurableAgents = {
  name: 'clerks',
  version: '1',
  agents: ({ trajectory }) => [clerk(trajectory.id)],
};

/** A runtime on the clock of the machine, as processes have it. */
export function errandRuntime(
  store: Store,
  pay: Tool<{ errand: string }>,
  domain = errands(pay),
): Assize {
  return runtimeOver(store, [domain], {
    tools: [pay],
    oracle: store,
    ports: { clock: systemClock, random: systemRandom },
  });
}

export function workerOver(
  store: Store,
  assize: Assize,
  options: Partial<WorkerOptions> = {},
): RunWorker {
  return new RunWorker({
    ...{ store, assize, agents: [CLERKS], tools: ['errand.pay'] },
    ...{ leaseMs: 600, pollMs: 50, backoffMs: 50 },
    ...options,
  });
}

/** The errands that the managers beside the carriers leave to their test. */
export function isLate(errand: string): boolean {
  return errand.startsWith('late');
}

/**
 * Approves all proposals that wait, as a manager, beside other approvers. Some trajectories can be
 * left to another manager. Returns the number of approvals.
 */
export async function approveAll(
  assize: Assize,
  isLeft = (_errand: string): boolean => false,
): Promise<number> {
  let count = 0;
  for await (const { trajectoryId, id, payload } of assize.pending()) {
    if (isLeft(trajectoryId)) continue;
    const by = { principal: 'manager:grace', method: 'test', digest: payload.digest };
    try {
      await (await assize.open(trajectoryId)).approvals.approve(id, by);
      count++;
    } catch (error) {
      if (!isAssizeError(error, 'not_pending')) throw error;
    } finally {
      assize.release(trajectoryId);
    }
  }
  return count;
}
