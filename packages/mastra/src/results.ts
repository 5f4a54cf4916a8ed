import { isRecord, type Json } from 'assize/internal/base';
import { asJson } from './json.ts';

/** A result of a tool, as the ledger keeps it. */
export type KeptResult = { readonly value?: Json } | { readonly unkept: string };

/** A result for the ledger. One that is not plain data is not kept, and its place is. */
export function toRecord(result: unknown): KeptResult {
  const found = asJson(result);
  if ('at' in found) return { unkept: found.at };
  return found.json === undefined ? {} : { value: found.json };
}

/** The message of an input or output that does not fit its schema, as Mastra returns it. */
export function misfitOf(result: unknown): string | undefined {
  if (!isRecord(result) || result['error'] !== true || !isRecord(result['validationErrors']))
    return undefined;
  return typeof result['message'] === 'string' ? result['message'] : 'It does not fit its schema.';
}
