import { describe, expect, test } from 'vitest';
import type { Instant } from '#canon';
import { type PendingPayload, readRow } from '#ledger';
import { OPEN_END, readWitness } from '#memory';
import { attemptsOf, createOracle, oracleKey, type Pause } from '#oracle';
import { openStore } from '#stores';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  committed,
  day,
  objects,
  onClinics,
  writ,
} from '../../../../../tests/support/clinic/clinic-memory.ts';
import { HandClock, runtimeOver } from '../../../../../tests/support/ledger/runtime.ts';
import { verifyStore } from '../inspect/verify.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Judge } from './index.ts';

onClinics((begun) => {
  test('a fact that a human must choose holds only after the choice', async () => {
    const { clock, trajectory, memory } = await begun();
    const diagnosis = async (): Promise<string[]> =>
      objects((await memory.recall({ subject: 'p7', predicate: 'diagnosis' })).facts);
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    clock.forward(1_000);
    const asked = await memory.assert({
      subject: 'p7',
      predicate: 'diagnosis',
      object: 'pneumonia',
    });
    expect(asked).toMatchObject({
      ruling: 'escalated',
      reason: 'contradiction',
      channel: 'doctor',
    });
    expect(await diagnosis()).toEqual(['flu']);
    const { pending, entry } = asked as Extract<Ruling, { ruling: 'escalated' }>;
    expect(entry.payload).not.toMatch(/p7|pneumonia/);
    const decide = { principal: 'dr house', method: 'test' };
    await expect(trajectory.approvals.approve(pending, decide)).rejects.toMatchObject({
      code: 'answers_needed',
    });
    const [question] = await trajectory.approvals.questionsOf(pending);
    const winner = question!.members.find(({ object }) => object === 'pneumonia')!.claim;
    const answers = [{ request: question!.request, winner }];
    // Independent of the delay: statements without a time are valid from the time of their
    // statement.
    clock.forward(60_000);
    await expect(
      trajectory.approvals.approve(pending, {
        ...decide,
        answers: [{ ...answers[0]!, winner: 'nobody' }],
      }),
    ).rejects.toMatchObject({
      reason: 'unknown_member',
    });
    expect(await diagnosis()).toEqual(['flu']);
    expect(await trajectory.approvals.approve(pending, { ...decide, answers })).toMatchObject({
      ruling: 'committed',
    });
    expect(await diagnosis()).toEqual(['pneumonia']);
    expect((readRow(entry).payload as PendingPayload).freezes).toEqual([]);
  });

  test('an open trajectory has another process’s questions until the resolution', async () => {
    const { store, clock, trajectory, memory } = await begun();
    const elsewhere = await runtimeOver(store, [clinic], { ports: { clock } }).open(
      trajectory.id,
      clinic,
    );
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    const { pending } = (await memory.assert({
      subject: 'p7',
      predicate: 'diagnosis',
      object: 'cold',
    })) as never as {
      pending: string;
    };
    const questions = await elsewhere.approvals.questionsOf(pending);
    expect(questions).toEqual(await trajectory.approvals.questionsOf(pending));
    const [{ request, members }] = questions as unknown as [
      { request: string; members: [{ claim: string }] },
    ];
    const answers = [{ request, winner: members[0].claim }];
    await committed(
      trajectory.approvals.approve(pending, { principal: 'dr house', method: 'test', answers }),
    );
    await expect(elsewhere.approvals.questionsOf(pending)).rejects.toMatchObject({
      code: 'not_pending',
    });
  });

  test('an answer to an obsolete question is refused, and nothing is written', async () => {
    const { trajectory, memory } = await begun();
    await committed(memory.assert({ subject: 'p7', predicate: 'diagnosis', object: 'flu' }));
    const { pending } = (await memory.assert({
      subject: 'p7',
      predicate: 'diagnosis',
      object: 'cold',
    })) as never as {
      pending: string;
    };
    const [{ request, members }] = (await trajectory.approvals.questionsOf(pending)) as unknown as [
      { request: string; members: [{ claim: string }] },
    ];
    const whole = { from: day('2000-01-01'), to: day('2100-01-01') };
    await committed(
      memory.correct({ subject: 'p7', predicate: 'diagnosis', object: 'measles', valid: whole }),
    );
    const length = trajectory.length;
    const answer = {
      principal: 'dr house',
      method: 'test',
      answers: [{ request, winner: members[0].claim }],
    };
    await expect(trajectory.approvals.approve(pending, answer)).rejects.toMatchObject({
      code: 'stale_answer',
    });
    expect(trajectory.length).toBe(length);
  });

  test('a vanished question needs no answers; a changed one is proposed again', async () => {
    const { clock, trajectory, memory } = await begun();
    const diagnosis = (object: string) => ({ subject: 'p7', predicate: 'diagnosis', object });
    const always = { from: day('2000-01-01'), to: OPEN_END };
    const decide = { principal: 'dr house', method: 'test' };
    const asked = async (object: string) => {
      const ruling = await memory.assert(diagnosis(object), {
        idempotencyKey: `${object} ${clock.now()}`,
      });
      if (ruling.ruling !== 'escalated') throw new Error(JSON.stringify(ruling));
      const [question] = await trajectory.approvals.questionsOf(ruling.pending);
      const [winner] = question!.members.map(({ claim }) => claim) as [string];
      return {
        pending: ruling.pending,
        question: question!,
        answers: [{ request: question!.request, winner }],
      };
    };
    await committed(memory.assert(diagnosis('flu')));
    clock.forward(1_000);
    const [gone, moved] = [await asked('cold'), await asked('gout')];
    // One has no contradiction, and the other a different one.
    await committed(memory.retract({ subject: 'p7', predicate: 'diagnosis', valid: always }));
    for (const { pending, answers, question } of [gone, moved]) {
      const refused = trajectory.approvals.approve(pending, { ...decide, answers });
      await expect(refused).rejects.toMatchObject({
        code: 'stale_answer',
        evidence: { id: pending, request: question.request },
        message: expect.stringMatching(
          /Approve it without answers.* reject it .*under a new idempotency key/,
        ),
      });
    }
    expect(await trajectory.approvals.approve(gone.pending, decide)).toMatchObject({
      ruling: 'committed',
    });
    await expect(trajectory.approvals.approve(moved.pending, decide)).rejects.toMatchObject({
      code: 'answers_needed',
    });
    await trajectory.approvals.reject(moved.pending, {
      ...decide,
      reason: 'it is asked about something else',
    });
    clock.forward(1_000);
    const again = await asked('gout');
    expect(again.question.members.map(({ object }) => object).sort()).toEqual(['cold', 'gout']);
    const { claim: winner } = again.question.members.find(({ object }) => object === 'gout')!;
    const answers = [{ request: again.question.request, winner }];
    expect(await trajectory.approvals.approve(again.pending, { ...decide, answers })).toMatchObject(
      {
        ruling: 'committed',
      },
    );
    const { facts } = await memory.recall({ subject: 'p7', predicate: 'diagnosis' });
    expect(objects(facts)).toEqual(['gout']);
  });

  test('a judge is asked once per question, and its vote is logged before use', async () => {
    const calls: string[] = [];
    const store = await openStore('memory:');
    const oracle = createOracle({ store, clock: new HandClock(), mode: 'record' });
    const choose = ({
      request,
      members,
    }: {
      request: string;
      members: readonly { claim: string; object: string }[];
    }): string => {
      calls.push(request);
      // The judge takes its time; a later statement is still asked about only once.
      asking.forward(1_000);
      if (calls.length > 5) throw new Error('it is asked again and again');
      return members.find(({ object }) => object === 'urgent')!.claim;
    };
    const asking = new HandClock();
    const { memory } = await begun({
      memory: { judge: { oracle, choose } },
      ports: { clock: asking },
    });
    const clock = asking;
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'urgent' }));
    clock.forward(1_000);
    await committed(memory.assert({ subject: 'p7', predicate: 'triage', object: 'can wait' }));
    expect(objects((await memory.recall({ subject: 'p7', predicate: 'triage' })).facts)).toEqual([
      'urgent',
    ]);
    expect(calls).toHaveLength(1);
    const [row] = (
      await memory.recall({ subject: 'p7', predicate: 'triage', kind: 'audit', valid: 'any' })
    ).facts;
    expect(await store.oracleGet(readWitness(row!).judge!)).toBeDefined();
  });

  test('a proposal keeps its judge and human questions; the judge is asked once', async () => {
    const clock = new HandClock();
    const asked: string[] = [];
    const oracle = createOracle({ store: await openStore('memory:'), clock, mode: 'record' });
    const choose = ({
      request,
      members,
    }: {
      request: string;
      members: readonly { claim: string }[];
    }): string => {
      asked.push(request);
      clock.forward(1_000);
      return members[0]!.claim;
    };
    const { store, memory, trajectory } = await begun({
      memory: { judge: { oracle, choose } },
      ports: { clock },
    });
    const said = (diagnosis: string, triage: string): Promise<Ruling> =>
      memory.assertMany([
        { subject: 'p7', predicate: 'triage', object: triage },
        { subject: 'p7', predicate: 'diagnosis', object: diagnosis },
      ]);
    await committed(said('flu', 'urgent'));
    clock.forward(1_000);
    const { pending } = (await said('pneumonia', 'can wait')) as Extract<
      Ruling,
      { ruling: 'escalated' }
    >;
    const [question, ...others] = await trajectory.approvals.questionsOf(pending);
    expect([question!.predicate, others]).toEqual(['diagnosis', []]);
    const winner = question!.members.find(({ object }) => object === 'pneumonia')!.claim;
    clock.forward(60_000);
    const answers = [{ request: question!.request, winner }];
    const decide = { principal: 'dr house', method: 'test', answers };
    // Also by a process that did not see the vote.
    const again = await runtimeOver(store, [clinic], {
      ports: { clock },
      memory: { judge: { oracle, choose } },
    }).open('t', clinic);
    expect(await again.approvals.approve(pending, decide)).toMatchObject({ ruling: 'committed' });
    expect(asked).toHaveLength(1);
    expect(objects((await memory.recall({ subject: 'p7', predicate: 'diagnosis' })).facts)).toEqual(
      ['pneumonia'],
    );
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });

  describe('a judge', () => {
    type Choosing = Parameters<Judge['choose']>[0];
    const judged = async (choose: Judge['choose'], more: Partial<Judge> = {}) => {
      const log = await openStore('memory:');
      const oracle = createOracle({ store: log, clock: new HandClock(), mode: 'record' });
      const requests: string[] = [];
      const asking = (question: Choosing) => {
        requests.push(question.request);
        return choose(question);
      };
      const world = await begun({ memory: { judge: { oracle, choose: asking, ...more } } });
      await committed(world.memory.assert({ ...triage, object: 'urgent' }));
      const keys = () =>
        [...new Set(requests)].map((judge) =>
          oracleKey({ scope: { kind: 'memory', space: 'ward' }, request: { judge } }),
        );
      return { ...world, log, requests, keys };
    };
    const triage = { subject: 'p7', predicate: 'triage', valid: { from: day('2026-01-01') } };
    const urgent = ({ members }: Choosing): string =>
      members.find(({ object }) => object === 'urgent')!.claim;

    test('that throws, votes invalidly or times out is logged and asked again', async () => {
      const votes: ((question: Choosing) => string | Promise<string>)[] = [
        () => {
          throw new Error('the model is away');
        },
        () => 'somebody',
        () => new Promise<string>(() => undefined),
        urgent,
      ];
      const pause: Pause = async (_from, _to, signal) => {
        // An immediate answer is in time.
        await new Promise((resolve) => setImmediate(resolve));
        await new Promise((resolve) => setImmediate(resolve));
        if (signal?.aborted) return;
      };
      const { memory, log, requests, keys, trajectory } = await judged(
        (question) => votes.shift()!(question),
        {
          timeoutMs: 1_000,
          pause,
        },
      );
      const say = () => memory.assert({ ...triage, object: 'can wait' });
      const length = trajectory.length;
      await expect(say()).rejects.toThrow('the model is away');
      await expect(say()).rejects.toMatchObject({ reason: 'unknown_member' });
      await expect(say()).rejects.toMatchObject({ code: 'judge_late' });
      expect(trajectory.length).toBe(length);
      await committed(say());
      // The members are the same each time, except the new claim.
      const attempts = await Promise.all(keys().map((key) => attemptsOf(log, key)));
      expect(attempts.flat()).toMatchObject([
        { outcome: 'failed', error: { length: 'the model is away'.length } },
        { outcome: 'refused', length: '"somebody"'.length, error: { code: 'unknown_member' } },
        { outcome: 'failed', error: { code: 'judge_late' } },
      ]);
      expect(requests).toHaveLength(4);
    });

    test('is asked again about changes made during its call', async () => {
      const meanwhile: (() => Promise<unknown>)[] = [];
      const { assize, memory, log, requests, keys } = await judged(async (question) => {
        await meanwhile.shift()?.();
        return urgent(question);
      });
      const other = (await assize.create(clinic, { trajectoryId: 'u', writs: [writ] })).memory({
        space: 'ward',
        writ,
      });
      const half = { from: day('2026-01-01'), to: day('2026-07-01') };
      meanwhile.push(() =>
        committed(other.retract({ subject: 'p7', predicate: 'triage', valid: half })),
      );
      await committed(memory.assert({ ...triage, object: 'can wait' }));
      expect(new Set(requests).size).toBe(2);
      for (const key of keys()) expect(await log.oracleGet(key)).toBeDefined();
      const triaged = async (valid: Instant) =>
        objects((await memory.recall({ subject: 'p7', valid })).facts);
      expect([await triaged(day('2026-03-01')), await triaged(day('2026-08-01'))]).toEqual([
        ['can wait'],
        ['urgent'],
      ]);
    });
  });

  test('an expired question refuses late answers; a new assertion asks again', async () => {
    const { clock, trajectory, memory, store } = await begun({ approvals: { timeoutMs: 10_000 } });
    const said = {
      subject: 'p7',
      predicate: 'diagnosis',
      source: 'letter 3',
      valid: { from: day('2026-01-01') },
    };
    await committed(memory.assert({ ...said, object: 'flu' }));
    const ask = () =>
      memory.assert({ ...said, object: 'cold' }) as Promise<
        Extract<Ruling, { ruling: 'escalated' }>
      >;
    const { pending } = await ask();
    const [question] = await trajectory.approvals.questionsOf(pending);
    const { request, members } = question!;
    const answers = [{ request, winner: members[0]!.claim }];
    const decide = { principal: 'dr house', method: 'test', answers };
    clock.forward(20_000);
    expect(await trajectory.approvals.approve(pending, decide)).toMatchObject({
      ruling: 'rejected',
      reason: 'expired',
    });
    const length = trajectory.length;
    await expect(trajectory.approvals.approve(pending, decide)).rejects.toMatchObject({
      reason: 'stale_callback',
    });
    const { answers: _, ...without } = decide;
    await expect(trajectory.approvals.approve(pending, without)).rejects.toMatchObject({
      code: 'not_pending',
    });
    expect(
      await trajectory.approvals
        .questionsOf(pending)
        .catch((error: { reason: string }) => error.reason),
    ).toBe('not_pending');
    expect([trajectory.length, trajectory.approvals.pending()]).toEqual([length, []]);
    const again = await ask();
    expect(again).toMatchObject({ ruling: 'escalated' });
    expect(again.pending).not.toBe(pending);
    // The same claims, and so the same question.
    expect(await trajectory.approvals.questionsOf(again.pending)).toEqual([question]);
    expect(await trajectory.approvals.approve(again.pending, decide)).toMatchObject({
      ruling: 'committed',
    });
    await expect(trajectory.approvals.approve(again.pending, decide)).rejects.toMatchObject({
      reason: 'stale_callback',
    });
    expect(await verifyStore(store)).toMatchObject([{ valid: true }]);
  });
});
