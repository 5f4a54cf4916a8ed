import { expect } from 'vitest';
import { keyOf, loggedOf, transactionOf, writeOf } from '../effect-rows.ts';
import type { Bench } from '../suite.ts';
import type { EffectLedger } from '../suite-types.ts';
import { AWKWARD_TEXTS, JSON_TEXTS, LOOKALIKES, longText } from './texts.ts';

export const WRITTEN = Object.freeze({ status: 'written' });

/** Logged rows are permanent and keep their order. */
export function effectLaws({ law, newPlace, openAt, openNew }: Bench<EffectLedger>): void {
  law('an empty store has no effects', async () => {
    const store = await openNew();
    expect(await store.openEffects()).toEqual([]);
    expect(await store.effectsOf(1)).toBeUndefined();
    expect(await store.effectKey(keyOf(1).key)).toBeUndefined();
    expect((await store.hasEffectLog?.()) ?? false).toBe(false);
    expect(await store.leaseEffects()).toMatchObject({ fence: 1, lastEpoch: 0 });
    expect((await store.hasEffectLog?.()) ?? true).toBe(true);
  });

  law('a transaction is open until it is ended, and can be read for ever', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    for (const epoch of [2, 1])
      expect(await store.logEffects(writeOf(fence, epoch))).toEqual(WRITTEN);
    expect(await store.openEffects()).toEqual([loggedOf(1), loggedOf(2)]);
    expect(await store.logEffects({ fence, ended: [1] })).toEqual(WRITTEN);
    expect(await store.openEffects()).toEqual([loggedOf(2)]);
    expect(await store.effectsOf(1)).toEqual(loggedOf(1));
    expect(await store.effectKey(keyOf(1).key)).toEqual(keyOf(1));
    // Also a transaction that was never read while open, and one without records.
    await store.logEffects({ ...writeOf(fence, 4), ended: [4] });
    await store.logEffects({ fence, begun: [transactionOf(3)] });
    expect(await store.openEffects()).toEqual([loggedOf(2), loggedOf(3, [])]);
    expect(await store.effectsOf(4)).toEqual(loggedOf(4));
    expect(await store.effectsOf(5)).toBeUndefined();
  });

  law('open or ended transactions are paged, highest epoch first, by trajectory', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    expect(await store.listEffects({ limit: 1 })).toEqual([]);
    // Started in another order, with gaps, ended or not.
    for (const epoch of [4, 1, 9, 6, 7, 12])
      await store.logEffects(writeOf(fence, epoch, ['begun', 'more']));
    await store.logEffects({ fence, begun: [transactionOf(2)] });
    await store.logEffects({ fence, ended: [4, 7, 12, 2] });
    const list = async (page: Parameters<typeof store.listEffects>[0]) => {
      const listed = await store.listEffects(page);
      for (const each of listed) expect(each).toEqual(await store.effectsOf(each.epoch));
      return listed.map(({ epoch }) => epoch);
    };
    expect(await list({ limit: 100 })).toEqual([12, 9, 7, 6, 4, 2, 1]);
    expect(await list({ limit: 3 })).toEqual([12, 9, 7]);
    expect(await list({ limit: 3, before: 7 })).toEqual([6, 4, 2]);
    expect(await list({ limit: 3, before: 2 })).toEqual([1]);
    expect(await list({ limit: 3, before: 1 })).toEqual([]);
    // `t1` has 1, 4 and 7.
    expect(await list({ limit: 2, trajectoryId: 't1' })).toEqual([7, 4]);
    expect(await list({ limit: 2, before: 4, trajectoryId: 't1' })).toEqual([1]);
    for (const trajectoryId of ['t', 'T1', ''])
      expect(await list({ limit: 2, trajectoryId })).toEqual([]);
    const wrong: unknown[] = [
      undefined,
      null,
      {},
      { limit: 0 },
      { limit: 1.5 },
      { limit: '1' },
      { limit: 1, before: 0 },
    ];
    for (const page of [...wrong, { limit: 1, trajectoryId: 7 }])
      await expect(store.listEffects(page as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
  });

  law('those that are open are given by epoch, in pages and by trajectory', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    expect(await store.openEffects({ limit: 1 })).toEqual([]);
    for (const epoch of [4, 1, 9, 6, 7, 12])
      await store.logEffects(writeOf(fence, epoch, ['begun', 'more']));
    await store.logEffects({ fence, begun: [transactionOf(2)] });
    await store.logEffects({ fence, ended: [6, 12] });
    const open = async (page?: Parameters<typeof store.openEffects>[0]) => {
      const found = await store.openEffects(page);
      for (const each of found) expect(each).toEqual(await store.effectsOf(each.epoch));
      return found.map(({ epoch }) => epoch);
    };
    expect([await open(), await open({})]).toEqual([
      [1, 2, 4, 7, 9],
      [1, 2, 4, 7, 9],
    ]);
    expect(await open({ limit: 2 })).toEqual([1, 2]);
    expect(await open({ limit: 2, after: 2 })).toEqual([4, 7]);
    // Also after an epoch that has ended or never existed.
    expect(await open({ limit: 2, after: 6 })).toEqual([7, 9]);
    expect([await open({ after: 8 }), await open({ after: 9 }), await open({ after: 0 })]).toEqual([
      [9],
      [],
      [1, 2, 4, 7, 9],
    ]);
    // `t1` has 1, 4 and 7.
    expect(await open({ trajectoryId: 't1' })).toEqual([1, 4, 7]);
    expect(await open({ limit: 2, trajectoryId: 't1' })).toEqual([1, 4]);
    expect(await open({ limit: 2, after: 4, trajectoryId: 't1' })).toEqual([7]);
    for (const trajectoryId of ['t', 'T1', '']) expect(await open({ trajectoryId })).toEqual([]);
    for (const page of [
      null,
      { limit: 0 },
      { limit: 1.5 },
      { after: -1 },
      { after: '1' },
      { trajectoryId: 7 },
    ])
      await expect(store.openEffects(page as never)).rejects.toMatchObject({
        code: 'store_invalid_input',
      });
  });

  law('records are added in their places, also by writes that wait together', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const records = Array.from({ length: 12 }, (_, place) => ({
      epoch: 7,
      place,
      record: `${place}`,
    }));
    const writes = [
      store.logEffects({ fence, begun: [transactionOf(7)], records: records.slice(0, 2) }),
      store.logEffects({
        fence,
        begun: [transactionOf(10)],
        records: [{ epoch: 10, place: 0, record: 'other' }],
      }),
      ...records.slice(2).map((row) => store.logEffects({ fence, records: [row] })),
    ];
    for (const answer of await Promise.all(writes)) expect(answer).toEqual(WRITTEN);
    const expected = loggedOf(
      7,
      records.map(({ record }) => record),
    );
    expect(await store.effectsOf(7)).toEqual(expected);
    expect(await store.openEffects()).toEqual([expected, loggedOf(10, ['other'])]);
  });

  law('a repeated write changes nothing, also after later writes', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const first = writeOf(fence, 1, ['a', 'b']);
    const last = {
      fence,
      records: [{ epoch: 1, place: 2, record: 'c' }],
      keys: [keyOf(1, 1)],
      ended: [1],
    };
    const whole = { ...writeOf(fence, 2, ['a']), ended: [2] };
    for (const write of [first, first, last, first, last, whole, whole])
      expect(await store.logEffects(write)).toEqual(WRITTEN);
    // Also if all writes wait together.
    const answers = await Promise.all([last, whole, first].map((write) => store.logEffects(write)));
    expect(answers).toEqual([WRITTEN, WRITTEN, WRITTEN]);
    expect(await store.effectsOf(1)).toEqual(loggedOf(1, ['a', 'b', 'c']));
    expect(await store.effectsOf(2)).toEqual(loggedOf(2, ['a']));
    expect(await store.openEffects()).toEqual([]);
  });

  law('texts of effects come back exactly as given', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const texts = [...AWKWARD_TEXTS, ...JSON_TEXTS, longText(1_000_000)];
    for (const [n, text] of texts.entries()) {
      const name = LOOKALIKES[n % LOOKALIKES.length]!;
      const row = { epoch: n + 1, trajectory_id: name, body: text };
      const records = [text, `${n}`, text];
      const write = {
        fence,
        begun: [row],
        records: records.map((record, place) => ({ epoch: n + 1, place, record })),
      };
      expect(await store.logEffects(write)).toEqual(WRITTEN);
      const logged = await store.effectsOf(n + 1);
      // Compared by `===` first: a printed diff of long strings would take minutes.
      expect([logged!.body, logged!.records[0]].every((kept) => kept === text)).toBe(true);
      expect(logged).toEqual({ ...row, records });
    }
  });

  law('a later mutation of passed or returned effects changes no stored effect', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const [row, record, key] = [
      transactionOf(1),
      { epoch: 1, place: 0, record: 'begun' },
      keyOf(1),
    ];
    const given = { ...key };
    await store.logEffects({ fence, begun: [row], records: [record], keys: [key] });
    Object.assign(row, { body: 'other' });
    Object.assign(record, { record: 'other' });
    Object.assign(key, { n: 9 });
    for (let round = 0; round < 2; round += 1) {
      const got = [await store.effectsOf(1), ...(await store.openEffects())];
      const kept = await store.effectKey(given.key);
      expect(got).toEqual([loggedOf(1), loggedOf(1)]);
      expect(kept).toEqual(given);
      for (const mine of got) {
        Reflect.set(mine!, 'body', 'other');
        Reflect.set(mine!.records, 0, 'other');
      }
      Reflect.set(kept!, 'n', 9);
    }
  });

  law('a store opened again has the effects, and those that close still took', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const { fence } = await store.leaseEffects();
    await store.logEffects({ ...writeOf(fence, 1), ended: [1] });
    const logging = store.logEffects(writeOf(fence, 5));
    await store.close();
    expect(await logging).toEqual(WRITTEN);
    const again = await openAt(place);
    expect(await again.openEffects()).toEqual([loggedOf(5)]);
    expect(await again.effectsOf(1)).toEqual(loggedOf(1));
    expect(await again.effectKey(keyOf(1).key)).toEqual(keyOf(1));
    expect(await again.leaseEffects()).toMatchObject({ fence: fence + 1, lastEpoch: 5 });
  });

  law('two handles on one place have the same effects', async () => {
    const place = newPlace();
    const [left, right] = [await openAt(place), await openAt(place)];
    const { fence } = await left.leaseEffects();
    await left.logEffects(writeOf(fence, 1));
    expect(await right.openEffects()).toEqual([loggedOf(1)]);
    // The process that holds the lease may use several handles.
    expect(
      await right.logEffects({ fence, records: [{ epoch: 1, place: 1, record: 'right' }] }),
    ).toEqual(WRITTEN);
    expect(
      await left.logEffects({ fence, records: [{ epoch: 1, place: 2, record: 'left' }] }),
    ).toEqual(WRITTEN);
    expect(await left.effectsOf(1)).toEqual(loggedOf(1, ['begun', 'right', 'left']));
    expect(await right.logEffects({ fence, ended: [1] })).toEqual(WRITTEN);
    await expect(left.logEffects({ fence, keys: [keyOf(1, 1)] })).rejects.toMatchObject({
      code: 'store_invalid_input',
    });
    expect(await left.effectKey(keyOf(1).key)).toEqual(keyOf(1));
  });

  law('a closed store refuses effects', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.close();
    for (const call of [
      () => store.leaseEffects(),
      () => store.logEffects({ fence }),
      () => store.openEffects(),
      () => store.listEffects({ limit: 1 }),
      () => store.effectsOf(1),
      () => store.effectKey(keyOf(1).key),
    ]) {
      await expect(call()).rejects.toMatchObject({ code: 'store_closed' });
    }
  });
}
