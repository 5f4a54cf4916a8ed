import type { ChatAnswer } from '@assize/agents/internal/models';
import { isInstance, isRecord } from 'assize/internal/base';
import { CanonError, parseStrict } from 'assize/internal/canon';
import { onlyObject } from 'assize/internal/oracle';
import type { Verdict } from '../parts.ts';

/** The longest reason of a judge that is kept. */
const REASON_MAX = 500;
const NO_REASON = 'the judge gave no reason';

/**
 * The verdict of an answer: exactly one JSON object with `verdict`, and perhaps `reason`, whatever
 * is around it. Any other answer rejects, as unreadable.
 */
export function readVerdict({ text, stop }: ChatAnswer): Verdict {
  if (stop === 'length') return unreadable('the answer is cut at the token limit');
  if (stop === 'filter') return unreadable('the model or a filter declined to answer');
  const said = objectIn(text);
  if (said === undefined) return unreadable('the answer is not one JSON object');
  const { verdict, reason, ...others } = said;
  if (Object.keys(others).length > 0)
    return unreadable('the answer has other members than verdict and reason');
  if (reason !== undefined && typeof reason !== 'string')
    return unreadable('the reason of the answer is not a text');
  if (verdict === 'approve') return { verdict };
  if (verdict !== 'reject' && verdict !== 'escalate')
    return unreadable('the verdict of the answer is not approve, reject or escalate');
  return { verdict, reason: reason === undefined || reason === '' ? NO_REASON : shortened(reason) };
}

function objectIn(text: string): Readonly<Record<string, unknown>> | undefined {
  const only = onlyObject(text);
  if (only === undefined) return undefined;
  try {
    const said = parseStrict(only);
    return isRecord(said) ? (said as Readonly<Record<string, unknown>>) : undefined;
  } catch (error) {
    if (isInstance(error, CanonError)) return undefined;
    throw error;
  }
}

function unreadable(reason: string): Verdict {
  return { verdict: 'reject', reason, unreadable: true };
}

function shortened(reason: string): string {
  return reason.length > REASON_MAX
    ? `${reason.slice(0, REASON_MAX).toWellFormed()}…`
    : reason.toWellFormed();
}
