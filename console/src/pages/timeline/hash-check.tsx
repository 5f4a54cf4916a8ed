import { useQuery } from '@tanstack/react-query';

/** Whether an id is the hash of a stored text, computed in this browser. */
export function HashCheck({ id, text }: { readonly id: string; readonly text: string }) {
  const check = useQuery({
    queryKey: ['hash', id, text],
    staleTime: Number.POSITIVE_INFINITY,
    // Also on a page without HTTPS, where the browser's own hashes are not to be had.
    queryFn: async () => (await import('../../../verify/bytes/hash.ts')).hashOf(text) === id,
  });
  if (check.isPending) return 'computing…';
  if (check.data === undefined) return 'The verifier could not be loaded. Load the page again.';
  return check.data
    ? '✓ The id is the SHA-256 of the stored text. This browser computed it.'
    : '✕ The id is not the SHA-256 of the stored text: the entry is damaged.';
}
