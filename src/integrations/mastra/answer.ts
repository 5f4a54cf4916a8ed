import { arg, checkArgument, isRecord } from '#base';
import { type AssizeSuspension, readSuspension } from './pause.ts';

/** The decision of a person about a suspended call. */
export interface CallDecision {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string;
}

/** The value with which a suspended call is resumed. It names the call that it is about. */
export interface CallAnswer extends CallDecision {
  readonly assize: { readonly call: string; readonly approval: string; readonly digest: string };
}

/**
 * The answer to a suspended call, for `resumeStream`, `resumeGenerate` and `run.resume`. It names
 * the call: an answer without a name decides nothing.
 *
 * @throws ArgumentError `bad_argument`
 */
export function answerTo(suspension: AssizeSuspension, decision: CallDecision): CallAnswer {
  checkArgument(SUSPENSION, suspension, 'suspension');
  checkArgument(DECISION, decision, 'decision');
  const { call, approval, digest } = suspension.assize;
  return { ...decision, assize: { call, approval, digest } };
}

const SUSPENSION = arg.of('the payload of a call that Assize has suspended', (value) => {
  return readSuspension(value) !== undefined;
});

const DECISION = arg.options<CallDecision>({
  decision: arg.oneOf(['approve', 'reject']),
  reason: arg.optional(arg.text),
});

/** Reads an answer. Undefined: it decides nothing. */
export function readAnswer(answer: unknown): CallAnswer | undefined {
  if (!isRecord(answer) || !isRecord(answer['assize'])) return undefined;
  const { decision, reason, assize } = answer;
  const { call, approval, digest } = assize as Readonly<Record<string, unknown>>;
  if (typeof call !== 'string' || typeof approval !== 'string' || typeof digest !== 'string') return undefined;
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  const because = typeof reason === 'string' && reason.trim() !== '' ? { reason } : {};
  return { decision, ...because, assize: { call, approval, digest } };
}
