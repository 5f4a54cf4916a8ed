import type { Pending, Rejection } from '../entries/payloads.ts';
import { isAttempt, isAttemptForm } from './effects.ts';

/** The rules for a rejection by itself: '' or the reason, as a sentence. */
export function wrongRejection(rejection: Rejection): string {
  if (isAttempt(rejection) && !isAttemptForm(rejection)) return 'It lists effects in another form.';
  const { resolves, reason, counselor } = rejection;
  const decides = ['counselor_rejected', 'expired', 'upgraded'].includes(reason);
  return resolves === undefined && (decides || counselor !== undefined)
    ? 'It decides nothing, and names a decision.'
    : '';
}

/** A proposal that an upgrade closed is older than that upgrade. */
export function isClosedByUpgrade(
  { reason }: Rejection,
  pending: Pending,
  upgraded: number | undefined,
): boolean {
  return reason !== 'upgraded' || (upgraded !== undefined && pending.seq < upgraded);
}
