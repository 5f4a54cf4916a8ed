import { budget } from '@assize/cli/internal/domains/budget';
import { issueWrit } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import { checkMemory, verifyStore } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { blastRadius } from '#blast';
import { makeReport } from '#compliance';
import { incident } from '#incident-domain';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { onEveryStore } from '../../../../tests/support/ledger/stores.ts';
import { affectedSince } from './affected-since.ts';
import { carryOut } from './carry-out.ts';
import { openIncident, type WritFor } from './open-incident.ts';
import { planResponse } from './plan-response.ts';

const BAD = writFor('agent:bad');
const START = { principal: 'agent:bad' } as const;

function writsAt(clock: HandClock): WritFor {
  return async (action, scope, trajectory) =>
    issueWrit(
      {
        ...{
          issuer: operator.publicKey,
          subject: 'human:ops',
          trajectory,
          actions: [action],
          scopes: [scope],
        },
        not_before: addMicros(clock.now(), -1_000_000),
        expires: addMicros(clock.now(), 600_000_000),
        ...{ max_depth: 0, nonce: `${action} ${scope}` },
      },
      operator.privateKey,
    );
}

onEveryStore(({ newPlace }) => {
  test('an incident is planned, approved, carried out and reported', async () => {
    const place = newPlace();
    const store = await place.open();
    const clock = new HandClock();
    const assize = runtimeOver(store, [budget, incident], { ports: { clock } });
    const trajectory = await assize.create(budget, { trajectoryId: 't', writs: [BAD] });
    const spend = (amount: number) =>
      trajectory.propose({
        ...{
          action: 'spend',
          role: { name: 'spender', params: { agent: 'ada' } },
          args: { amount },
          writ: BAD,
        },
      } as never);
    await spend(5);
    const plan = await planResponse(store, await blastRadius(store, START));
    expect(plan.steps.map(({ kind }) => kind)).toEqual(['revoke']);
    const writFor = writsAt(clock);
    const input = { plan, because: 'the key leaked', openedBy: 'human:ops', writFor };
    const made = await openIncident(assize, input);
    expect(await openIncident(assize, input)).toEqual({ ...made, status: 'waiting' });
    clock.forward(1_000);
    await spend(7);
    const office = await assize.open(INCIDENTS);
    await office.approvals.approve(made.pending!, { principal: 'human:ida', method: 'test' });
    const done = await carryOut(assize, store, { incident: made.incident, writFor });
    expect([
      done.recorded,
      Object.values(done.incident.outcomes).map(({ outcome }) => outcome),
    ]).toEqual([1, ['done']]);
    expect(await affectedSince(store, done.incident)).toHaveLength(1);
    expect(await spend(9)).toMatchObject({ ruling: 'rejected' });
    const report = await makeReport(store, { frameworks: ['soc2-cc7'] });
    expect([report.valid, report.scope.entries]).toEqual([true, report.log.size]);
    expect(await makeReport(store, { frameworks: ['soc2-cc7'], size: report.log.size })).toEqual(
      report,
    );
    for (const { fault } of await verifyStore(store)) expect(fault).toBeUndefined();
    expect((await checkMemory(store)).differences).toEqual([]);
  });
});
