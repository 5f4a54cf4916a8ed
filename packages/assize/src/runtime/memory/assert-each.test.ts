import { expect, test } from 'vitest';
import { day, objects, onClinics } from '../../../../../tests/support/clinic/clinic-memory.ts';
import { writFor } from '../../../../../tests/support/ledger/runtime.ts';
import type { Ruling } from '../records/ruling.ts';
import { checkMemory } from './index.ts';

const DIAGNOSIS = { subject: 'p7', predicate: 'diagnosis', object: 'measles', source: 'm2' };
const NUTS = { subject: 'p7', predicate: 'allergy', object: 'nuts', source: 'm2' };
const DRUG = { subject: 'p7', predicate: 'drug', object: 'aspirin', source: 'm2' };

onClinics((begun) => {
  test('a contested fact waits alone; the others of its message hold immediately', async () => {
    const { memory, trajectory, store } = await begun();
    await memory.assert({ ...DIAGNOSIS, object: 'flu', source: 'm1' });
    const { rulings, leftOut } = await memory.assertEach([DIAGNOSIS, NUTS, DRUG]);
    expect(rulings.map(({ claims, ruling }) => [claims, ruling.ruling])).toEqual([
      [[1, 2], 'committed'],
      [[0], 'escalated'],
    ]);
    expect(leftOut).toEqual([]);
    expect(objects((await memory.recall({ subject: 'p7' })).facts).sort()).toEqual([
      'aspirin',
      'flu',
      'nuts',
    ]);
    const { pending } = rulings[1]!.ruling as Extract<Ruling, { ruling: 'escalated' }>;
    const [question] = await trajectory.approvals.questionsOf(pending);
    const winner = question!.members.find(({ object }) => object === 'measles')!.claim;
    const answers = [{ request: question!.request, winner }];
    await trajectory.approvals.approve(pending, { principal: 'dr house', method: 'test', answers });
    expect(objects((await memory.recall({ subject: 'p7', predicate: 'diagnosis' })).facts)).toEqual(
      ['measles'],
    );
    expect((await checkMemory(store)).differences).toEqual([]);
  });

  test('candidates for one question stay in one proposal', async () => {
    const { memory } = await begun();
    const later = { ...DIAGNOSIS, subject: 'p8', valid: { from: day('2026-05-01') } };
    const earlier = {
      ...later,
      object: 'flu',
      valid: { from: day('2020-01-01'), to: day('2021-01-01') },
    };
    const { rulings } = await memory.assertEach([
      DIAGNOSIS,
      { ...DIAGNOSIS, object: 'flu' },
      later,
      earlier,
    ]);
    expect(rulings.map(({ claims, ruling }) => [claims, ruling.ruling])).toEqual([
      [[0, 1], 'escalated'],
      [[2], 'committed'],
      [[3], 'committed'],
    ]);
  });

  test('an invalid or refused fact is named, and the others are committed', async () => {
    const { assize, memory } = await begun();
    const wrong = { ...NUTS, predicate: 'mood' };
    const { rulings, leftOut } = await memory.assertEach([NUTS, wrong, { ...DRUG, confidence: 7 }]);
    expect(rulings.map(({ claims, ruling }) => [claims, ruling.ruling])).toEqual([
      [[0], 'committed'],
    ]);
    expect(leftOut.map(({ claim, error }) => [claim, error.reason])).toEqual([
      [1, 'unknown_predicate'],
      [2, 'bad_confidence'],
    ]);
    // A writ that covers only the allergies.
    const narrow = writFor('scribe', {
      actions: ['assize.believe'],
      scopes: ['memory:ward:*:allergy'],
    });
    const other = await (await assize.open('t'))
      .memory({ space: 'ward', writ: narrow })
      .assertEach([NUTS, DRUG]);
    expect(other.rulings.map(({ claims, ruling }) => [claims, ruling.ruling])).toEqual([
      [[0], 'committed'],
      [[1], 'rejected'],
    ]);
  });

  test('a fact that ended is no longer believed, and stays in the past', async () => {
    const { clock, memory, store } = await begun();
    await memory.assert({ ...NUTS, valid: { from: day('2026-03-01') } });
    const before = clock.at;
    clock.forward(1_000);
    const ended = { ...NUTS, source: 'm3', valid: { to: day('2026-03-28') }, ends: true as const };
    const { rulings } = await memory.assertEach([ended]);
    expect(rulings[0]!.ruling.ruling).toBe('committed');
    const at = async (valid: string, system?: string) =>
      objects((await memory.recall({ subject: 'p7', valid, ...(system && { system }) })).facts);
    expect([await at(day('2026-03-20')), await at(day('2026-03-29'))]).toEqual([['nuts'], []]);
    expect(await at(day('2026-03-29'), before)).toEqual(['nuts']);
    expect((await checkMemory(store)).differences).toEqual([]);
    await expect(memory.assert({ ...NUTS, ends: true })).rejects.toMatchObject({
      reason: 'no_instant',
    });
    await expect(memory.assert({ ...NUTS, ends: false as never, valid: {} })).rejects.toMatchObject(
      {
        code: 'bad_argument',
      },
    );
  });

  test('an end of a fact that a human chose is asked about', async () => {
    const { memory, trajectory } = await begun();
    await memory.assert({ ...DIAGNOSIS, valid: { from: day('2026-03-01') } });
    const ended = {
      ...DIAGNOSIS,
      source: 'm3',
      valid: { to: day('2026-03-10') },
      ends: true as const,
    };
    const { rulings } = await memory.assertEach([ended, NUTS]);
    expect(rulings.map(({ ruling }) => ruling.ruling)).toEqual(['committed', 'escalated']);
    const { pending } = rulings[1]!.ruling as Extract<Ruling, { ruling: 'escalated' }>;
    const [question] = await trajectory.approvals.questionsOf(pending);
    expect(question!.members.map(({ object, ends }) => `${object} ${ends}`).sort()).toEqual([
      'measles true',
      'measles undefined',
    ]);
  });
});
