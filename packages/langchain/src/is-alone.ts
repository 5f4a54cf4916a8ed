/** Whether a call is the only one of the model's message that asks for it. */
export function isAloneIn(messages: unknown, id: string | undefined): boolean {
  if (!Array.isArray(messages)) return false;
  const asked = messages
    .map((message) => (message as { readonly tool_calls?: unknown } | null)?.tool_calls)
    .findLast((calls) => Array.isArray(calls) && calls.some((call) => call.id === id));
  return Array.isArray(asked) && asked.length === 1;
}
