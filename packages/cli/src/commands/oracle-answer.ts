import { bold, line, type Session, shortJson } from '@assize/command';
import { type Attempt, attemptsOf } from 'assize/internal/oracle';
import type { Store } from 'assize/internal/stores';
import { shortId, shortTime } from 'assize/internal/views';

/** Maximum number of shown characters of an answer. Ids are shown in full. */
const ANSWER_MAX = 200;

/**
 * Prints the recorded answer of an oracle key, and its failed attempts. False: the oracle log has
 * no such key.
 */
export async function printAnswerOf(
  { json, out }: Session,
  store: Store,
  named: string,
): Promise<boolean> {
  const key = named.toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(key)) return false;
  const [row, attempts] = [await store.oracleGet(key), await attemptsOf(store, key)];
  if (row === undefined && attempts.length === 0) return false;
  const by = row?.erased_by;
  const answer =
    row === undefined || by !== undefined ? undefined : (JSON.parse(row.answer) as unknown);
  if (json) {
    const found = row && (by === undefined ? { answer, at: row.at } : { erased_by: by });
    out.document({ key, ...found, attempts });
    return true;
  }
  if (row === undefined) out.line(line`not answered yet`);
  else if (by !== undefined) out.line(line`the answer was erased by ${shortId(by)}`);
  else
    out.line(line`answered ${shortTime(row.at)}: ${bold(shortJson(answer as never, ANSWER_MAX))}`);
  if (attempts.length > 0)
    out.table(
      [{ title: 'at' }, { title: 'attempt' }, { title: 'detail' }],
      attempts.map((attempt) => [shortTime(attempt.at), attempt.outcome, toldOf(attempt)]),
    );
  return true;
}

function toldOf({ answer, length, error }: Attempt): string {
  const given =
    answer === undefined
      ? length === undefined
        ? []
        : [`${length} characters`]
      : [shortJson(answer)];
  if (error === undefined) return given.join();
  const {
    code = 'an error',
    message = error.length === undefined ? '' : `a message of ${error.length} characters`,
  } = error;
  return [...given, code, message].filter((part) => part !== '').join(': ');
}
