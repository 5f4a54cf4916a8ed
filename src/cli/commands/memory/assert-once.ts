import { randomBytes } from 'node:crypto';
import { isAssizeError } from '#base';
import { keyedHash, plainText } from '#canon';
import type { AssertInput, Ruling, SayingOptions, Trajectory } from '#runtime';
import type { Store } from '#stores';

const KEY_BYTES = 32;

/**
 * Says claims by their names, those of a batch that begins with that line: what the file says again later is not the same. Undefined where
 * somebody else has said the same under another writ meanwhile, and it waits.
 */
export type SayOnce = (claims: ReadonlyMap<string, AssertInput>, line: number) => Promise<Ruling | undefined>;

/**
 * Says claims under a key that is made of them, with that of the store, as nobody is to guess from the ledger what was erased: whoever says
 * the same at the same time, in whichever process, gets the same ruling. What was ruled on before is said anew under the next key.
 *
 * @throws as `Memory.assertMany`
 */
export async function sayingOnce(
  store: Store,
  trajectory: Trajectory,
  assertMany: (claims: readonly AssertInput[], options: SayingOptions) => Promise<Ruling>,
  waits: (name: string) => Promise<boolean>,
): Promise<SayOnce> {
  const key = (await store.claimKey()) ?? (await store.claimKey(randomBytes(KEY_BYTES)));
  const begun = trajectory.length;
  return async (claims, line) => {
    const names = [...claims.keys()];
    for (let n = 0; ; n++) {
      const idempotencyKey = `import ${keyedHash(key, plainText({ claims: names, line, n }))}`;
      try {
        const ruling = await assertMany([...claims.values()], { idempotencyKey });
        if (ruling.ruling === 'frozen' || ruling.entry.seq >= begun) return ruling;
      } catch (error) {
        if (!isAssizeError(error, 'idempotency_conflict')) throw error;
        for (const name of names) if (await waits(name)) return undefined;
      }
    }
  };
}
