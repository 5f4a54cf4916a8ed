import { expect, test } from 'vitest';
import type { Question } from '#memory';
import { createOracle } from '#oracle';
import { openStore } from '#stores';
import {
  committed,
  day,
  objects,
  onClinics,
} from '../../../../../tests/support/clinic/clinic-memory.ts';
import { HandClock } from '../../../../../tests/support/ledger/runtime.ts';
import type { Ruling } from '../records/ruling.ts';
import { checkMemory, rebuildMemory } from './index.ts';

const city = (object: string, source: string, more: object = {}) => ({
  ...{ subject: 'p7', predicate: 'drug', object, source, valid: { from: day('2026-03-01') } },
  ...more,
});

onClinics((begun) => {
  test('a withdrawn source takes only the facts that rest on it alone', async () => {
    const { clock, memory, store, trajectory } = await begun();
    const allergy = (object: string, source: string) => ({
      ...city(object, source),
      predicate: 'allergy',
    });
    await committed(memory.assertMany([allergy('nuts', 'm1'), allergy('milk', 'm1')]));
    clock.forward(1_000);
    await committed(memory.assert(allergy('nuts', 'm2')));
    await committed(memory.assert(allergy('soap', 'm3')));
    clock.forward(1_000);
    const before = clock.at;
    clock.forward(1_000);
    const { facts, ruling } = await memory.withdraw({ source: 'm1' });
    expect(facts.map(({ fact, stays }) => [fact.object, stays]).sort()).toEqual([
      ['milk', false],
      ['nuts', true],
    ]);
    expect(ruling).toMatchObject({ ruling: 'committed' });
    const believed = async (system?: string) =>
      objects((await memory.recall({ subject: 'p7', ...(system && { system }) })).facts).sort();
    expect(await believed()).toEqual(['nuts', 'soap']);
    expect(await believed(before)).toEqual(['milk', 'nuts', 'soap']);
    // Nothing of it is left to withdraw, and nothing is proposed.
    const { length } = trajectory;
    expect(await memory.withdraw({ source: 'm1' })).toEqual({
      facts: [],
      restored: [],
      pending: [],
    });
    expect(trajectory.length).toBe(length);
    expect((await memory.withdraw({ source: 'm2' })).facts).toMatchObject([
      { fact: { object: 'nuts' }, stays: false },
    ]);
    expect(await believed()).toEqual(['soap']);
    expect((await checkMemory(store)).differences).toEqual([]);
    await rebuildMemory(store);
    expect(await believed()).toEqual(['soap']);
  });

  test('the fact that is left has the confidence and border of its own claim', async () => {
    const { clock, memory } = await begun();
    const weight = (confidence: number, source: string) => ({
      ...city('80 kg', source),
      predicate: 'weight',
      confidence,
    });
    await committed(memory.assert(weight(0.4, 'm1')));
    clock.forward(1_000);
    await committed(memory.assert(weight(0.9, 'm2')));
    const of = { subject: 'p7', predicate: 'weight' };
    expect((await memory.recall(of)).facts).toMatchObject([{ confidence: 0.9 }]);
    await memory.withdraw({ source: 'm2', ...of });
    expect((await memory.recall(of)).facts).toMatchObject([{ object: '80 kg', confidence: 0.4 }]);
    // The claim that named the fact is withdrawn, and the fact stays under the other.
    await committed(memory.assert(weight(0.6, 'm3')));
    await memory.withdraw({ source: 'm1' });
    const [left] = (await memory.recall(of)).facts;
    expect(left).toMatchObject({ object: '80 kg', confidence: 0.6 });
    expect((await memory.explain(left!)).sources).toMatchObject([{ source: 'm3' }]);
  });

  test('a fact that lost to a withdrawn one alone is believed again', async () => {
    const { clock, memory, store } = await begun();
    await committed(memory.assert(city('aspirin', 'm1')));
    clock.forward(1_000);
    await committed(memory.assert(city('ibuprofen', 'm2')));
    clock.forward(1_000);
    await committed(memory.assert(city('zinc', 'm3')));
    clock.forward(1_000);
    const believed = async () =>
      objects((await memory.recall({ subject: 'p7', predicate: 'drug' })).facts);
    // It had lost, so nothing rests on it, and it does not come back.
    expect(await memory.withdraw({ source: 'm2' })).toMatchObject({ facts: [], restored: [] });
    expect(await memory.withdraw({ source: 'm2' })).toEqual({
      facts: [],
      restored: [],
      pending: [],
    });
    expect(await believed()).toEqual(['zinc']);
    clock.forward(1_000);
    const { restored, ruling } = await memory.withdraw({ source: 'm3' });
    const { entry } = ruling as Extract<Ruling, { ruling: 'committed' }>;
    expect(restored).toMatchObject([
      { object: 'aspirin', valid_from: day('2026-03-01'), entry_id: entry.id },
    ]);
    expect(await believed()).toEqual(['aspirin']);
    expect(await memory.assert(city('aspirin', 'm1'))).toMatchObject({
      ruling: 'committed',
      unchanged: true,
    });
    expect((await checkMemory(store)).differences).toEqual([]);
    await rebuildMemory(store);
    expect(await believed()).toEqual(['aspirin']);
    await memory.withdraw({ source: 'm1' });
    expect(await believed()).toEqual([]);
  });

  test('one commit withdraws a source that displaced facts of two subjects', async () => {
    const { clock, memory } = await begun();
    const of = (subject: string, object: string, source: string) => ({
      ...city(object, source),
      subject,
    });
    await committed(
      memory.assertMany([of('p7', 'heparin', 'doctor'), of('p8', 'aspirin', 'doctor')]),
    );
    clock.forward(1_000);
    await committed(memory.assertMany([of('p7', 'none', 'mail'), of('p8', 'none', 'mail')]));
    clock.forward(1_000);
    const { restored, ruling } = await memory.withdraw({ source: 'mail' });
    expect(ruling).toMatchObject({ ruling: 'committed' });
    expect(objects(restored).sort()).toEqual(['aspirin', 'heparin']);
    const believed = async (subject: string) => objects((await memory.recall({ subject })).facts);
    expect([await believed('p7'), await believed('p8')]).toEqual([['heparin'], ['aspirin']]);
  });

  test('what a withdrawn end or correction took away is believed again', async () => {
    const { clock, memory } = await begun();
    await committed(memory.assert(city('aspirin', 'm1')));
    clock.forward(1_000);
    await committed(
      memory.assert({ ...city('aspirin', 'm2'), valid: { to: day('2026-03-10') }, ends: true }),
    );
    const at = async (valid: string) =>
      objects((await memory.recall({ subject: 'p7', valid: day(valid) })).facts);
    expect([await at('2026-03-05'), await at('2026-03-20')]).toEqual([['aspirin'], []]);
    clock.forward(1_000);
    const { restored } = await memory.withdraw({ source: 'm2' });
    expect(restored).toMatchObject([{ object: 'aspirin', valid_from: day('2026-03-10') }]);
    expect([await at('2026-03-05'), await at('2026-03-20')]).toEqual([['aspirin'], ['aspirin']]);
    clock.forward(1_000);
    const valid = { from: day('2026-03-02'), to: day('2026-03-08') };
    await committed(memory.correct({ ...city('none', 'm3'), valid }));
    expect(await at('2026-03-05')).toEqual(['none']);
    clock.forward(1_000);
    await memory.withdraw({ source: 'm3' });
    expect(await at('2026-03-05')).toEqual(['aspirin']);
  });

  test('explain names the sources of a fact, and one subject alone can be meant', async () => {
    const { memory } = await begun();
    await committed(memory.assert(city('aspirin', 'm1')));
    await committed(memory.assert(city('aspirin', 'm1', { subject: 'p8' })));
    await committed(memory.assert({ subject: 'p7', predicate: 'allergy', object: 'nuts' }));
    const [nuts] = (await memory.recall({ subject: 'p7', predicate: 'allergy' })).facts;
    const { sources } = await memory.explain(nuts!);
    expect(sources).toHaveLength(1);
    expect(sources[0]).not.toHaveProperty('source');
    await memory.withdraw({ source: 'm1', subject: 'p8' });
    expect(objects((await memory.recall({ predicate: 'drug' })).facts)).toEqual(['aspirin']);
    for (const wrong of [{}, { source: '' }, { source: 'm1', object: 'x' }])
      await expect(memory.withdraw(wrong as never)).rejects.toMatchObject({
        code: /bad_argument|bad_text/,
      });
  });

  test('a fact that a human chose rests on the approver', async () => {
    const { clock, memory, trajectory, store } = await begun();
    const measles = { subject: 'p7', predicate: 'diagnosis', object: 'measles', source: 'm2' };
    await committed(memory.assert({ ...measles, object: 'flu', source: 'm1' }));
    clock.forward(1_000);
    const { pending } = (await memory.assert(measles)) as Extract<Ruling, { ruling: 'escalated' }>;
    const [question] = await trajectory.approvals.questionsOf(pending);
    const winner = question!.members.find(({ object }) => object === 'measles')!.claim;
    const answers = [{ request: question!.request, winner }];
    await committed(
      trajectory.approvals.approve(pending, { principal: 'dr house', method: 'test', answers }),
    );
    const rests = await memory.restingOn({ approver: 'dr house' });
    expect(rests).toMatchObject([{ fact: { object: 'measles' }, stays: false }]);
    expect(await memory.restingOn({ approver: 'dr who' })).toEqual([]);
    expect((await memory.restingOn({ source: 'm2' })).map(({ fact }) => fact.object)).toEqual([
      'measles',
    ]);
    expect((await memory.explain(rests[0]!.fact)).trust).toEqual([
      { kind: 'approver', name: 'dr house' },
    ]);
    // A withdrawn message takes the product with it, and gives back what was chosen against.
    const { restored } = await memory.withdraw({ source: 'm2' });
    expect(objects(restored)).toEqual(['flu']);
    expect(objects((await memory.recall({ predicate: 'diagnosis', valid: 'any' })).facts)).toEqual([
      'flu',
      'flu',
    ]);
    expect((await checkMemory(store)).differences).toEqual([]);
  });

  test.each([false, true])(
    'a pending claim of a withdrawn source is not approved (other fact: %s)',
    async (hasFact) => {
      const { clock, memory, trajectory, store } = await begun();
      const diagnosis = (object: string, source: string) => ({
        subject: 'p7',
        predicate: 'diagnosis',
        object,
        source,
      });
      await committed(memory.assert(diagnosis('flu', 'm1')));
      clock.forward(1_000);
      if (hasFact)
        await committed(memory.assert({ ...diagnosis('nuts', 'm2'), predicate: 'allergy' }));
      const { pending } = (await memory.assert(diagnosis('measles', 'm2'))) as Extract<
        Ruling,
        { ruling: 'escalated' }
      >;
      clock.forward(1_000);
      // A withdrawal about another predicate leaves the claim as it is.
      const elsewhere = await memory.withdraw({ source: 'm2', predicate: 'drug' });
      expect(elsewhere).toEqual({ facts: [], restored: [], pending: [] });
      const { facts, pending: waiting, ruling } = await memory.withdraw({ source: 'm2' });
      expect([facts.length, waiting]).toEqual([hasFact ? 1 : 0, [pending]]);
      expect(ruling).toMatchObject({ ruling: 'committed' });
      clock.forward(1_000);
      const { approvals } = trajectory;
      const [question] = await approvals.questionsOf(pending);
      const winner = question!.members.find(({ object }) => object === 'measles')!.claim;
      const answers = [{ request: question!.request, winner }];
      const { entry } = ruling as Extract<Ruling, { ruling: 'committed' }>;
      await expect(
        approvals.approve(pending, { principal: 'dr house', method: 'test', answers }),
      ).rejects.toMatchObject({
        code: 'wrong_state',
        message: expect.stringContaining('Reject it, and state its other'),
        evidence: { source: 'm2', entry: entry.id },
      });
      const believed = async () =>
        objects((await memory.recall({ subject: 'p7', valid: 'any' })).facts);
      expect(await believed()).toEqual(['flu']);
      expect(approvals.pending()).toHaveLength(1);
      await approvals.reject(pending, {
        principal: 'dr house',
        method: 'test',
        reason: 'the mail was withdrawn',
      });
      expect(await memory.withdraw({ source: 'm2' })).toEqual({
        facts: [],
        restored: [],
        pending: [],
      });
      // A statement of the source after its withdrawal is accepted.
      const again = (await memory.assert(diagnosis('mumps', 'm2'))) as Extract<
        Ruling,
        { ruling: 'escalated' }
      >;
      const [asked] = await approvals.questionsOf(again.pending);
      const other = asked!.members.find(({ object }) => object === 'mumps')!.claim;
      await committed(
        approvals.approve(again.pending, {
          ...{ principal: 'dr house', method: 'test' },
          answers: [{ request: asked!.request, winner: other }],
        }),
      );
      expect(await believed()).toContain('mumps');
      expect((await checkMemory(store)).differences).toEqual([]);
      await rebuildMemory(store);
      expect(await believed()).toContain('mumps');
    },
  );

  test('a fact that a policy chose rests on its version and on the vote', async () => {
    const clock = new HandClock();
    const oracle = createOracle({ store: await openStore('memory:'), clock, mode: 'record' });
    const choose = ({ members }: Question) =>
      members.find(({ object }) => object === 'urgent')!.claim;
    const { memory } = await begun({
      memory: { judge: { oracle, choose, policy: 'v 1' } },
      ports: { clock },
    });
    const triage = (object: string) => ({ subject: 'p7', predicate: 'triage', object });
    await committed(memory.assert(triage('can wait')));
    expect(await memory.restingOn({ policy: 'v 1' })).toEqual([]);
    clock.forward(1_000);
    await committed(memory.assert(triage('urgent')));
    const rests = await memory.restingOn({ policy: 'v 1' }, { predicate: 'triage' });
    expect(rests).toMatchObject([{ fact: { object: 'urgent' }, stays: false }]);
    const [policy, judge, ...others] = [...(await memory.explain(rests[0]!.fact)).trust].reverse();
    expect([policy, judge?.kind, others]).toEqual([{ kind: 'policy', name: 'v 1' }, 'judge', []]);
    expect(await memory.restingOn({ judge: judge!.name })).toHaveLength(1);
    for (const wrong of [{}, { policy: '' }, { policy: 'a', judge: 'b' }, { model: 'x' }])
      await expect(memory.restingOn(wrong as never)).rejects.toMatchObject({
        code: expect.stringMatching(/^bad_(recall|argument)$/),
      });
  });
});
