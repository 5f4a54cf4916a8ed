import type { Approver, HeldCall } from '#calls';

/** The person whom the program names for an answer. Undefined: the answer decides nothing. */
export async function personOf<Answer, Context>(
  approver: Approver<Answer, Context> | undefined,
  { answer, held, context }: { readonly answer: Answer; readonly held: HeldCall; readonly context: Context },
): Promise<string | undefined> {
  const person: unknown = await approver?.(answer, held, context);
  return typeof person === 'string' && person !== '' ? person : undefined;
}
