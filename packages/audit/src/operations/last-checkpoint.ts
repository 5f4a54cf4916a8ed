import { canonicalize, readCanonical } from 'assize/internal/canon';
import type { SideStore } from 'assize/internal/ledger';
import { fileSink, readCheckpointFile } from '#checkpoints';

/** The last checkpoint of a log, where every server of the store finds it. */
export interface LastCheckpoint {
  /** The signed note, whose signature is not checked here. */
  read(): Promise<KeptCheckpoint | undefined>;

  /**
   * Replaces the checkpoint that was read. False if another server was faster.
   *
   * @throws RuntimeError `bad_checkpoint` if a file has a newer one
   */
  replace(before: KeptCheckpoint | undefined, signed: string): Promise<boolean>;
}

export interface KeptCheckpoint {
  readonly signed: string;
  /** The version of its row. */
  readonly version?: number;
}

const KIND = 'checkpoint';
const KEY = 'last';

/** In a file outside the database. */
export function checkpointInFile(path: string): LastCheckpoint {
  return {
    read: async () => {
      const signed = await readCheckpointFile(path);
      return signed === undefined ? undefined : { signed };
    },
    replace: async (_, signed) => {
      await fileSink(path).put(signed);
      return true;
    },
  };
}

/** In the side log, for servers without a common file. */
export function checkpointInStore(store: SideStore): LastCheckpoint {
  return {
    read: async () => {
      const row = await store.sideGet(KIND, KEY);
      return (
        row && { ...(readCanonical(row.body) as { readonly signed: string }), version: row.version }
      );
    },
    replace: (before, signed) =>
      store.sidePut([
        { kind: KIND, key: KEY, expected: before?.version ?? null, body: canonicalize({ signed }) },
      ]),
  };
}
