import { expect } from 'vitest';
import type { Bench } from '../suite.ts';
import type { FactLedger } from '../suite-types.ts';

const key = (byte: number, length = 32): Uint8Array => new Uint8Array(length).fill(byte);

/** The key of claims is the first one that was offered, for all callers. */
export function claimKeyLaws({ law, newPlace, openAt, openNew }: Bench<FactLedger>): void {
  law('the key of claims is the first key offered, for every caller', async () => {
    const store = await openNew();
    const [first, ...others] = await Promise.all(
      [1, 2, 3].map((byte) => store.claimKey(key(byte))),
    );
    expect([key(1), key(2), key(3)]).toContainEqual(first);
    for (const other of others) expect(other).toEqual(first);
  });

  law('an existing key of claims is returned to a caller that offers no key', async () => {
    const store = await openNew();
    expect(await store.claimKey()).toBeUndefined();
    const first = await store.claimKey(key(1));
    expect(await store.claimKey()).toEqual(first);
  });

  law('the key of claims is the same when the store is opened again', async () => {
    const place = newPlace();
    const store = await openAt(place);
    const first = await store.claimKey(key(1));
    await store.close();
    expect(await (await openAt(place)).claimKey(key(2))).toEqual(first);
  });

  law('an invalid key of claims is refused', async () => {
    const store = await openNew();
    for (const offered of [key(1, 15), key(1, 65), 'a'.repeat(32) as never])
      await expect(store.claimKey(offered)).rejects.toMatchObject({ code: 'store_invalid_input' });
    expect(await store.claimKey(key(5, 16))).toEqual(key(5, 16));
  });
}
