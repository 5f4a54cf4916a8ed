import type { Approver, HeldCall } from '#calls';

let isWarned = false;

/**
 * The person whom the program names for an answer, and the digest of the call that the person was
 * shown. Undefined: the answer decides nothing, as for a call that waits for another one.
 */
export async function personOf<Answer, Context>(
  approver: Approver<Answer, Context> | undefined,
  {
    answer,
    held,
    context,
  }: { readonly answer: Answer; readonly held: HeldCall; readonly context: Context },
): Promise<{ readonly by: string; readonly digest: string } | undefined> {
  if (approver === undefined) warnOf(held);
  const { digest } = held;
  const by: unknown = digest === undefined ? undefined : await approver?.(answer, held, context);
  return digest !== undefined && typeof by === 'string' && by !== '' ? { by, digest } : undefined;
}

/** Once in a process: the run pauses again, and its program may not expect that. */
function warnOf({ call }: HeldCall): void {
  if (isWarned) return;
  isWarned = true;
  const text = `An answer to the call ${call} decides nothing, as the program names no person for it. Pass the option approver, or approve the call in the console or with assize approve.`;
  process.emitWarning(text, { type: 'AssizeWarning', code: 'answer_ignored' });
}
