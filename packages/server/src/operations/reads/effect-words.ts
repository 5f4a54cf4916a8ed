import type { Json } from 'assize/internal/base';
import { readTransaction } from 'assize/internal/effects';
import type { BlobRef } from 'assize/internal/ledger';
import { blobValue, presentationOf, shownOf, summaryOf } from 'assize/internal/views';
import type { ServerService } from '../../service.ts';

/** A transaction in words, without the long values of its calls. */
export interface EffectWords {
  /** The time of its commit, or else of the entry that ended it or came before it. */
  readonly at?: string;
  /** The action in words, as the domain presents it. */
  readonly title?: string;
  /** Each call in words. Undefined after an erasure. */
  readonly calls: readonly (string | undefined)[];
}

export async function effectWords(
  { store, actions }: Pick<ServerService, 'store' | 'actions'>,
  epoch: number,
): Promise<EffectWords> {
  const logged = await store.effectsOf(epoch);
  if (logged === undefined) return { calls: [] };
  const { entry, undoneBy, body, effects, trajectoryId } = readTransaction(logged);
  const calls = await Promise.all(effects.map((effect) => callWords(store, effect)));
  const id = entry ?? undoneBy ?? body.after?.id;
  const row = id === undefined ? undefined : await store.resolve(id);
  if (row === undefined) return { calls };
  const known = await actions.of(trajectoryId);
  const { at, action = '', title } = summaryOf(row, { actions: known });
  const isPresented = presentationOf({ name: action }, known[action]?.present)?.title !== undefined;
  return {
    calls,
    ...(at !== '' && { at }),
    ...(row.id === entry && isPresented && title !== undefined && { title }),
  };
}

async function callWords(
  store: ServerService['store'],
  { tool, payload }: { readonly tool: string; readonly payload: BlobRef },
): Promise<string | undefined> {
  const { $blob: hash, bytes } = payload;
  const kept = await blobValue(store, { pointer: '', hash, bytes, salted: true });
  if (kept === undefined) return undefined;
  return shownOf({ name: tool, args: (kept as { readonly input: Json }).input }).title;
}
