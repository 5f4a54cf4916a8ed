/** The address of an entry on the page of its trajectory. */
export function entryHref({ trajectory_id, seq }: { readonly trajectory_id: string; readonly seq: number }): string {
  return `/timeline/${encodeURIComponent(trajectory_id)}/${seq}`;
}
