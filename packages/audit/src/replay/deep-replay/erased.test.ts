import { MemoryStore } from '@assize/testing/memory';
import {
  type Domain,
  defineDomain,
  escalate,
  isErased,
  pass,
  reject,
} from 'assize/internal/kernel';
import type { Hash } from 'assize/internal/ledger';
import type { Trajectory } from 'assize/internal/runtime';
import { beforeEach, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { ward } from '../../../../../tests/support/clinic/ward.ts';
import { runtimeOver, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import { deepReplay } from './deep-replay.ts';
import type { DeepReplayReport } from './report.ts';

const writ = writFor('agent');
const DOCTOR = { principal: 'dr-who', method: 'test' };

/**
 * A ward that reads the name at each visit, as do its rules. Another version counts visits
 * differently.
 */
function named(version = '1'): Domain {
  return defineDomain<any, any>({
    ...ward.declared,
    name: 'named',
    version,
    actions: {
      ...ward.declared.actions,
      visit: {
        process: 'admitting',
        args: z.object({ times: z.number() }),
        apply: (state: any, { times }: any, { role }: any) => {
          const patient = state.patients[role.id];
          if (patient === undefined || isErased(patient.name))
            throw new Error('there is no such patient');
          patient.visits =
            patient.name === 'odd' ? 'odd' : patient.visits + times * Number(version);
        },
      },
    },
    invariants: ({ each }: any) => [
      each('NAMED', '/patients/*', {}, ({ name }: any) =>
        isErased(name) ? reject('there is no name') : pass,
      ),
      each(
        'FEW_VISITS',
        '/patients/*',
        {
          channel: 'md',
          onApprove: (state: any, { keys }: any) => {
            state.patients[keys[0]].visits = 0;
          },
        },
        ({ name, visits }: any) =>
          visits < (isErased(name) ? 1 : 5) ? pass : escalate('a doctor has to look'),
      ),
    ],
  }) as unknown as Domain;
}

describe('an entry on a value erased since is taken as recorded', () => {
  const domain = named();
  let store: MemoryStore;
  let trajectory: Trajectory;

  beforeEach(async () => {
    store = new MemoryStore();
    trajectory = await runtimeOver(store, [domain]).create(domain, {
      trajectoryId: 't',
      writs: [writ],
    });
    for (const id of ['p1', 'p2']) await act('admit', id, { name: 'David' });
  });

  const act = (action: string, id: string, args: object) =>
    trajectory.propose({ action, role: { name: 'nurse', params: { id } }, args, writ });

  /** Patient p1 is removed, and erased. */
  async function erased(): Promise<void> {
    await act('dismiss', 'p1', {});
    expect((await trajectory.erase({ at: ['/patients/p1/name'], reason: 'x', writ })).ruling).toBe(
      'committed',
    );
  }

  async function expectSame(more: Partial<DeepReplayReport> = {}): Promise<void> {
    const report = await deepReplay(store, 't', { domains: [domain] });
    expect(report).toMatchObject({
      same: true,
      preserved: true,
      differences: [],
      broken: [],
      ...more,
    });
  }

  async function waiting(id: string): Promise<Hash> {
    expect((await act('visit', id, { times: 9 })).ruling).toBe('escalated');
    return trajectory.approvals.pending()[0]!.id;
  }

  test('a commit', async () => {
    expect((await act('visit', 'p1', { times: 1 })).ruling).toBe('committed');
    await erased();
    // In addition to the admission and the erasure.
    await expectSame({ taken_as_recorded: { erased: 3 } });
  });

  test('a commit that changed nothing, and so has nothing that could be erased', async () => {
    await act('note', 'p1', { text: 'David fell' });
    for (let i = 0; i < 2; i++)
      expect((await act('correct', 'p1', { index: 0, urgent: true })).ruling).toBe('committed');
    expect((await trajectory.erase({ at: ['/patients/p1/notes'], reason: 'x', writ })).ruling).toBe(
      'committed',
    );
    await expectSame();
  });

  test('a refusal', async () => {
    await act('admit', 'p1', { name: 'odd' });
    expect(await act('visit', 'p1', { times: 1 })).toMatchObject({
      ruling: 'rejected',
      reason: 'type_mismatch',
    });
    await erased();
    await expectSame();
  });

  test('a pending proposal that was rejected', async () => {
    await trajectory.approvals.reject(await waiting('p1'), { ...DOCTOR, reason: 'no' });
    await erased();
    await expectSame();
  });

  test('a pending proposal and its approval', async () => {
    const ruling = await trajectory.approvals.approve(await waiting('p1'), DOCTOR);
    expect(ruling.ruling).toBe('committed');
    await erased();
    await expectSame();
  });

  test('a counselor’s own state that moved it', async () => {
    for (const text of ['one', 'two']) await act('note', 'p1', { text });
    // Otherwise no erasure would pass the rule.
    expect(
      (await trajectory.erase({ at: ['/patients/p1/notes/1'], reason: 'x', writ })).ruling,
    ).toBe('committed');
    const replacement = [{ op: 'remove', path: '/patients/p1/notes/0' }] as const;
    expect(
      (await trajectory.approvals.approve(await waiting('p1'), { ...DOCTOR, replacement })).ruling,
    ).toBe('committed');
    expect(JSON.stringify(trajectory.state())).toContain('$erased');
    await expectSame();
  });

  test('and no other: a changed domain’s effect on other values is still found', async () => {
    for (const id of ['p1', 'p2'])
      expect((await act('visit', id, { times: 1 })).ruling).toBe('committed');
    await erased();
    const report = await deepReplay(store, 't', { domains: [named('2')], changedDomains: true });
    expect(report.differences).toMatchObject([{ seq: 4, what: 'delta' }]);
  });

  test('an approval of another proposal, with all rules in its vector', async () => {
    expect((await trajectory.approvals.approve(await waiting('p2'), DOCTOR)).ruling).toBe(
      'committed',
    );
    await erased();
    await expectSame();
  });
});
