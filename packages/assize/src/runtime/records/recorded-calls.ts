import type { Json } from '#base';
import type { EffectPayload } from '#effects';
import type { InputCall, Observed, ProposedCall } from '#kernel';
import type { Delta, Replayer, Stored } from '#ledger';
import { type EntryPosition, readValue } from './stored-values.ts';

/**
 * The changing calls that a commit or a pending proposal records, as they were judged.
 *
 * @throws LedgerFault for a missing blob; RuntimeError `erased`
 */
export function readCalls(
  entry: EntryPosition,
  effects: Delta['effects'],
  observed: readonly Observed[],
  replayer: Replayer,
): Promise<InputCall[]> {
  return Promise.all(
    effects.map(async ({ effect }) => {
      const payload = (await readValue(entry, effect, replayer)) as unknown as EffectPayload;
      const { tool, input, declared } = payload;
      const result = resultOf(payload, observed);
      return {
        tool,
        input,
        ...(result === undefined ? {} : { result }),
        ...(declared === true && { isDeclared: true }),
      };
    }),
  );
}

/**
 * The calls of a pending proposal for counselor predicates, without results. An erased call has no
 * tool, and its input is `{"$erased": hash}`.
 *
 * @throws LedgerFault for a missing blob
 */
export function readSeenCalls(
  entry: EntryPosition,
  effects: Delta['effects'],
  { values }: Replayer,
): Promise<Pick<ProposedCall, 'tool' | 'input'>[]> {
  return Promise.all(
    effects.map(async ({ effect }) => {
      const held = await values.read(entry, effect);
      if (!('value' in held)) return { tool: '', input: { $erased: held.$erased } };
      const { tool, input } = held.value as unknown as EffectPayload;
      return { tool, input };
    }),
  );
}

/** The same for a rejection, which names no effects. @throws as `readCalls` */
export async function readRefusedCalls(
  entry: EntryPosition,
  calls: Stored | undefined,
  replayer: Replayer,
): Promise<InputCall[]> {
  return calls === undefined ? [] : ((await readValue(entry, calls, replayer)) as unknown as InputCall[]);
}

function resultOf({ answer, observed: name }: EffectPayload, observed: readonly Observed[]): Json | undefined {
  if (answer !== undefined || name === undefined) return answer;
  return observed.find((each) => each.name === name)?.value as Json | undefined;
}
