import { expect, test } from 'vitest';
import { type CommitPayload, readRow } from '#ledger';
import type { FactRow } from '#memory';
import { clinic } from '../../../../../tests/support/clinic/clinic.ts';
import {
  argsOf,
  begun,
  day,
  erasing,
  everything,
  expectSound,
  foundIn,
  gone,
  namesIn,
  rowsOf,
  writ,
} from '../../../../../tests/support/clinic/clinic-erasure.ts';
import {
  committed,
  SECRETS,
  told,
  WHO,
} from '../../../../../tests/support/clinic/mentions-of-patient.ts';
import { nearBy, onEveryStore } from '../../../../../tests/support/ledger/stores.ts';
import type { Ruling } from '../records/ruling.ts';
import type { Trajectory } from '../trajectory.ts';
import type { Memory } from './index.ts';

onEveryStore((stores) => {
  const near = nearBy(stores);

  test('of a claim, its text and its witnesses; names and other claims stay', async () => {
    const ward = await begun(stores);
    const { store, clock, memory, trajectory } = ward;
    await told(ward);
    const before = await rowsOf(store);
    const { lineage: claim } = before.find(({ object }) => object === '79.4 kg')!;
    const { entry } = await committed(erasing(trajectory, { predicate: 'weight', claim }));
    expect(entry.payload).toContain(claim);
    expect(foundIn(await everything(ward), SECRETS)).toEqual(
      SECRETS.filter((each) => each !== '79.4 kg'),
    );
    const after = await rowsOf(store);
    const lost = before.filter(
      (row) => row.lineage === claim || (row.row_kind === 'audit' && row.object.includes(claim)),
    );
    expect(lost.length).toBeGreaterThan(2);
    expect(after).toEqual(
      before.map((row) => (lost.includes(row) ? { ...row, object: gone(row.content.hash) } : row)),
    );
    // The fact still holds, without a text, and stays so where it is written again.
    clock.forward(1_000);
    await committed(
      memory.retract({
        subject: WHO,
        predicate: 'weight',
        valid: { from: day('2020-01-01'), to: day('2026-06-01') },
      }),
    );
    clock.forward(1_000);
    await committed(
      memory.assert({ subject: WHO, predicate: 'weight', object: '60 kg', confidence: 0.2 }),
    );
    const rows = await rowsOf(store);
    const content = lost.find(({ row_kind }) => row_kind === 'current')!.content;
    expect(rows.length).toBeGreaterThan(after.length + 1);
    for (const row of rows)
      if (row.lineage === claim && row.row_kind === 'current')
        expect(row).toMatchObject({ content, object: gone(content.hash) });
    expect(foundIn(await everything(ward), ['79.4 kg'])).toEqual([]);
    await expectSound(ward);
    await expect(erasing(trajectory, { predicate: 'weight', claim })).rejects.toMatchObject({
      code: 'nothing_to_erase',
    });
  });

  near('of a claim also what says the same in another form of Unicode', async () => {
    const ward = await begun(stores);
    const { store, memory, trajectory } = ward;
    const forms = ['cafe\u0301 au lait', 'caf\u00e9 au lait'];
    for (const object of [...forms, ...forms])
      await committed(
        memory.assert({
          subject: WHO,
          predicate: 'allergy',
          object,
          valid: { from: day('2026-01-01') },
        }),
      );
    const rows = await rowsOf(store);
    expect(new Set(rows.map(({ object }) => object))).toEqual(new Set(forms.slice(0, 1)));
    expect(foundIn(await everything(ward), forms)).toEqual(forms);
    await committed(erasing(trajectory, { claim: rows[0]!.lineage }));
    expect(foundIn(await everything(ward), forms)).toEqual([]);
    await expectSound(ward);
  });

  near(
    'of a claim that others contradict, also what somebody is asked to choose between',
    async () => {
      const ward = await begun(stores);
      await told(ward);
      const { lineage: claim } = (await rowsOf(ward.store)).find(
        ({ object }) => object === 'pneumonia of hers',
      )!;
      await committed(erasing(ward.trajectory, { claim }));
      expect(foundIn(await everything(ward), SECRETS)).toEqual(
        SECRETS.filter((each) => each !== 'pneumonia of hers'),
      );
      await expectSound(ward);
    },
  );

  near('facts of an erased subject stated later start without a past', async () => {
    const ward = await begun(stores);
    const { store, memory, trajectory } = ward;
    await told(ward);
    const old = await store.partition({ space: 'ward', subject: WHO, predicate: 'drug' });
    await committed(erasing(trajectory, {}));
    const said = {
      subject: WHO,
      predicate: 'drug',
      object: 'paracetamol',
      source: `letter of ${WHO}`,
    };
    const { entry } = await committed(memory.assert(said));
    const { delta } = readRow(entry).payload as CommitPayload;
    expect(delta.beliefs).toMatchObject([{ version: 1, close: [] }]);
    expect(delta.beliefs[0]!.partition.$blob).not.toBe(old!.names.hash);
    expect((await memory.recall({ subject: WHO })).facts).toMatchObject([
      { object: 'paracetamol', seq: 1 },
    ]);
    const tombstone = await store.partition({
      space: gone(old!.names.hash),
      subject: gone(old!.names.hash),
      predicate: gone(old!.names.hash),
    });
    expect(tombstone).toMatchObject({ names: old!.names, version: old!.version + 1 });
    await expectSound(ward);
    await committed(erasing(trajectory, {}));
    expect(foundIn(await everything(ward), [...SECRETS, 'paracetamol'])).toEqual([]);
    await expectSound(ward);
  });

  near(
    'what another trajectory has said is left, named, and erased there; the names go with the last',
    async () => {
      const ward = await begun(stores);
      const { store, assize, clock, memory, trajectory } = ward;
      const weighed = (object: string, confidence: number) => ({
        subject: WHO,
        predicate: 'weight',
        object,
        confidence,
      });
      await committed(memory.assert(weighed('81.3 kg', 0.5)));
      await committed(memory.assert({ subject: WHO, predicate: 'drug', object: 'penizillin 500' }));
      clock.forward(1_000);
      const other = (await assize.create(clinic, {
        trajectoryId: 'u',
        writs: [writ],
      })) as Trajectory;
      // It loses, and the row of the loss has both objects.
      await committed(other.memory({ space: 'ward', writ }).assert(weighed('79.4 kg', 0.1)));
      const bystander = (await assize.create(clinic, {
        trajectoryId: 'v',
        writs: [writ],
      })) as Trajectory;
      await expect(erasing(bystander, {})).rejects.toMatchObject({
        code: 'nothing_to_erase',
        evidence: { left: ['t', 'u'] },
      });
      // It has recalled their statements, and makes none itself.
      const { observation } = await bystander.memory({ space: 'ward', writ }).recall();
      const view = bystander.memory({ space: 'ward', writ });
      await committed(
        view.assert(
          { subject: 'p8', predicate: 'drug', object: 'x' },
          { observations: [observation] },
        ),
      );
      expect(argsOf((await committed(erasing(bystander, {}))).entry).values).toHaveLength(1);
      const { remaining, entry } = await committed(erasing(trajectory, {}));
      expect(remaining).toEqual(['u']);
      expect(namesIn(entry)).toHaveLength(2);
      expect(
        (await store.partition({ space: 'ward', subject: WHO, predicate: 'drug' })) ?? 'gone',
      ).toBe('gone');
      expect(
        (await memory.recall({ subject: WHO, kind: 'all', valid: 'any', system: 'any' })).facts,
      ).toMatchObject([
        { object: expect.stringContaining('$erased') },
        { object: expect.stringContaining('81.3 kg'), row_kind: 'audit' },
      ]);
      await expectSound(ward);
      expect((await committed(erasing(other, {}))).remaining).toEqual([]);
      expect(foundIn(await everything(ward), SECRETS)).toEqual([]);
      await expectSound(ward);
    },
  );

  near(
    'who has only confirmed it or taken it back is named too, and it is erased there',
    async () => {
      const ward = await begun(stores);
      const { assize, clock, memory, trajectory } = ward;
      const valid = { from: day('2026-01-01'), to: day('2026-06-01') };
      const said = { subject: WHO, predicate: 'drug', object: 'penizillin 500', valid };
      const tellers: [string, (memory: Memory) => Promise<Ruling>][] = [
        ['confirms', (own) => own.assert(said)],
        ['other', (own) => own.assert({ ...said, subject: 'p8', object: 'x' })],
        ['withdraws', (own) => own.retract(said)],
      ];
      await committed(memory.assert(said));
      const others: Trajectory[] = [];
      for (const [trajectoryId, tell] of tellers) {
        clock.forward(1_000);
        const other = await assize.create(clinic, { trajectoryId, writs: [writ] });
        await committed(tell(other.memory({ space: 'ward', writ })));
        others.push(other as Trajectory);
      }
      const [{ lineage: claim }] = (await memory.history({ subject: WHO })) as [FactRow];
      expect((await committed(erasing(trajectory, { claim }))).remaining).toEqual([
        'confirms',
        'withdraws',
      ]);
      expect((await committed(erasing(trajectory, {}))).remaining).toEqual([
        'confirms',
        'withdraws',
      ]);
      expect(foundIn(await everything(ward), ['penizillin 500'])).toEqual(['penizillin 500']);
      for (const other of [others[0]!, others[2]!])
        expect((await committed(erasing(other, {}))).remaining).toEqual([]);
      expect(foundIn(await everything(ward), ['penizillin 500', WHO])).toEqual([]);
      await expectSound(ward);
    },
  );

  near('what another trajectory says while it is looked for is left too', async () => {
    const { store, assize, memory, trajectory } = await begun(stores);
    await committed(memory.assert({ subject: WHO, predicate: 'allergy', object: 'nuts' }));
    const other = (await assize.create(clinic, { trajectoryId: 'u', writs: [writ] })) as Trajectory;
    const { partition } = store;
    let isFirst = true;
    store.partition = async (name) => {
      const isNow = isFirst;
      isFirst = false;
      const said = { subject: WHO, predicate: 'allergy', object: 'milk' };
      if (isNow) await committed(other.memory({ space: 'ward', writ }).assert(said));
      return partition.call(store, name);
    };
    expect((await committed(erasing(trajectory, {}))).remaining).toEqual(['u']);
    expect((await memory.recall({ subject: WHO })).facts.map(({ object }) => object)).toContain(
      'milk',
    );
  });
});
