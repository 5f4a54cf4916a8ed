import { MemoryStore } from '@assize/testing/memory';
import { blastRadius } from '#blast';
import { INCIDENTS } from '#config';
import { budget } from '#domains/budget';
import { incident } from '#domains/incident';
import * as incidents from '#incidents';
import { HandClock, runtimeOver, writFor } from '../../support/ledger/runtime.ts';
import type { Case, Exempt } from './case.ts';
import { exempt, MADE, PORT } from './table.ts';

const START = { principal: 'agent:bad' } as const;

/** A store with an entry of a bad agent, and the plan of the response. */
async function world() {
  const store = new MemoryStore();
  const assize = runtimeOver(store, [budget, incident], { ports: { clock: new HandClock() } });
  const bad = writFor('agent:bad');
  const trajectory = await assize.create(budget, { trajectoryId: 't', writs: [bad] });
  const role = { name: 'spender', params: { agent: 'ada' } };
  await trajectory.propose({ action: 'spend', role, args: { amount: 5 }, writ: bad } as never);
  const radius = await blastRadius(store, START);
  return { store, assize, radius, plan: await incidents.planResponse(store, radius) };
}

type World = Awaited<ReturnType<typeof world>>;

const office: incidents.WritFor = async (action, scope) =>
  writFor('human:ops', { actions: [action], scopes: [scope] });

const on = (
  call: (world: World, ...args: any[]) => unknown,
  args: (world: World) => readonly unknown[] | Promise<readonly unknown[]>,
  trusted: Case['trusted'] = {},
): Case => ({
  trusted,
  make: async () => {
    const made = await world();
    return {
      args: await args(made),
      call: (...given) => call(made, ...given),
      // The trajectory of incidents may be created for a plan that its domain refuses.
      watch: async () =>
        JSON.stringify((await made.store.trajectories()).filter((each) => each.entries > 1)),
    };
  },
});

const opening = ({ plan }: World) => ({
  ...{ plan: structuredClone(plan), because: 'b', openedBy: 'human:ops', writFor: office },
  ...{ trajectoryId: INCIDENTS, idempotencyKey: 'k' },
});

export const INCIDENT_CALLS: Readonly<Record<string, Case | Exempt>> = {
  planResponse: on(
    ({ store }, radius, options) => incidents.planResponse(store, radius, options),
    ({ radius }) => [structuredClone(radius), { halts: 'none' }],
    { 0: MADE },
  ),
  openIncident: on(
    ({ assize }, input) => incidents.openIncident(assize, input),
    (made) => [opening(made)],
    { '0.writFor': PORT },
  ),
  carryOut: on(
    ({ assize, store }, input) => incidents.carryOut(assize, store, input),
    async (made) => {
      const { incident: id, pending } = await incidents.openIncident(made.assize, opening(made));
      const approval = { principal: 'human:ida', method: 'test' };
      await (await made.assize.open(INCIDENTS)).approvals.approve(pending!, approval);
      return [{ incident: id, writFor: office, trajectoryId: INCIDENTS, onStep: () => undefined }];
    },
    { '0.writFor': PORT, '0.onStep': PORT },
  ),
  affectedSince: on(
    ({ store }, ...given) => incidents.affectedSince(store, ...(given as [never, never])),
    () => [{ start: { ...START }, openedAt: '2026-01-01T00:00:00.000000Z' }, INCIDENTS],
  ),
  incidentDocument: exempt(MADE),
  openIncidentTrajectory: exempt('takes a runtime and a name, for the commands and the server'),
  incidentsToCarryOut: exempt(MADE),
};
