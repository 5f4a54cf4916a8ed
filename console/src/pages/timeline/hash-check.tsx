import { useQuery } from '@tanstack/react-query';

/** Whether an id is the hash of a stored text, computed in this browser. */
export function HashCheck({ id, text }: { readonly id: string; readonly text: string }) {
  const check = useQuery({
    queryKey: ['hash', id, text],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async () => (await sha256(text)) === id,
  });
  if (check.isPending) return 'computing…';
  if (check.data === undefined) return 'This browser computes hashes only over HTTPS, or from the same machine.';
  return check.data
    ? '✓ The id is the SHA-256 of the stored text. This browser computed it.'
    : '✕ The id is not the SHA-256 of the stored text: the entry is damaged.';
}

async function sha256(text: string): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
