/** The observations of an agent, without the trace of its request: that is shown as a link. */
export function withoutTrace<T extends { readonly name: string }>(
  observations: readonly T[],
): readonly T[] {
  return observations.filter(({ name }) => name !== 'assize.traceparent');
}
