import { isDeepStrictEqual } from 'node:util';
import { CallError } from '@assize/gate/internal/calls';
import { isRecord, type Json } from 'assize/internal/base';
import { asJson } from './json.ts';
import type { CheckingSchema } from './tool.ts';

/** The arguments of a call in the ledger. */
export type CallArgs = Readonly<Record<string, Json>>;

/**
 * The input of a call as arguments. An input that is not an object is the argument `value`.
 *
 * @throws CallError `not_json`
 */
export function argsOf(tool: string, input: unknown): CallArgs {
  const found = asJson(input, { dates: true });
  if ('at' in found) {
    const { at } = found;
    const text = `The input of ${tool} is not JSON at ${at}, so it cannot be judged or shown. Pass plain data.`;
    throw new CallError('not_json', text, { evidence: { tool, at } });
  }
  const { json } = found;
  if (json === undefined) return {};
  return isRecord(json) ? (json as CallArgs) : { value: json };
}

/** Arguments that a person has approved in place of an input, as the input of the tool. */
export function inputOf(args: CallArgs, original: unknown): unknown {
  return original === undefined || isRecord(original) ? args : args['value'];
}

/**
 * The input as the tool gets it at first. After a resume, Mastra passes the one that the model
 * wrote, without the defaults and changes of the tool's schema.
 *
 * @param shown - the arguments that the pause told
 */
export function readInput(schema: unknown, input: unknown, shown: CallArgs | undefined): unknown {
  const asIs = asJson(input, { dates: true });
  if (shown !== undefined && 'json' in asIs && isDeepStrictEqual(asIs.json, shown)) return input;
  const read = checked(schema, input) ?? checked(schema, withoutNulls(input));
  return read === undefined ? input : read.value;
}

function checked(schema: unknown, input: unknown): { readonly value: unknown } | undefined {
  const standard = (schema as CheckingSchema | undefined)?.['~standard'];
  if (typeof standard?.validate !== 'function') return undefined;
  const read = standard.validate(input);
  return isRecord(read) && 'value' in read ? { value: read['value'] } : undefined;
}

/** Some models write null for a member that they leave out. */
function withoutNulls(input: unknown): unknown {
  if (Array.isArray(input)) return input.map(withoutNulls);
  if (!isRecord(input)) return input;
  const members = Object.entries(input).filter(([, member]) => member !== null);
  return Object.fromEntries(members.map(([name, member]) => [name, withoutNulls(member)]));
}
