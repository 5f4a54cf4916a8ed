import { isAssizeError } from 'assize/internal/base';
import type { loadServer } from '../peers.ts';

/** Whether an error is the answer of the server, or came before anything was sent. */
export function isRefusal(
  { ProtocolError, SdkError, SdkErrorCode }: Awaited<ReturnType<typeof loadServer>>,
  error: unknown,
): boolean {
  if (isAssizeError(error, 'unreachable')) return true;
  if (SdkError.isInstance(error))
    return (
      error.code === SdkErrorCode.NotConnected || error.code === SdkErrorCode.CapabilityNotSupported
    );
  return ProtocolError.isInstance(error);
}
