import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { defineDomain, escalate, pass } from '#kernel';
import { createOracle } from '#oracle';
import { openStore } from '#stores';
import {
  committed,
  day,
  objects,
  writ,
} from '../../../../../tests/support/clinic/clinic-memory.ts';
import { HandClock, runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { MemoryRuntimeOptions } from '../options.ts';
import type { ApprovalInput, Ruling } from '../records/ruling.ts';
import type { Judge } from './plan/votes.ts';

/**
 * A ward in which doctors choose diagnoses, clerks notes, and the judge triage. Clerks approve
 * admissions; discharges need two counselors.
 */
const ward = defineDomain({
  name: 'ward',
  version: '1',
  state: z.object({ beds: z.number().int(), gone: z.number().int() }),
  initial: { beds: 0, gone: 0 },
  processes: { moving: { writes: ['/beds', '/gone'] } },
  roles: { nurse: { processes: ['moving'] } },
  actions: {
    admit: {
      process: 'moving',
      args: z.string(),
      apply: (state) => {
        state.beds += 1;
      },
      beliefs: (object) =>
        object === 'unseen'
          ? []
          : [
              {
                verb: 'assert' as const,
                space: 'ward',
                subject: 'p7',
                predicate: 'diagnosis',
                object,
              },
            ],
    },
    discharge: {
      process: 'moving',
      args: z.string(),
      approvals: 2,
      apply: (state) => {
        state.gone += 1;
      },
      beliefs: (object) => [
        { verb: 'assert' as const, space: 'ward', subject: 'p7', predicate: 'diagnosis', object },
      ],
    },
  },
  invariants: ({ invariant }) => [
    invariant(
      'CLERK_LOOKS',
      ['/beds'],
      ({ beds }) => (beds > 0 ? escalate('somebody has to look') : pass),
      {
        channel: 'clerk',
      },
    ),
  ],
  counselors: {
    clerk: (principal) => /^clerk |^chief /.test(principal),
    doctor: (principal) => /^dr |^chief /.test(principal),
    matron: (principal) => /matron/.test(principal),
  },
  deputies: { doctor: { kind: 'matron', afterMs: 1_000 } },
  memory: {
    predicates: {
      diagnosis: { cardinality: 'single-valued', strategy: 'await', channel: 'doctor' },
      note: { cardinality: 'single-valued', strategy: 'await', channel: 'clerk' },
      triage: { cardinality: 'single-valued', strategy: 'rule' },
    },
  },
});

type Escalated = Extract<Ruling, { ruling: 'escalated' }>;

const clerk: ApprovalInput = { principal: 'clerk bob', method: 'test', override: true };
const doctor: ApprovalInput = { principal: 'dr house', method: 'test' };
const about = (predicate: string, object: string) => ({
  subject: 'p7',
  predicate,
  object,
  source: `a letter of ${object}`,
  valid: { from: day('2026-01-01') },
});

async function begun(services: MemoryRuntimeOptions = {}) {
  const clock = new HandClock();
  const store = await openStore('memory:');
  const trajectory = await runtimeOver(store, [ward], {
    ports: { clock },
    memory: services,
  }).create(ward, {
    trajectoryId: 't',
    writs: [writ],
  });
  const memory = trajectory.memory({ space: 'ward', writ });
  const elsewhere = (more: MemoryRuntimeOptions = {}) =>
    runtimeOver(store, [ward], {
      ports: { clock },
      memory: { ...services, ...more },
    }).open('t', ward);
  const believed = async (predicate: string) =>
    objects((await memory.recall({ subject: 'p7', predicate })).facts);
  const propose = async (action: 'admit' | 'discharge', args: string) =>
    (await trajectory.propose({ action, role: 'nurse', args, writ })) as Escalated;
  const say = async (...sayings: ReturnType<typeof about>[]) =>
    (await memory.assertMany(sayings)) as Escalated;
  /** The answer that chooses an object, for the only question. */
  const electing = async (pending: string, object: string) => {
    const [question] = await trajectory.approvals.questionsOf(pending);
    const { claim } = question!.members.find((member) => member.object === object)!;
    return { request: question!.request, winner: claim };
  };
  /** The current question, from the error for an approval without an answer. */
  const asked = async (pending: string, by: ApprovalInput): Promise<string[]> => {
    const error = await trajectory.approvals.approve(pending, by).catch((error) => error);
    expect(error).toMatchObject({ code: 'answers_needed' });
    return error.evidence.requests;
  };
  const claimOf = async (predicate: string): Promise<string> =>
    (await memory.recall({ subject: 'p7', predicate })).facts[0]!.lineage;
  return {
    clock,
    store,
    trajectory,
    memory,
    elsewhere,
    believed,
    propose,
    say,
    electing,
    asked,
    claimOf,
  };
}

describe('the answering principal', () => {
  test('is a counselor of the predicate’s channel, for any approval channel', async () => {
    const { trajectory, memory, store, believed, propose, asked, claimOf } = await begun();
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending, channel } = await propose('admit', 'plague');
    expect(channel).toBe('clerk');
    const [request] = await asked(pending, clerk);
    const answers = [{ request: request!, winner: await claimOf('diagnosis') }];
    const { length } = trajectory;
    await expect(
      trajectory.approvals.approve(pending, { ...clerk, answers }),
    ).rejects.toMatchObject({
      code: 'unauthorised_counselor',
      evidence: { principal: 'clerk bob', channel: 'doctor' },
    });
    expect(trajectory.length).toBe(length);
    expect(trajectory.state()).toEqual({ beds: 0, gone: 0 });
    await committed(
      trajectory.approvals.approve(pending, { ...clerk, principal: 'chief wilson', answers }),
    );
    expect(await believed('diagnosis')).toEqual(['flu']);
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  test('is a deputy that is due, where the request names one for the channel', async () => {
    const { clock, trajectory, memory, believed, say, propose, electing, asked, claimOf } =
      await begun();
    const matron: ApprovalInput = { ...clerk, principal: 'matron ann' };
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending } = await say(about('diagnosis', 'plague'));
    const answers = [await electing(pending, 'plague')];
    clock.forward(999);
    const early = trajectory.approvals.approve(pending, { ...matron, answers });
    await expect(early).rejects.toMatchObject({ code: 'unauthorised_counselor' });
    clock.forward(1);
    await committed(trajectory.approvals.approve(pending, { ...matron, answers }));
    expect(await believed('diagnosis')).toEqual(['plague']);

    const { pending: admission } = await propose('admit', 'cold');
    clock.forward(60_000);
    const by = { ...clerk, principal: 'clerk matron' };
    const [request] = await asked(admission, by);
    const winner = await claimOf('diagnosis');
    const answered = { ...by, answers: [{ request: request!, winner }] };
    await expect(trajectory.approvals.approve(admission, answered)).rejects.toMatchObject({
      code: 'unauthorised_counselor',
      evidence: { channel: 'doctor' },
    });
  });

  test('is missing for a question that arose after the submission', async () => {
    const { trajectory, memory, believed, say, electing, asked, claimOf } = await begun();
    await committed(memory.assert(about('note', 'tall')));
    const { pending } = await say(about('note', 'short'), about('diagnosis', 'plague'));
    const note = await electing(pending, 'short');
    await committed(memory.assert(about('diagnosis', 'flu')));
    const [request] = await asked(pending, { ...clerk, answers: [note] });
    const answers = [note, { request: request!, winner: await claimOf('diagnosis') }];
    const { length } = trajectory;
    for (const principal of ['clerk bob', 'chief wilson'])
      await expect(
        trajectory.approvals.approve(pending, { ...clerk, principal, answers }),
      ).rejects.toMatchObject({
        code: 'changed_since',
        message: expect.stringMatching(/did not ask .* when it was submitted/),
        evidence: { id: pending, request },
      });
    expect(trajectory.length).toBe(length);
    expect([await believed('note'), await believed('diagnosis')]).toEqual([['tall'], ['flu']]);
  });

  test('is not a human if a judge chooses, also a judge in another process', async () => {
    const oracle = createOracle({
      store: await openStore('memory:'),
      clock: new HandClock(),
      mode: 'record',
    });
    const shown: { request: string; members: readonly { claim: string; object: string }[] }[] = [];
    const choose: Judge['choose'] = (question) => {
      shown.push(question);
      return question.members.find(({ object }) => object === 'urgent')!.claim;
    };
    const { trajectory, memory, elsewhere, believed, say, electing } = await begun({
      judge: { oracle, choose },
    });
    await committed(memory.assertMany([about('triage', 'urgent'), about('diagnosis', 'flu')]));
    const { pending } = await say(about('triage', 'can wait'), about('diagnosis', 'cold'));
    const diagnosis = await electing(pending, 'cold');
    const [{ request, members }] = shown as [(typeof shown)[number]];
    const { claim: winner } = members.find(({ object }) => object === 'can wait')!;
    const answers = [diagnosis, { request, winner }];
    const { length } = trajectory;
    const refused = { code: 'unauthorised_counselor', message: expect.stringContaining('judge') };
    await expect(
      trajectory.approvals.approve(pending, { ...doctor, answers }),
    ).rejects.toMatchObject(refused);
    const without = await elsewhere({ judge: undefined } as never);
    await expect(without.approvals.approve(pending, { ...doctor, answers })).rejects.toMatchObject({
      code: 'changed_since',
    });
    expect(trajectory.length).toBe(length);
    await committed(trajectory.approvals.approve(pending, { ...doctor, answers: [diagnosis] }));
    expect([await believed('triage'), await believed('diagnosis')]).toEqual([['urgent'], ['cold']]);
    expect(shown).toHaveLength(1);
  });

  test('is a human without a judge, and the judge once one is configured', async () => {
    const oracle = createOracle({
      store: await openStore('memory:'),
      clock: new HandClock(),
      mode: 'record',
    });
    const { trajectory, memory, elsewhere, believed, say, electing } = await begun();
    await committed(memory.assert(about('triage', 'urgent')));
    const { pending } = await say(about('triage', 'can wait'));
    const answers = [await electing(pending, 'can wait')];
    const choose: Judge['choose'] = ({ members }) =>
      members.find(({ object }) => object === 'urgent')!.claim;
    const judged = await elsewhere({ judge: { oracle, choose } });
    const { length } = trajectory;
    await expect(judged.approvals.approve(pending, { ...doctor, answers })).rejects.toMatchObject({
      code: 'unauthorised_counselor',
      message: expect.stringContaining('judge'),
    });
    expect(judged.length).toBe(length);
    await committed(trajectory.approvals.approve(pending, { ...doctor, answers }));
    expect(await believed('triage')).toEqual(['can wait']);
  });
});

describe('answers', () => {
  test('come with the last approval of several, and with no earlier one', async () => {
    const { trajectory, memory, store, believed, propose, electing } = await begun();
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending } = await propose('discharge', 'plague');
    const { length } = trajectory;
    for (const answers of [[await electing(pending, 'flu')], [{ request: 'no', winner: 'nobody' }]])
      await expect(
        trajectory.approvals.approve(pending, { ...doctor, answers }),
      ).rejects.toMatchObject({
        code: 'bad_intent',
        message: expect.stringContaining('the last'),
      });
    expect(trajectory.length).toBe(length);
    const first = (await trajectory.approvals.approve(pending, doctor)) as Escalated;
    expect(first).toMatchObject({ ruling: 'escalated', approvedBy: [{ principal: 'dr house' }] });
    const answers = [await electing(first.pending, 'plague')];
    await committed(
      trajectory.approvals.approve(first.pending, { ...doctor, principal: 'dr wilson', answers }),
    );
    expect(await believed('diagnosis')).toEqual(['plague']);
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  test.each([
    ['says nothing', 'unseen', 'bad_intent'],
    ['contradicts nothing', 'plague', 'stale_answer'],
  ])(
    'to a proposal that %s are refused, and it is approved without them',
    async (_, object, code) => {
      const { trajectory, propose } = await begun();
      const { pending } = await propose('admit', object);
      const { length } = trajectory;
      const answers = [{ request: 'one', winner: 'another' }];
      await expect(
        trajectory.approvals.approve(pending, { ...clerk, answers }),
      ).rejects.toMatchObject({
        code,
        evidence: { id: pending },
      });
      expect(trajectory.length).toBe(length);
      expect(trajectory.state()).toEqual({ beds: 0, gone: 0 });
      await committed(trajectory.approvals.approve(pending, clerk));
      expect(trajectory.state()).toEqual({ beds: 1, gone: 0 });
    },
  );

  test('are refused if two of them are for one question', async () => {
    const { trajectory, memory, believed, say, electing } = await begun();
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending } = await say(about('diagnosis', 'cold'));
    const answers = [await electing(pending, 'flu'), await electing(pending, 'cold')];
    const { length } = trajectory;
    await expect(
      trajectory.approvals.approve(pending, { ...doctor, answers }),
    ).rejects.toMatchObject({
      reason: 'repeated_answer',
      evidence: { request: answers[0]!.request },
    });
    expect(trajectory.length).toBe(length);
    expect(await believed('diagnosis')).toEqual(['flu']);
  });

  test.each([
    ['elects another', (answers: any[], winner: string) => Object.assign(answers[0], { winner })],
    ['is no longer an answer', (answers: any[]) => answers.fill(null)],
    ['is gone', (answers: any[]) => answers.pop()],
  ])('are copied at the call, even if one %s while the approval waits', async (_, change) => {
    const { memory, elsewhere, believed, say, electing } = await begun();
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending } = await say(about('diagnosis', 'cold'));
    const answers: any[] = [await electing(pending, 'cold')];
    const { winner } = await electing(pending, 'flu');
    const approving = (await elsewhere()).approvals.approve(pending, { ...doctor, answers });
    change(answers, winner);
    await committed(approving);
    expect(await believed('diagnosis')).toEqual(['cold']);
  });

  test('that have a hole are invalid', async () => {
    const { trajectory, memory, say } = await begun();
    await committed(memory.assert(about('diagnosis', 'flu')));
    const { pending } = await say(about('diagnosis', 'cold'));
    // biome-ignore lint/suspicious/noSparseArray: this is what is tried.
    const answers = [,] as never;
    await expect(
      trajectory.approvals.approve(pending, { ...doctor, answers }),
    ).rejects.toMatchObject({
      code: 'bad_intent',
    });
  });
});
