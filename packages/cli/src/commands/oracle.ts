import {
  bold,
  CliError,
  EXIT,
  inSession,
  line,
  type SharedOptions,
  shortJson,
  withSharedOptions,
} from '@assize/command';
import { type Attempt, attemptsOf } from 'assize/internal/oracle';
import { shortId, shortTime } from 'assize/internal/views';
import type { Command } from 'commander';

/** Maximum number of shown characters of an answer. Ids are shown in full. */
const ANSWER_MAX = 200;

export function oracle(program: Command): void {
  withSharedOptions(
    program
      .command('oracle')
      .description('show the recorded answer of an oracle key, and its failed attempts')
      .argument('<key>', '64 hex digits, as in observations and assize memory explain'),
  )
    .addHelpText(
      'after',
      '\nFor judge votes, the log has the first 32 attempts without their content: a code and a length.\n' +
        'failed: the call threw or timed out.\n' +
        'refused: the answer was not a possible one. superseded: another answer was recorded first.\n' +
        'erased: an entry erased the attempt.',
    )
    .action(
      inSession(({ json, out, withStore }, _options: SharedOptions, given: string) =>
        withStore('readonly', async (store) => {
          const key = given.toLowerCase();
          if (!/^[0-9a-f]{64}$/.test(key))
            throw new CliError(
              'usage',
              'The oracle key must have 64 hex digits. Copy it from assize show ENTRY or assize memory explain.',
            );
          const [row, attempts] = [await store.oracleGet(key), await attemptsOf(store, key)];
          if (row === undefined && attempts.length === 0)
            throw new CliError(
              'not_found',
              `The oracle log of this store has no answer under ${key}. Check the key and --store.`,
            );
          const by = row?.erased_by;
          const answer =
            row === undefined || by !== undefined ? undefined : (JSON.parse(row.answer) as unknown);
          if (json) {
            const found = row && (by === undefined ? { answer, at: row.at } : { erased_by: by });
            out.document({ key, ...found, attempts });
          } else {
            if (row === undefined) out.line(line`not answered yet`);
            else if (by !== undefined) out.line(line`the answer was erased by ${shortId(by)}`);
            else
              out.line(
                line`answered ${shortTime(row.at)}: ${bold(shortJson(answer as never, ANSWER_MAX))}`,
              );
            if (attempts.length > 0)
              out.table(
                [{ title: 'at' }, { title: 'attempt' }, { title: 'detail' }],
                attempts.map((attempt) => [
                  shortTime(attempt.at),
                  attempt.outcome,
                  toldOf(attempt),
                ]),
              );
          }
          return EXIT.ok;
        }),
      ),
    );
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
