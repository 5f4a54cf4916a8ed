import { ofPlain, toPlain } from '@assize/gate/internal/calls';
import { toSmartString } from '@openai/agents/utils';
import type { Json } from 'assize/internal/base';

/**
 * The output of a tool as JSON for the ledger. An output that would return as another value is kept
 * as the text that the model was given.
 */
export function toRecord(output: unknown): Json {
  const kept = toPlain(output);
  return kept === undefined ? { text: toSmartString(output).toWellFormed() } : { output: kept };
}

/** A recorded output. */
export function fromRecord(record: Json): unknown {
  const { output, text } = record as { readonly output?: Json; readonly text?: string };
  return output === undefined ? text : ofPlain(output);
}
