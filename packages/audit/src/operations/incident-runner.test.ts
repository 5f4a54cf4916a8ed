/** The runner of incidents: a failure of one incident does not delay the others. */

import { MemoryStore } from '@assize/testing/memory';
import { issueWrit, type Writ } from 'assize/internal/authority';
import { addMicros } from 'assize/internal/canon';
import { INCIDENTS } from 'assize/internal/config';
import type { Hash } from 'assize/internal/ledger';
import { type Assize, RuntimeError } from 'assize/internal/runtime';
import { expect, test } from 'vitest';
import { type IncidentState, incident } from '#incident-domain';
import { openIncident } from '#incidents';
import {
  HandClock,
  operator,
  runtimeOver,
  writFor,
} from '../../../../tests/support/ledger/runtime.ts';
import { till } from '../../../../tests/support/server/till.ts';
import { IncidentRunner } from './incident-runner.ts';

const writs = [writFor('agent:bad')];

test('an incident that fails is tried again, and the others are carried out', async () => {
  const store = new MemoryStore();
  const clock = new HandClock();
  const assize = runtimeOver(store, [till, incident], { ports: { clock } });
  const of = (subject: string, action: string, trajectory: string): Writ =>
    issueWrit(
      {
        ...{
          issuer: operator.publicKey,
          subject,
          trajectory,
          actions: [action],
          scopes: ['**'],
          max_depth: 0,
        },
        ...{
          not_before: addMicros(clock.now(), -1_000_000),
          expires: addMicros(clock.now(), 600_000_000),
        },
        nonce: `${action} ${clock.now()}`,
      },
      operator.privateKey,
    );
  const names = ['t', 'u', 'v'];
  for (const trajectoryId of names) await assize.create(till, { trajectoryId, writs });
  for (const trajectory of names) {
    const { pending } = await openIncident(assize, {
      plan: {
        start: { principal: 'agent:bad' },
        steps: [{ kind: 'halt', trajectory }],
        remains: [],
      },
      ...{ because: trajectory, openedBy: 'human:ops' },
      writFor: async (action, _, at) => of('human:ops', action, at),
    });
    const incidents = await assize.open(INCIDENTS);
    const digest = incidents.approvals.pending()[0]!.payload.digest;
    await incidents.approvals.approve(pending as Hash, {
      principal: 'human:ida',
      method: 'test',
      digest,
    });
  }
  let isDown = true;
  const flaky = new Proxy(assize, {
    get: (target, name) => {
      if (name === 'open' && isDown)
        return async (id: string, domain: never) => {
          if (id === 'u') throw new RuntimeError('conflict', 'injected', { retryable: true });
          return target.open(id, domain);
        };
      const value = Reflect.get(target, name) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  }) as Assize;
  const systemWrits = {
    forBuiltIn: (by: string, action: string, trajectory: string) => of(by, action, trajectory),
    forAction: (by: string, action: string, trajectory: string) => of(by, action, trajectory),
  };
  const failures: unknown[] = [];
  const runner = new IncidentRunner(
    { assize: flaky, store, systemWrits, clock } as never,
    (error) => failures.push(error),
  );
  const closed = async (): Promise<string[]> => {
    const { incidents } = (await assize.open(INCIDENTS)).state() as unknown as IncidentState;
    return Object.values(incidents)
      .flatMap(({ because, closedAt }) => (closedAt === undefined ? [] : [because]))
      .sort();
  };
  await runner.carryOutApproved(new AbortController().signal);
  expect(failures).toHaveLength(1);
  expect(await closed()).toEqual(['t', 'v']);
  isDown = false;
  await runner.carryOutApproved(new AbortController().signal);
  expect(await closed()).toEqual(['t', 'v']);
  clock.forward(31_000);
  await runner.carryOutApproved(new AbortController().signal);
  expect(await closed()).toEqual(names);
  expect(failures).toHaveLength(1);
});
