import { arg, checkArgument, isRecord } from 'assize/internal/base';
import { type AssizeSuspension, namesCall, readSuspension } from './pause.ts';

/** The decision of a person about a suspended call. */
export interface CallDecision {
  readonly decision: 'approve' | 'reject';
  readonly reason?: string;
}

/** The value with which a suspended call is resumed. It names the call that it is about. */
export interface CallAnswer extends CallDecision {
  readonly assize: { readonly call: string; readonly approval: string; readonly digest?: string };
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
  const { reason: _reason, page: _page, ...assize } = suspension.assize;
  return { ...decision, assize };
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
  if (!isRecord(answer)) return undefined;
  const { decision, reason, assize } = answer;
  if (!namesCall(assize)) return undefined;
  if (decision !== 'approve' && decision !== 'reject') return undefined;
  const because = typeof reason === 'string' && reason.trim() !== '' ? { reason } : {};
  return { decision, ...because, assize };
}
