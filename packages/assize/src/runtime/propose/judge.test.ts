import { expect, test } from 'vitest';
import { BUILT_IN_ROLE } from '#kernel';
import { createOracle } from '#oracle';
import { openStore } from '#stores';
import { committed, onClinics, writ } from '../../../../../tests/support/clinic/clinic-memory.ts';
import { HandClock, writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { ForeseenProposal } from './gather.ts';

const believe = (predicate: string, object: string): ForeseenProposal => ({
  action: 'assize.believe',
  role: BUILT_IN_ROLE,
  args: { sayings: [{ verb: 'assert', space: 'ward', subject: 'p7', predicate, object }] },
  writ,
});

onClinics((begun) => {
  test('statements are foreseen, and a contradiction waits for a person', async () => {
    const { memory, trajectory, store } = await begun();
    const first = await trajectory.judge(believe('diagnosis', 'flu') as never);
    expect(first).toMatchObject({
      ruling: 'committed',
      changes: [],
      statements: [{ object: 'flu' }],
    });
    // The first statement of a store makes its key, and a judgement does not.
    expect(await store.claimKey()).toBeUndefined();
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    const before = trajectory.head;
    expect(await trajectory.judge(believe('diagnosis', 'gout') as never)).toMatchObject({
      ruling: 'escalated',
      reason: 'contradiction',
      channel: 'doctor',
    });
    // Only the facts of now are known, so an earlier point compares none.
    expect(await trajectory.judge(believe('diagnosis', 'gout') as never, before)).toMatchObject({
      ruling: 'committed',
    });
    expect(trajectory.head).toBe(before);
  });

  test('the judge of contradictions is asked for a proposal, and not before', async () => {
    const clock = new HandClock();
    let asked = 0;
    const choose = ({
      members,
    }: {
      readonly members: readonly { readonly claim: string }[];
    }): string => {
      asked += 1;
      return members[0]!.claim;
    };
    const oracle = createOracle({ store: await openStore('memory:'), clock, mode: 'record' });
    const { memory, trajectory } = await begun({
      memory: { judge: { oracle, choose } },
      ports: { clock },
    });
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'urgent' }));
    clock.forward(1_000);
    const foreseen = await trajectory.judge(believe('triage', 'can wait') as never);
    expect([foreseen.ruling, asked]).toEqual(['escalated', 0]);
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'can wait' }));
    expect(asked).toBe(1);
  });

  test('a halt refuses now, and not before it; an unknown entry is an error', async () => {
    const { trajectory } = await begun();
    const before = trajectory.head;
    const visit = {
      action: 'visit',
      role: 'nurse',
      args: { patient: 'p7', weight: '80 kg' },
      writ,
    } as const;
    await trajectory.halt({
      writ: writFor('security', { actions: ['assize.halt'], scopes: ['halt:**'] }),
      reason: 'a drill',
    });
    expect(await trajectory.judge(visit)).toMatchObject({ ruling: 'refused', code: 'halted' });
    expect(await trajectory.judge(visit, before)).toMatchObject({
      ruling: 'committed',
      changes: [{ op: 'replace', path: '/visits', value: 1 }],
      statements: [{ predicate: 'weight', object: '80 kg' }],
    });
    await expect(trajectory.judge(visit, 'f'.repeat(64))).rejects.toMatchObject({
      code: 'not_found',
    });
    await expect(trajectory.judge({ ...visit, writ: 'f'.repeat(64) })).rejects.toMatchObject({
      code: 'unknown_writ',
    });
  });
});
