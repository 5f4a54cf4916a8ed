import { randomBytes } from 'node:crypto';
import { isAssizeError } from 'assize/internal/base';
import { keyedHash, plainText } from 'assize/internal/canon';
import type { AssertInput, Ruling, StatementOptions, Trajectory } from 'assize/internal/runtime';
import type { Store } from 'assize/internal/stores';

const KEY_BYTES = 32;

/**
 * Asserts claims under keys of their names. The names belong to the batch that starts with the
 * given line, so a later repetition in the file gets another key. Undefined if another principal
 * has asserted the same under another writ in the meantime, and that proposal is pending.
 */
export type AssertOnce = (
  claims: ReadonlyMap<string, AssertInput>,
  line: number,
) => Promise<Ruling | undefined>;

/**
 * Asserts claims under a key that is derived from them and the store's key. A reader of the ledger
 * can't guess erased claims from the key. Concurrent callers with the same claims, in any process,
 * get the same ruling. Claims that were adjudicated before are asserted again under the next key.
 *
 * @throws the errors of `Memory.assertMany`
 */
export async function assertingOnce(
  store: Store,
  trajectory: Trajectory,
  assertMany: (claims: readonly AssertInput[], options: StatementOptions) => Promise<Ruling>,
  waits: (name: string) => Promise<boolean>,
): Promise<AssertOnce> {
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
