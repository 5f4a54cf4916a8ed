/** The result of a call for the model, while the conversation goes on and the call still waits. */
export function waitsText(reason: string): string {
  return `The call is not made yet: it waits for a person (${reason}). Do not repeat it. Its result will stand here.`;
}
