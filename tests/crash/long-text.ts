import type { BlobRow } from '#ledger';
import { blobOf } from '../../packages/testing/src/store-rows.ts';

export const CHARACTERS = 60_000;

/** The long text that goes with an entry. */
export function textOf(id: string): BlobRow {
  return blobOf(id.padEnd(CHARACTERS, '.'));
}
