import type { Hash } from 'assize/internal/ledger';
import type { Readers } from '../connection/readers.ts';
import { bytea } from '../connection/row.ts';
import type { Statement } from '../connection/session.ts';

/**
 * The maximum number of texts in one statement: each can be large, and all are in memory together.
 */
const AT_ONCE = 64;

interface Asked {
  readonly hash: Hash;
  readonly resolve: (text: string | undefined) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * The text of a blob, exactly as stored. All requests of one turn of the event loop share one
 * statement, because an entry can refer to hundreds of blobs.
 */
export function prepareBlob(
  readers: Readers,
  schema: string,
): (hash: Hash) => Promise<string | undefined> {
  const statement: Statement = {
    name: 'assize blobs',
    text: `SELECT encode(hash, 'hex'), text FROM "${schema}".blob WHERE hash = ANY ($1::bytea[]) AND erased_by IS NULL`,
  };
  let waiting: Asked[] = [];
  const read = async (asked: readonly Asked[]): Promise<void> => {
    try {
      const rows = await readers.run(statement, [asked.map(({ hash }) => bytea(hash))]);
      const texts = new Map(rows.map(([hash, text]) => [hash as Hash, text as string]));
      for (const { hash, resolve } of asked) resolve(texts.get(hash));
    } catch (error) {
      for (const { reject } of asked) reject(error);
    }
  };
  const readWaiting = (): void => {
    const asked = waiting;
    waiting = [];
    if (asked.length > 0) void read(asked);
  };
  return (hash) =>
    new Promise((resolve, reject) => {
      if (waiting.length === 0) queueMicrotask(readWaiting);
      waiting.push({ hash, resolve, reject });
      if (waiting.length === AT_ONCE) readWaiting();
    });
}

/** The entry that erased a blob. */
export function prepareErasedBy(
  readers: Readers,
  schema: string,
): (hash: Hash) => Promise<Hash | undefined> {
  const statement: Statement = {
    name: 'assize erased',
    text: `SELECT encode(erased_by, 'hex') FROM "${schema}".blob WHERE hash = $1::bytea AND erased_by IS NOT NULL`,
  };
  return async (hash) => (await readers.run(statement, [bytea(hash)]))[0]?.[0] as Hash | undefined;
}
