import type { EffectWrite } from 'assize/internal/ledger';
import { expect } from 'vitest';
import { keyOf, loggedOf, transactionOf, writeOf } from '../effect-rows.ts';
import { blobOf } from '../store-rows.ts';
import type { Bench } from '../suite.ts';
import type { EffectLedger } from '../suite-types.ts';
import { WRITTEN } from './effects.ts';

const MISUSE = { code: 'store_invalid_input' };

/** An invalid write is refused as a whole, and no other write with it. */
export function effectRefusalLaws({ law, openNew }: Bench<EffectLedger>): void {
  law('a key stands for one effect for ever', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1));
    const taken = { status: 'taken', ...keyOf(1) };
    for (let round = 0; round < 2; round += 1) {
      for (const other of [keyOf(1, 1, '1/0'), keyOf(2, 0, '1/0')]) {
        const write = { fence, begun: [transactionOf(2)], keys: [keyOf(2, 5), other] };
        expect(await store.logEffects(write)).toEqual(taken);
      }
      expect(await store.logEffects({ fence, keys: [keyOf(1)] })).toEqual(WRITTEN);
      // The same holds after the transaction has ended.
      if (round === 0) expect(await store.logEffects({ fence, ended: [1] })).toEqual(WRITTEN);
    }
    expect(await store.effectKey(keyOf(1).key)).toEqual(keyOf(1));
    expect(await store.effectKey(keyOf(2, 5).key)).toBeUndefined();
    const twice = [keyOf(2), keyOf(2, 1, '2/0')];
    expect(await store.logEffects({ fence, begun: [transactionOf(2)], keys: twice })).toEqual({
      status: 'taken',
      ...keyOf(2),
    });
    expect(await store.effectsOf(2)).toBeUndefined();
  });

  law('of concurrent writes with one key, one has it', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const epochs = Array.from({ length: 30 }, (_, n) => n + 1);
    const write = (epoch: number): EffectWrite => ({
      ...writeOf(fence, epoch),
      keys: [keyOf(epoch, 0, 'same')],
    });
    const answers = await Promise.all(epochs.map((epoch) => store.logEffects(write(epoch))));
    expect(answers.filter(({ status }) => status === 'written')).toHaveLength(1);
    const winner = epochs[answers.findIndex(({ status }) => status === 'written')]!;
    const taken = { status: 'taken', ...keyOf(winner, 0, 'same') };
    for (const answer of answers) expect([WRITTEN, taken]).toContainEqual(answer);
    expect(await store.effectKey(keyOf(winner, 0, 'same').key)).toEqual(keyOf(winner, 0, 'same'));
    expect(await store.openEffects()).toEqual([loggedOf(winner)]);
  });

  law('a write that is refused leaves nothing behind', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1));
    const blob = blobOf('blob');
    const rest: EffectWrite = {
      fence,
      begun: [transactionOf(2)],
      records: [
        { epoch: 1, place: 1, record: 'more' },
        { epoch: 2, place: 0, record: 'begun' },
      ],
      keys: [keyOf(2)],
      ended: [1],
    };
    expect(
      await store.logEffects({ ...rest, keys: [keyOf(2), keyOf(2, 1, '1/0')] }, [blob]),
    ).toMatchObject({
      status: 'taken',
    });
    expect(await store.logEffects({ ...rest, fence: fence + 1 }, [blob])).toEqual({
      status: 'fenced',
    });
    await expect(store.logEffects({ ...rest, ended: [1, 9] }, [blob])).rejects.toMatchObject(
      MISUSE,
    );
    expect(await store.openEffects()).toEqual([loggedOf(1)]);
    expect([await store.effectKey(keyOf(2).key), await store.blob(blob.hash)]).toEqual([
      undefined,
      undefined,
    ]);
    expect(await store.logEffects(rest, [blob])).toEqual(WRITTEN);
    expect(await store.openEffects()).toEqual([loggedOf(2)]);
    expect(await store.blob(blob.hash)).toBe(blob.text);
  });

  law('a write that does not fit into the effect log is refused as misuse', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1, ['a', 'b']));
    await store.logEffects({ ...writeOf(fence, 2), ended: [2] });
    const record = (epoch: number, place: number, text: string): EffectWrite => ({
      fence,
      records: [{ epoch, place, record: text }],
    });
    for (const wrong of [
      { fence, begun: [transactionOf(1, 'other')] },
      { fence, begun: [{ ...transactionOf(1), trajectory_id: 'other' }] },
      { fence, begun: [transactionOf(2, 'other')] },
      { fence, begun: [transactionOf(3), transactionOf(3, 'other')] },
      record(1, 3, 'gap'),
      record(1, 0, 'other'),
      record(1, 1, 'other'),
      record(3, 0, 'never started'),
      record(2, 1, 'ended'),
      { ...writeOf(fence, 3), records: [{ epoch: 3, place: 1, record: 'gap' }] },
      {
        ...writeOf(fence, 3),
        records: ['a', 'b'].map((text) => ({ epoch: 3, place: 0, record: text })),
      },
      { fence, keys: [keyOf(3)] },
      { fence, keys: [keyOf(2, 1)] },
      { fence, ended: [3] },
    ]) {
      await expect(store.logEffects(wrong), JSON.stringify(wrong)).rejects.toMatchObject(MISUSE);
    }
    expect(await store.openEffects()).toEqual([loggedOf(1, ['a', 'b'])]);
    expect(await store.effectsOf(2)).toEqual(loggedOf(2));
    expect(await store.effectsOf(3)).toBeUndefined();
    expect(await store.logEffects(record(1, 2, 'c'))).toEqual(WRITTEN);
    expect(await store.logEffects(writeOf(fence, 3))).toEqual(WRITTEN);
  });

  law('a refused write does not disturb effects that are queued with it', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    await store.logEffects(writeOf(fence, 1));
    const writes: readonly EffectWrite[] = [
      writeOf(fence, 2),
      { fence, records: [{ epoch: 1, place: 5, record: 'gap' }] },
      { ...writeOf(fence, 3), keys: [keyOf(3, 0, '1/0')] },
      { fence, records: [{ epoch: 2, place: 1, record: 'next' }] },
      writeOf(fence + 7, 4),
      { fence, records: [{ epoch: 2, place: 1, record: 'other' }] },
      { fence, records: [{ epoch: 1, place: 1, record: 'next' }] },
    ];
    const answers = await Promise.allSettled(writes.map((write) => store.logEffects(write)));
    const seen = answers.map((answer) =>
      answer.status === 'fulfilled' ? answer.value.status : answer.reason.code,
    );
    const code = 'store_invalid_input';
    expect(seen).toEqual(['written', code, 'taken', 'written', 'fenced', code, 'written']);
    expect(await store.openEffects()).toEqual([
      loggedOf(1, ['begun', 'next']),
      loggedOf(2, ['begun', 'next']),
    ]);
  });

  law('effects that no row can hold are refused, and nothing is written', async () => {
    const store = await openNew();
    const { fence } = await store.leaseEffects();
    const fine = writeOf(fence, 1);
    for (const wrong of [
      { fence: 0 },
      { fence: 1.5 },
      { begun: [{ ...transactionOf(1), epoch: 0 }] },
      { begun: [{ ...transactionOf(1), body: 'a\0b' }] },
      { begun: [{ ...transactionOf(1), trajectory_id: '\ud800' }] },
      { begun: {} },
      { records: [{ epoch: 1, place: -1, record: 'x' }] },
      { records: [{ epoch: 1, place: 0, record: '\ud800' }] },
      { records: [{ epoch: 0.5, place: 0, record: 'x' }] },
      { keys: [{ ...keyOf(1), key: 'x' }] },
      { keys: [{ ...keyOf(1), key: keyOf(1).key.toUpperCase() }] },
      { keys: [{ ...keyOf(1), n: -1 }] },
      { ended: [0] },
      { ended: ['1'] },
    ]) {
      const write = { ...fine, ...wrong } as EffectWrite;
      await expect(store.logEffects(write), JSON.stringify(wrong)).rejects.toMatchObject(MISUSE);
      const batch = { entries: [], blobs: [], effects: write };
      await expect(store.commit(batch), JSON.stringify(wrong)).rejects.toMatchObject(MISUSE);
    }
    await expect(store.logEffects(undefined as never)).rejects.toMatchObject(MISUSE);
    await expect(store.logEffects(fine, [{ hash: 'x', text: 'x' }])).rejects.toMatchObject(MISUSE);
    await expect(store.effectsOf(0)).rejects.toMatchObject(MISUSE);
    await expect(store.effectKey('x')).rejects.toMatchObject(MISUSE);
    await expect(store.leaseEffects({} as AbortSignal)).rejects.toMatchObject(MISUSE);
    expect(await store.openEffects()).toEqual([]);
    expect(await store.effectsOf(1)).toBeUndefined();
  });
}
