import type { Approver, HeldCall } from '#calls';

let isWarned = false;

/** The person whom the program names for an answer. Undefined: the answer decides nothing. */
export async function personOf<Answer, Context>(
  approver: Approver<Answer, Context> | undefined,
  { answer, held, context }: { readonly answer: Answer; readonly held: HeldCall; readonly context: Context },
): Promise<string | undefined> {
  if (approver === undefined) warnOf(held);
  const person: unknown = await approver?.(answer, held, context);
  return typeof person === 'string' && person !== '' ? person : undefined;
}

/** Once in a process: the run pauses again, and its program may not expect that. */
function warnOf({ call }: HeldCall): void {
  if (isWarned) return;
  isWarned = true;
  const text = `An answer to the call ${call} decides nothing, as the program names no person for it. Pass the option approver, or approve the call in the console or with assize approve.`;
  process.emitWarning(text, { type: 'AssizeWarning', code: 'answer_ignored' });
}
