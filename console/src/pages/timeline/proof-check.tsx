import { useQuery } from '@tanstack/react-query';

interface ProofProps {
  /** The stored text of the entry. */
  readonly text: string;
  /** The proof file (c2sp.org/tlog-proof). */
  readonly proof: string;
  /** The public key of the log, as the server names it. */
  readonly logKey: string;
}

/** Whether a proof leads from the entry to a signed checkpoint, computed in this browser. */
export function ProofCheck({ text, proof, logKey }: ProofProps) {
  const check = useQuery({
    queryKey: ['proof-check', proof, logKey, text],
    staleTime: Number.POSITIVE_INFINITY,
    // The verifier is loaded for the first proof that is shown.
    queryFn: async () => (await import('./verify-proof.ts')).verifyProof(text, proof, logKey),
  });
  if (check.isPending) return 'computing…';
  if (check.data === undefined) return 'The verifier could not be loaded. Load the page again.';
  return check.data.fault === undefined
    ? `✓ Entry ${check.data.index} of the ${check.data.size} entries that the key signed. This browser computed it.`
    : `✕ ${check.data.fault}`;
}
